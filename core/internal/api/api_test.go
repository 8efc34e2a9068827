package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// scripted is the API over HTTP with an acquirer that the test controls. Every response is checked
// against the contract.
type scripted struct {
	*coretest.Service
	url    string
	client *http.Client
	body   string // of a payment by serve
}

func setupScripted(t *testing.T) *scripted {
	t.Helper()
	s := coretest.Open(t)
	server := httptest.NewServer(s.API)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(func() { transport.CloseIdleConnections(); server.Close() })
	client := &http.Client{Transport: coretest.NewContract(t, transport)}
	return &scripted{s, server.URL, client, `{"amount":1,"currency":"usd","payment_method":"card"}`}
}

// post sends a body under an idempotency key and returns the status, the body and the header of the
// response.
func (b *scripted) post(t *testing.T, path, body, key string) (int, []byte, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + b.Key}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	resp, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, got, resp.Header
}

// TestPanicInAHandler: the response is an error of the contract, and recovery claims the committed
// intent. The secrets of the request, which the panic's value has, appear nowhere.
func TestPanicInAHandler(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	const number, cvc = "4539578763621486", "735"
	body := `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"` + number + `","exp_month":12,"exp_year":2030,"cvc":"` + cvc + `"}}`
	b.Acquirer.After = func(context.Context, coretest.Call) error {
		panic(fmt.Sprint("card ", number, " cvc ", cvc, " key ", b.Key))
	}
	status, got, header := b.post(t, "/v1/transactions", body, "k")
	var e v1.ErrorBody
	if err := json.Unmarshal(got, &e); err != nil || status != 500 || e.Error.Code != "internal_error" || e.Error.RequestID != header.Get("Request-Id") {
		t.Fatalf("got %d %s, %v", status, got, err)
	}
	if !strings.Contains(b.Log.String(), `"msg":"panic"`) {
		t.Error("the panic was not logged")
	}
	b.Acquirer.After = nil
	if open := b.Recover(t); open != 0 {
		t.Fatalf("%d stay open", open)
	}
	status, again, header := b.post(t, "/v1/transactions", body, "k")
	if status != 201 || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same request after recovery: got %d %s", status, again)
	}
	if got, want := b.Acquirer.Moved(coretest.Authorize), int64(100); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	places := b.Files(t)
	places["the log"], places["the responses"] = []byte(b.Log.String()), append(got, again...)
	for place, text := range places {
		for _, secret := range []string{number, number[:15], `"` + cvc + `"`, "cvc " + cvc, b.Key[10:]} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s: found %q", place, secret)
			}
		}
	}
}

// TestHangingPaymentsStopNoOther: the payments of one test key hang at the acquirer. They hold only
// a share of the slots, so another merchant is served. A refused payment keeps no idempotency key.
func TestHangingPaymentsStopNoOther(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	h := b.hang()
	held, w := h.fill(t, b.Key)
	if want := 64; held != want { // a third of the three quarters of 256 slots that test mode may hold
		t.Errorf("payments under way: got %d, want %d", held, want)
	}
	if w.Code != 429 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), `"rate_limited"`) {
		t.Errorf("a payment beyond the share: got %d %v %s", w.Code, w.Header(), w.Body)
	}
	if !strings.Contains(b.Log.String(), `"outcome":"too_many_requests"`) {
		t.Error("the refusal is not logged as too_many_requests")
	}
	if got, want := b.serve(t, http.MethodGet, b.Key, "").Code, 429; got != want {
		t.Errorf("a read of the same merchant: got %d, want %d", got, want)
	}
	if other, _ := h.fill(t, b.mustKey(t, payment.Tenant{Merchant: b.mustMerchant(t)})); other == 0 {
		t.Error("no payment of another merchant is served")
	}
	h.end(t)
	if w := b.serve(t, http.MethodPost, b.Key, strconv.Itoa(held)); w.Code != 201 || w.Header().Get("Idempotent-Replayed") != "" {
		t.Errorf("the refused payment again: got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// TestHangingTestModeStopsNoLiveMode: so many payments of merchants in test mode hang that no more
// are served. Live keys are still served.
func TestHangingTestModeStopsNoLiveMode(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	h := b.hang()
	sum := 0
	for {
		held, w := h.fill(t, b.mustKey(t, payment.Tenant{Merchant: b.mustMerchant(t)}))
		if sum += held; held == 0 {
			if w.Code != 503 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), `"overloaded"`) {
				t.Errorf("a payment of one merchant more: got %d %v %s", w.Code, w.Header(), w.Body)
			}
			break
		}
	}
	if want := 192; sum != want {
		t.Errorf("payments under way: got %d, want %d", sum, want)
	}
	live := b.mustKey(t, payment.Tenant{Merchant: b.Tenant.Merchant, Live: true})
	if w := b.serve(t, http.MethodGet, live, ""); w.Code != 200 {
		t.Errorf("a live read: got %d %s", w.Code, w.Body)
	}
	h.end(t)
}

// TestMemoryOfPayments: the largest payments of one merchant hang at the acquirer. They use only a
// part of the memory, so another merchant is served.
func TestMemoryOfPayments(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	item := `{"name":"a","quantity":"1","unit_price":"1","description":"` + strings.Repeat(",", 1000) + `"}`
	b.body = `{"amount":1,"currency":"usd","payment_method":"card","order":{"line_items":[` + item +
		strings.Repeat(","+item, 99) + `]}}`
	h := b.hang()
	held, w := h.fill(t, b.Key)
	if held < 20 || held > 40 || w.Code != 429 { // 48 MiB of 1.5 MiB each
		t.Errorf("payments under way: got %d and then %d, want about 30 and 429", held, w.Code)
	}
	if other, _ := h.fill(t, b.mustKey(t, payment.Tenant{Merchant: b.mustMerchant(t)})); other == 0 {
		t.Error("no payment of another merchant is served")
	}
	h.end(t)
}

// hanging is payments that wait for the acquirer.
type hanging struct {
	*scripted

	inside, free chan struct{}
	done         chan *httptest.ResponseRecorder
	count        int
}

// hang makes payments wait for the acquirer until end.
func (b *scripted) hang() *hanging {
	h := &hanging{b, make(chan struct{}), make(chan struct{}), make(chan *httptest.ResponseRecorder), 0}
	b.Acquirer.Before = func(context.Context, coretest.Call) error { h.inside <- struct{}{}; <-h.free; return nil }
	return h
}

// fill makes payments with a key, under the idempotency keys 0, 1 and so on, until one is refused.
// It returns how many hang, and the refusal.
func (h *hanging) fill(t *testing.T, key string) (held int, refused *httptest.ResponseRecorder) {
	t.Helper()
	for ; ; held++ {
		go func() { h.done <- h.serve(t, http.MethodPost, key, strconv.Itoa(held)) }()
		select {
		case <-h.inside:
			h.count++
		case refused = <-h.done:
			return held, refused
		}
	}
}

// end lets the payments continue, and checks that each succeeds.
func (h *hanging) end(t *testing.T) {
	t.Helper()
	close(h.free)
	for range h.count {
		if w := <-h.done; w.Code != 201 {
			t.Errorf("a payment that was under way: got %d %s", w.Code, w.Body)
		}
	}
	h.Acquirer.Before = nil
}

// serve requests the list of payments, or a payment under an idempotency key.
func (b *scripted) serve(t *testing.T, method, key, idempotencyKey string) *httptest.ResponseRecorder {
	t.Helper()
	body := ""
	if method == http.MethodPost {
		body = b.body
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, "/v1/transactions", strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	if idempotencyKey != "" {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	b.API.ServeHTTP(w, r)
	return w
}

// mustMerchant creates another merchant and returns its id.
func (b *scripted) mustMerchant(t *testing.T) int64 {
	t.Helper()
	n := b.IDs.Next()
	if err := b.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(n, "other") }); err != nil {
		t.Fatal(err)
	}
	return n
}

// mustKey creates a secret key.
func (b *scripted) mustKey(t *testing.T, of payment.Tenant) string {
	t.Helper()
	return b.MustKey(t, auth.KeySpec{Merchant: of.Merchant, Live: of.Live, Kind: apikey.Secret})
}

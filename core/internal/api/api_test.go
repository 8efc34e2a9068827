package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// scripted is the API on an acquirer under orders, over HTTP and held to the contract.
type scripted struct {
	*coretest.Service
	url    string
	client *http.Client
}

func setupScripted(t *testing.T) *scripted {
	t.Helper()
	s := coretest.Open(t)
	server := httptest.NewServer(s.API)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(func() { transport.CloseIdleConnections(); server.Close() })
	return &scripted{s, server.URL, &http.Client{Transport: coretest.NewContract(t, transport)}}
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
		t.Errorf("the same request after reconciling: got %d %s", status, again)
	}
	if got, want := b.Acquirer.Moved(coretest.Authorize), int64(100); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	places := b.Files(t)
	places["the log"], places["the answers"] = []byte(b.Log.String()), append(got, again...)
	for place, text := range places {
		for _, secret := range []string{number, number[:15], `"` + cvc + `"`, "cvc " + cvc, b.Key[10:]} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s: found %q", place, secret)
			}
		}
	}
}

// TestOverload: a request above the limit gets the refusal to come back, and the rest is served.
func TestOverload(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	const limit = 64 // of coretest
	inside, free := make(chan struct{}, limit), make(chan struct{})
	b.Acquirer.Before = func(context.Context, coretest.Call) error { inside <- struct{}{}; <-free; return nil }
	body := `{"amount":1,"currency":"usd","payment_method":"card"}`
	done := make(chan int, limit)
	for i := range limit {
		go func() {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/transactions", strings.NewReader(body))
			r.Header = http.Header{"Authorization": {"Bearer " + b.Key}, "Content-Type": {"application/json"}, "Idempotency-Key": {fmt.Sprint(i)}}
			b.API.ServeHTTP(w, r)
			done <- w.Code
		}()
	}
	for range limit {
		<-inside
	}
	status, got, header := b.post(t, "/v1/transactions", body, "late")
	if status != 503 || header.Get("Retry-After") == "" || !bytes.Contains(got, []byte(`"overloaded"`)) {
		t.Errorf("got %d %v %s", status, header, got)
	}
	close(free)
	for range limit {
		if got, want := <-done, 201; got != want {
			t.Errorf("a request within the limit: got %d, want %d", got, want)
		}
	}
	if got, want := b.Number(t, "SELECT COUNT(*) FROM transactions"), int64(limit); got != want {
		t.Errorf("transactions: got %d, want %d", got, want)
	}
}

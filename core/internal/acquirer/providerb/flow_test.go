package providerb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// scripted is a connector to a host that sends responses by path. It fails the test if it gets a
// request to another path.
type scripted struct {
	*providerb.Connector

	clock     *clock.Fake
	config    providerb.Config
	mu        sync.Mutex
	responses script   // by path: the status, a space and the body; "" breaks the connection
	received  []string // paths
	bodies    []string
}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{clock: clock.NewFake(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)), responses: script{}}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.received, s.bodies = append(s.received, r.URL.Path), append(s.bodies, string(body))
		response, ok := s.responses[r.URL.Path]
		if !ok {
			t.Errorf("unexpected request to %s", r.URL.Path)
		}
		var status int
		if n, _ := fmt.Sscanf(response, "%d", &status); n == 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("V-C-Correlation-Id", "the host's")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, response[4:])
	}))
	t.Cleanup(host.Close)
	client, err := upstream.New(upstream.Config{BaseURL: host.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s.config = providerb.Config{
		MerchantID: "m", KeyID: "k", SharedSecret: secret.New("c2VjcmV0"), Upstream: client, Clock: s.clock,
		Missing: acquirertest.NewMissing(s.clock),
	}
	s.reopen(t)
	return s
}

// reopen makes another connector with the same configuration, as a restart does.
func (s *scripted) reopen(t *testing.T) {
	t.Helper()
	var err error
	if s.Connector, err = providerb.New(s.config); err != nil {
		t.Fatal(err)
	}
}

// respond sets the responses.
func (s *scripted) respond(to script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses = to
}

// sent returns the bodies that were received since the last call of paths.
func (s *scripted) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.bodies, "\n")
}

// paths returns the paths that were received since the last call.
func (s *scripted) paths() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := strings.Join(s.received, " ")
	s.received, s.bodies = nil, nil
	return out
}

const (
	reversed   = `201 {"id":"9","status":"REVERSED"}`
	voided     = `201 {"id":"8","status":"VOIDED"}`
	noMatch    = `400 {"status":"INVALID_REQUEST","reason":"INVALID_DATA"}`
	serverLost = `502 {"status":"SERVER_ERROR","reason":"SERVER_TIMEOUT"}`
)

var (
	eitherWay      = refusal("TRANSACTION_ALREADY_REVERSED_OR_SETTLED")
	settled        = refusal("TRANSACTION_ALREADY_SETTLED")
	reversedBefore = refusal("AUTH_ALREADY_REVERSED")
	voidedBefore   = refusal("CAPTURE_ALREADY_VOIDED")
	notVoidable    = refusal("NOT_VOIDABLE")
	noAuth         = refusal("MISSING_AUTH")
)

func refusal(reason string) string {
	return `400 {"status":"INVALID_REQUEST","reason":"` + reason + `"}`
}

func result(r acquirer.Response, err error) string {
	switch {
	case err == nil && r.Released:
		return "released"
	}
	return acquirer.Outcome(r, err)
}

// TestHeld: an approval that the provider's rules hold is released, and is then declined. Without
// the release, the payment is unknown.
func TestHeld(t *testing.T) {
	t.Parallel()
	for status, sale := range map[string]bool{
		"AUTHORIZED_RISK_DECLINED": false, "AUTHORIZED_PENDING_REVIEW": true,
	} {
		for response, want := range map[string]string{
			reversed: "declined", reversedBefore: "declined", settled: "unknown",
			"": "unknown", serverLost: "unknown",
		} {
			s := newScripted(t)
			s.respond(script{
				"/pts/v2/payments":             `201 {"id":"1","status":"` + status + `"}`,
				"/pts/v2/payments/1/reversals": response,
			})
			got, err := s.Authorize(t.Context(), payment(1000, sale))
			if result(got, err) != want || want == "declined" && got.DeclineCode != "suspected_fraud" {
				t.Errorf("%s, %s: got %+v and %v, want %s", status, response, got, err, want)
			}
		}
	}
}

// TestChangedReference: the provider may write characters of the merchant's reference in another
// way. The transactionId still names the request.
func TestChangedReference(t *testing.T) {
	t.Parallel()
	r := payment(1000, true)
	r.Order.Reference = "Grüße 1"
	for name, want := range map[string]string{providerb.TransactionID(r.Reference): "approved", "another": "unknown"} {
		s := newScripted(t)
		s.respond(script{"/pts/v2/payments": `201 {"id":"1","status":"AUTHORIZED","clientReferenceInformation":` +
			`{"code":"Gr??e 1","transactionId":"` + name + `"},"orderInformation":{"amountDetails":` +
			`{"authorizedAmount":"10.00","currency":"USD"}}}`})
		if got, err := s.Authorize(t.Context(), r); result(got, err) != want {
			t.Errorf("%s: got %+v and %v, want %s", name, got, err, want)
		}
	}
}

// located gives each step of the conformance test the id and the tag, as the engine does.
type located struct{ *scripted }

func (l located) with(r acquirer.Follow) acquirer.Follow {
	r.Original.ID, r.Original.Tag = "1", "2026-11-30T11:00:00Z"
	return r
}

func (l located) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return l.scripted.Capture(ctx, l.with(r))
}

func (l located) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return l.scripted.Void(ctx, l.with(r))
}

func (l located) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return l.scripted.Refund(ctx, l.with(r))
}

// TestMisreports: however the host fails, no request that it has received counts as not sent.
func TestMisreports(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"broken connection": "", "time-out": serverLost, "gateway": "503 <html>", "no JSON": "201 ok", "empty": "201 {}",
		"refused duplicate": refusal("DUPLICATE_REQUEST"), "gateway's refusal": "401 {}", "forbidden": "403 {}",
	} {
		s, responses := newScripted(t), script{}
		for _, path := range []string{
			"/pts/v2/payments", "/pts/v2/credits", "/pts/v2/payments/1/captures", "/pts/v2/payments/1/reversals",
			"/pts/v2/payments/1/refunds",
		} {
			responses[path] = response
		}
		s.respond(responses)
		received := 0
		for _, text := range acquirertest.Misreports(t.Context(), acquirertest.Subject{
			Acquirer: located{s},
			Received: func(reference string) bool {
				received++
				return strings.Contains(s.sent(), providerb.TransactionID(reference))
			},
		}) {
			t.Errorf("%s: %s", name, text)
		}
		if got := len(strings.Fields(s.paths())); received > 0 || got != 5 {
			t.Errorf("%s: %d requests, of which %d count as not sent, want 5 and none", name, got, received)
		}
	}
}

// TestNew: a wrong setting is an error that names it, without the secret.
func TestNew(t *testing.T) {
	t.Parallel()
	client, err := upstream.New(upstream.Config{BaseURL: "https://api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	good := providerb.Config{
		MerchantID: "m", KeyID: "k", SharedSecret: secret.New("c2VjcmV0"), Upstream: client,
		Missing: acquirertest.NewMissing(clock.System()),
	}
	c, err := providerb.New(good)
	if text := fmt.Sprintf("%+v", *c); err != nil || strings.Contains(text, "115 101 99 114 101 116") {
		t.Errorf("the connector prints its key, %v: %s", err, text)
	}
	for want, change := range map[string]func(*providerb.Config){
		"":               func(*providerb.Config) {},
		"host":           func(c *providerb.Config) { c.Upstream = nil },
		"merchant id":    func(c *providerb.Config) { c.MerchantID = "m\r\nx: y" },
		"key id":         func(c *providerb.Config) { c.KeyID = "" },
		"shared secret":  func(c *providerb.Config) { c.SharedSecret = secret.New("not base64!") },
		"authentication": func(c *providerb.Config) { c.Auth = "password" },
		"settle":         func(c *providerb.Config) { c.SettleUnknownAfter = time.Second },
	} {
		cfg := good
		change(&cfg)
		_, err := providerb.New(cfg)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", want, err)
		}
		if err != nil && (errors.Is(err, acquirer.ErrUnknown) || strings.Contains(err.Error(), "base64!")) {
			t.Errorf("%q: the error has the secret: %v", want, err)
		}
	}
}

// TestCaptureNumbers: a capture is numbered after the captures that stand. Its total announces one
// more, unless it is the last one. A number that the provider does not have is declined and never
// sent, whichever attempt it is.
func TestCaptureNumbers(t *testing.T) {
	t.Parallel()
	const path, taken = "/pts/v2/payments/1/captures", `201 {"id":"2","status":"PENDING"}`
	for _, c := range []struct {
		standing int
		final    bool
		want     string // "" for a decline
	}{
		{0, false, `"captureSequenceNumber":1,"totalCaptureCount":2}`},
		{0, true, `"captureOptions":{"isFinal":"true"}`},
		{1, false, `"captureSequenceNumber":2,"totalCaptureCount":3}`},
		{1, true, `"captureSequenceNumber":2,"totalCaptureCount":2,"isFinal":"true"}`},
		{97, false, `"captureSequenceNumber":98,"totalCaptureCount":99}`},
		{98, false, ""},
		{98, true, `"captureSequenceNumber":99,"totalCaptureCount":99,"isFinal":"true"}`},
		{99, false, ""},
		{99, true, ""},
	} {
		s := newScripted(t)
		s.respond(script{path: taken})
		r := acquirer.Follow{
			Reference: "step", Amount: 100, Currency: "usd", Final: c.final,
			Original: acquirer.Sent{Kind: acquirer.Authorization, ID: "1", Amount: 10000, Currency: "usd"},
			Captures: make([]acquirer.Sent, c.standing),
		}
		for _, again := range []bool{false, true} {
			if r.Again = again; again && c.want != "" {
				continue // it is undone
			}
			got, err := s.Capture(t.Context(), r)
			body, paths := s.sent(), s.paths()
			fits := got.Approved == (c.want != "") && (paths == path) == got.Approved
			if err != nil || !fits || !strings.Contains(body, c.want) {
				t.Errorf("after %d, final %t, again %t: got %+v, %v and sent %s, want %s",
					c.standing, c.final, again, got, err, body, c.want)
			}
		}
	}
}

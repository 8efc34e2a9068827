package providerb_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestOwnCorrelationIDs: a host can give its own correlation ids.
func TestOwnCorrelationIDs(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	s.respond(script{"/pts/v2/payments": `201 {"id":"7000000000000000000001","status":"AUTHORIZED",` +
		`"orderInformation":{"amountDetails":{"authorizedAmount":"10.00","currency":"USD"}}}`})
	for range 2 {
		if a, err := s.Authorize(t.Context(), payment(1000, false)); err != nil || !a.Approved {
			t.Errorf("got approved %t, %v", a.Approved, err)
		}
	}
}

// TestLateDuplicate: the response to an earlier request arrives a second time on a kept connection,
// after the next request. It is not the outcome of that one.
func TestLateDuplicate(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]struct {
		status int
		body   string
	}{
		"refusal": {400, `{"submitTimeUtc":"2026-01-01T00:00:00Z","status":"INVALID_REQUEST",` +
			`"reason":"INVALID_DATA","message":"x"}`},
		"approval": {201, `{"id":"7000000000000000000001","status":"AUTHORIZED",` +
			`"clientReferenceInformation":{"code":"subscription"},` +
			`"orderInformation":{"amountDetails":{"authorizedAmount":"10.00","currency":"USD"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var id atomic.Pointer[string] // of the first request
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				const correlation = "V-C-Correlation-Id"
				given := r.Header.Get(correlation)
				id.CompareAndSwap(nil, &given)
				w.Header().Set(correlation, *id.Load())
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(first.status)
				_, _ = w.Write([]byte(first.body))
			}))
			t.Cleanup(server.Close)
			host, err := upstream.New(upstream.Config{BaseURL: server.URL, Connections: 1})
			if err != nil {
				t.Fatal(err)
			}
			c, err := providerb.New(providerb.Config{
				MerchantID: "shop", KeyID: "id", SharedSecret: secret.New("c2VjcmV0"), Upstream: host,
				Missing: acquirertest.NewMissing(clock.System()),
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []error{nil, acquirer.ErrUnknown} {
				r := payment(1000, false)
				r.Order.Reference = "subscription"
				if a, err := c.Authorize(t.Context(), r); !errors.Is(err, want) {
					t.Errorf("got approved %t, %v, want %v", a.Approved, err, want)
				}
			}
		})
	}
}

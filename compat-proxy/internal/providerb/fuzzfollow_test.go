package providerb_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// willing is a v1 that does everything, to a payment of 102.21, and finds every number.
type willing struct{ content }

// Execute implements dialect.Executor.
func (w willing) Execute(ctx context.Context, key secret.String, do command.Command) command.Result {
	paid := &v1.Transaction{
		ID: id.Format(id.Transaction, 1), Status: v1.TransactionStatusVoided, Currency: "usd", Amount: 10221,
		AmountAuthorized: 10221, Capture: v1.CaptureModeAutomatic,
	}
	r := command.Result{Outcome: command.Done, Status: http.StatusOK, Transaction: paid}
	c := do
	if named, ok := c.(command.Named); ok {
		c = named.Command
	}
	switch c.(type) {
	case command.Capture:
		r.Capture = &v1.Capture{ID: id.Format(id.Capture, 2), Transaction: paid.ID, Amount: 1, Currency: "usd"}
	case command.Refund, command.Credit:
		r.Refund = &v1.Refund{
			ID: id.Format(id.Refund, 3), Transaction: paid.ID, Amount: 1, Currency: "usd",
			Status: v1.RefundStatusSucceeded,
		}
	case command.Reverse, command.CancelCapture, command.Get:
	default:
		return w.content.Execute(ctx, key, do)
	}
	return r
}

// FuzzFollow requires a response of a known form to every follow-up request, with any body and
// path.
func FuzzFollow(f *testing.F) {
	requests, err := filepath.Glob("testdata/*/request.json")
	if err != nil || len(requests) == 0 {
		f.Fatalf("got %d requests, error %v", len(requests), err)
	}
	paths := []string{
		"payments/{id}/captures", "payments/{id}/reversals", "payments/{id}/refunds", "captures/{id}/refunds",
		"payments/{id}/voids",
		"captures/{id}/voids", "refunds/{id}/voids", "credits/{id}/voids", "reversals", "voids", "credits",
	}
	for i, path := range requests {
		f.Add(byte(i%len(paths)), "7345678901236", goldentest.MustRead(f, path))
	}
	f.Add(byte(0), "0000007345678901236901", []byte(`{}`))
	h := mustHandler(f, willing{})
	f.Fuzz(func(t *testing.T, at byte, number string, body []byte) {
		if number == "" || strings.Trim(number, "0123456789abcdef_-") != "" {
			return // one path segment; the server decodes escapes
		}
		path := "/pts/v2/" + strings.ReplaceAll(paths[int(at)%len(paths)], "{id}", number)
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
		h.ServeHTTP(w, r)
		if w.Code != http.StatusCreated && w.Code != http.StatusBadRequest {
			t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
		}
		checkShape(t, w.Body.Bytes())
		details := httptest.NewRecorder()
		r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/tss/v2/transactions/"+number, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
		h.ServeHTTP(details, r)
		if details.Code != http.StatusOK && details.Code != http.StatusNotFound {
			t.Fatalf("transaction details: status %d: %s", details.Code, details.Body)
		}
	})
}

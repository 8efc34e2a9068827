package bare_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/bench/bare"
)

const filledPayments = 400

// filledFolder returns the data folder of a core that has made one payment, with more of the like in it, and the core's key.
func filledFolder(t *testing.T) (dir, key string) {
	t.Helper()
	dir = t.TempDir()
	key, template := onePayment(t, dir)
	err := bare.Fill(t.Context(), filepath.Join(dir, "causeway.db"), template, bare.Filling{
		Payments: filledPayments, Merchants: 4, Span: 30 * 24 * time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, key
}

// onePayment makes a merchant, its key and one payment in a new core on dir, and closes it.
func onePayment(t *testing.T, dir string) (key string, template *bare.Template) {
	t.Helper()
	c, err := core.Open(t.Context(), core.Config{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	merchant, err := c.CreateMerchant(t.Context(), "bench")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := c.CreateKey(t.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "causeway.db")
	before, err := bare.Look(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if w := ask(t, c, secret.Reveal(), http.MethodPost, "/v1/transactions", body); w.Code != http.StatusCreated {
		t.Fatalf("pay: %d %s", w.Code, w.Body)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if template, err = bare.Learn(t.Context(), path, before); err != nil {
		t.Fatal(err)
	}
	return secret.Reveal(), template
}

func ask(t *testing.T, c *core.Core, key, method, path, content string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(content))
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPost {
		r.Header.Set("Idempotency-Key", "0123456789abcdef0123456789abcdef")
	}
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, r)
	return w
}

func count(t *testing.T, dir, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "causeway.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only read
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestFillMakesWholePaymentsOfSeveralMerchants(t *testing.T) {
	t.Parallel()
	dir, _ := filledFolder(t)
	const all = filledPayments + 1 // with the one that the core made
	for query, want := range map[string]int{
		`SELECT COUNT(*) FROM transactions t JOIN captures c ON c.transaction_id = t.id AND c.merchant_id = t.merchant_id
			AND c.amount = t.amount_captured JOIN events e ON e.object_id = t.id AND e.merchant_id = t.merchant_id`: all,
		`SELECT COUNT(DISTINCT key) FROM idempotency_keys`:                                      all,
		`SELECT COUNT(DISTINCT merchant_id) FROM transactions`:                                  4,
		`SELECT COUNT(*) FROM transactions WHERE amount_settled > 0 AND id >> 21 <> created_at`: 0,
		`SELECT COUNT(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`:             0,
		`SELECT COUNT(*) FROM pragma_foreign_key_check`:                                         0,
		`SELECT (MAX(created_at) - MIN(created_at)) / 86400000 FROM transactions`:               30,
		`SELECT COUNT(*) FROM captures WHERE settled = 0`:                                       1,
		`SELECT COUNT(*) FROM idempotency_keys WHERE expires_at - created_at < 364 * 86400000`:  1,
	} {
		if got := count(t, dir, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

func TestServiceReadsWhatWasFilled(t *testing.T) {
	t.Parallel()
	dir, key := filledFolder(t)
	ids, err := bare.Sample(t.Context(), filepath.Join(dir, "causeway.db"), 64)
	if err != nil {
		t.Fatal(err)
	}
	c, err := core.Open(t.Context(), core.Config{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	different := map[string]bool{}
	for _, id := range ids {
		different[id] = true
		w := ask(t, c, key, http.MethodGet, "/v1/transactions/txn_"+id, "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"status":"captured"`) {
			t.Fatalf("%s: got %d: %s", id, w.Code, w.Body)
		}
	}
	if len(different) < len(ids)/2 {
		t.Errorf("got %d different transactions of %d", len(different), len(ids))
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSchemaNamesTheSchema(t *testing.T) {
	t.Parallel()
	first, again := learned(t), learned(t)
	if got, want := again.Schema(), first.Schema(); got != want {
		t.Errorf("the same schema: got %s, want %s", got, want)
	}
	if other := learned(t, `CREATE INDEX events_by_type ON events (type)`); other.Schema() == first.Schema() {
		t.Errorf("another index has the same name %s", first.Schema())
	}
}

func TestFillStopsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, template := onePayment(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := bare.Fill(ctx, filepath.Join(dir, "causeway.db"), template, bare.Filling{Payments: 10, Merchants: 1, Span: time.Hour})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

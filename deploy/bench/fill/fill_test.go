package fill_test

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

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/bench/fill"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const copies = 400

const body = `{"amount":2000,"currency":"usd","payment_method":"card",` +
	`"card":{"number":"4111111111111111","exp_month":12,"exp_year":2042,"cvc":"900"},"reference":"order-1001",` +
	`"capture":"automatic"}`

// filled returns the data folder of a core with one payment and copies of it, and the key of the
// core.
func filled(t *testing.T) (dir, key string) {
	t.Helper()
	dir = t.TempDir()
	key = onePayment(t, dir)
	err := fill.SQLite(t.Context(), filepath.Join(dir, "causeway.db"), fill.Copies{
		Count: copies, Merchants: 4, Span: 30 * 24 * time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, key
}

// onePayment makes a merchant, its key and one payment in a new core on dir, and closes the core.
func onePayment(t *testing.T, dir string) (key string) {
	t.Helper()
	c := open(t, dir)
	merchant, err := c.Admin().CreateMerchant(t.Context(), "bench")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := c.Admin().CreateKey(t.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if w := send(t, c, secret.Reveal(), http.MethodPost, "/v1/transactions", body); w.Code != http.StatusCreated {
		t.Fatalf("pay: %d %s", w.Code, w.Body)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}

func open(t *testing.T, dir string) *core.Core {
	t.Helper()
	c, err := core.Open(t.Context(), core.Config{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t *testing.T, c *core.Core, key, method, path, content string) *httptest.ResponseRecorder {
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

func TestSQLiteMakesWholePaymentsOfSeveralMerchants(t *testing.T) {
	t.Parallel()
	dir, _ := filled(t)
	const all = copies + 1 // with the one that core made
	for query, want := range map[string]int{
		`SELECT COUNT(*) FROM transactions t JOIN captures c ON c.transaction_id = t.id AND c.merchant_id = t.merchant_id
			AND c.amount = t.amount_captured JOIN events e ON e.object_id = t.id AND e.merchant_id = t.merchant_id
			JOIN transaction_terms f ON f.transaction_id = t.id`: all,
		`SELECT COUNT(DISTINCT key) FROM idempotency_keys`:                                      all,
		`SELECT COUNT(DISTINCT merchant_id) FROM transactions`:                                  4,
		`SELECT COUNT(*) FROM transactions WHERE amount_settled > 0 AND id >> 21 <> created_at`: 0,
		`SELECT COUNT(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`:             0,
		`SELECT COUNT(*) FROM pragma_foreign_key_check`:                                         0,
		`SELECT (MAX(created_at) - MIN(created_at)) / 86400000 FROM transactions`:               29,
		`SELECT COUNT(*) FROM captures WHERE settled = 0`:                                       1,
		`SELECT COUNT(*) FROM idempotency_keys WHERE expires_at - created_at < 364 * 86400000`:  1,
	} {
		if got := count(t, dir, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

func TestCoreReadsTheCopies(t *testing.T) {
	t.Parallel()
	dir, key := filled(t)
	c := open(t, dir)
	listed := send(t, c, key, http.MethodGet, "/v1/transactions?limit=100", "")
	var page v1.TransactionList
	if err := json.Unmarshal(listed.Body.Bytes(), &page); err != nil || len(page.Data) < copies/8 {
		t.Fatalf("got %d transactions: %v", len(page.Data), err)
	}
	for _, listed := range page.Data {
		w := send(t, c, key, http.MethodGet, "/v1/transactions/"+listed.ID, "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"status":"captured"`) {
			t.Fatalf("%s: got %d: %s", listed.ID, w.Code, w.Body)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSQLiteStopsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	onePayment(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := fill.SQLite(ctx, filepath.Join(dir, "causeway.db"), fill.Copies{Count: 10, Merchants: 1, Span: time.Hour})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

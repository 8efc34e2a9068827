package bare_test

import (
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/bench/bare"
)

const body = `{"amount":2000,"currency":"usd","payment_method":"card",` +
	`"card":{"number":"4111111111111111","exp_month":12,"exp_year":2042,"cvc":"900"},"reference":"order-1001",` +
	`"capture":"automatic"}`

// learned makes one payment in a real core, lets spoil change the database, and returns
// its template.
func learned(t *testing.T, spoil ...string) *bare.Template {
	t.Helper()
	dir := t.TempDir()
	c, err := core.Open(t.Context(), core.Config{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	merchant, err := c.Admin().CreateMerchant(t.Context(), "bench")
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.Admin().CreateKey(t.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "causeway.db")
	execute(t, path, `DELETE FROM store_probes; DELETE FROM confirmed_clock`) // so that a test can add them
	before, err := bare.Look(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/transactions", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key.Reveal())
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "0123456789abcdef0123456789abcdef")
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, r)
	if got, want := w.Code, http.StatusCreated; got != want {
		t.Fatalf("got %d, want %d: %s", got, want, w.Body)
	}
	for _, s := range spoil {
		execute(t, path, s)
	}
	template, err := bare.Learn(t.Context(), path, before)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	// Core writes too, at its own times.
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// When this fails, core writes something else for a payment than it did, and package bare must
// follow it: else P1 and P3 lie.
func TestTheLoopWritesWhatTheServerWrites(t *testing.T) {
	t.Parallel()
	if err := bare.Check(t.Context(), t.TempDir(), learned(t)); err != nil {
		t.Error(err)
	}
}

// Core writes these rows from time to time, with or without a payment.
func TestTemplateHoldsNoBackgroundRows(t *testing.T) {
	t.Parallel()
	template := learned(t, `INSERT OR REPLACE INTO store_probes (id, filler) VALUES (1, x'00');
		INSERT OR REPLACE INTO confirmed_clock (id, at) VALUES (1, 1)`)
	if err := bare.Check(t.Context(), t.TempDir(), template); err != nil {
		t.Error(err)
	}
}

func TestCheckNoticesWhatTheServerWritesOtherwise(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"another column": `ALTER TABLE events ADD COLUMN shard INTEGER NOT NULL DEFAULT 1; UPDATE events SET shard = 7`,
		"another value":  `UPDATE captures SET settled = 1`,
		"another event": `INSERT INTO events
			SELECT id + 1, merchant_id, live, type, object_id, sequence, data, created_at FROM events`,
		"another table": `INSERT INTO merchants (id, name, created_at) SELECT id + 1, name, created_at FROM merchants`,
		"no capture":    `DELETE FROM captures`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := bare.Check(t.Context(), t.TempDir(), learned(t, spoil)); !errors.Is(err, bare.ErrChanged) {
				t.Errorf("got %v, want %v", err, bare.ErrChanged)
			}
		})
	}
}

func TestLoopWritesWhatItCounts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "loop.db")
	l, err := bare.Open(t.Context(), path, learned(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := l.Group(5); err != nil {
			t.Fatal(err)
		}
		if err := l.Single(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only read
	var got int
	err = db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM transactions t
		JOIN captures c ON c.transaction_id = t.id
		JOIN events e ON e.object_id = t.id WHERE t.status = 'captured'`).Scan(&got)
	if want := 18; err != nil || got != want {
		t.Errorf("got %d payments (%v), want %d", got, err, want)
	}
}

func TestScatterMeetsNothingTwice(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var key [32]byte
	for n := range uint64(20_000) {
		for _, m := range []uint64{n, ^n} {
			bare.Scatter(key[:], m)
			if seen[string(key[:])] {
				t.Fatalf("%d gives a key again: %s", m, key)
			}
			seen[string(key[:])] = true
		}
	}
}

package bare_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/bench/bare"
)

// body is a payment whose approval takes 5 s.
const body = `{"amount":2000,"currency":"usd","payment_method":"card",` +
	`"card":{"number":"4000000000000077","exp_month":12,"exp_year":2042,"cvc":"900"},"reference":"order-1001",` +
	`"capture":"automatic"}`

// server is a real core on a folder, with a key.
type server struct {
	core *core.Core
	key  string
	path string // of its database
}

func open(t *testing.T) *server {
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
	return &server{c, key.Reveal(), filepath.Join(dir, "causeway.db")}
}

// pay makes a payment.
func (s *server) pay(t *testing.T) error {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/transactions", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "0123456789abcdef0123456789abcdef")
	w := httptest.NewRecorder()
	s.core.Handler().ServeHTTP(w, r)
	if got, want := w.Code, http.StatusCreated; got != want {
		return fmt.Errorf("got %d, want %d: %s", got, want, w.Body)
	}
	return nil
}

// learned returns the template of a payment, and the server that made it.
func learned(t *testing.T) (*bare.Template, *server) {
	t.Helper()
	s := open(t)
	// Core writes these tables from time to time, with or without a payment.
	execute(t, s.path, `DELETE FROM store_probes; DELETE FROM confirmed_clock`)
	template, err := bare.Learn(t.Context(), s.path, func() error {
		execute(t, s.path, `INSERT OR REPLACE INTO store_probes (id, filler) VALUES (1, x'00');
			INSERT OR REPLACE INTO confirmed_clock (id, at) VALUES (1, 1)`)
		return s.pay(t)
	})
	if err != nil {
		t.Fatal(err)
	}
	return template, s
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

// written are the tables that a payment writes to, with a condition for the rows of payments. The
// creation of an API key writes an event, too.
var written = map[string]string{
	"transactions": "", "captures": "", "transaction_terms": "", "idempotency_keys": "",
	"events": " WHERE type LIKE 'transaction.%'",
}

// TestTheLoopWritesWhatTheServerWrites: the first payment of a loop has the rows of the real one.
func TestTheLoopWritesWhatTheServerWrites(t *testing.T) {
	t.Parallel()
	template, s := learned(t)
	for name, write := range map[string]func(*bare.Loop) error{
		"group": func(l *bare.Loop) error { return l.Group(1) }, "single": (*bare.Loop).Single,
	} {
		path := filepath.Join(t.TempDir(), "loop.db")
		l, err := bare.Open(t.Context(), path, template)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(l), l.Close()); err != nil {
			t.Fatal(err)
		}
		for table, which := range written {
			query := "SELECT * FROM " + table + which
			got, want := rows(t, path, query), rows(t, s.path, query)
			if !reflect.DeepEqual(got, want) || len(got) != 1 {
				t.Errorf("%s, %s: got %v, want %v", name, table, got, want)
			}
		}
		for _, table := range []string{"store_probes", "confirmed_clock", "merchants"} {
			if got := rows(t, path, "SELECT * FROM "+table); len(got) > 0 {
				t.Errorf("%s: %s is not a table of a payment, got %v", name, table, got)
			}
		}
	}
}

// TestAPaymentInOneCommitIsRefused: a payment in one commit has no intent before its outcome.
func TestAPaymentInOneCommitIsRefused(t *testing.T) {
	t.Parallel()
	path := open(t).path
	_, err := bare.Learn(t.Context(), path, func() error {
		execute(t, path, `INSERT INTO merchants (id, name, created_at) VALUES (1, 'a', 1)`)
		return nil
	})
	if want := bare.ErrUnseen; !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestAFailedPaymentIsReported(t *testing.T) {
	t.Parallel()
	want := errors.New("no server")
	if _, err := bare.Learn(t.Context(), open(t).path, func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// rows returns the rows of a query.
func rows(t *testing.T, path, query string) (out [][]any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only read
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = found.Close() }() // Err below reports a failure
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, values)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLoopWritesWhatItCounts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "loop.db")
	template, _ := learned(t)
	l, err := bare.Open(t.Context(), path, template)
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

package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// wantRedrawn copies the only row of a table to the next 64 ids that can be drawn, and calls
// insert. Each of its commands must insert under another id, and the last one under a free id.
func wantRedrawn(t *testing.T, s *coretest.Service, table, columns string, insert func() (engine.Result, error)) {
	t.Helper()
	columns += ", merchant_id, live, details, created_at"
	first := s.IDs.Next() + 1
	s.MustExec(t, fmt.Sprintf(`WITH RECURSIVE n (id) AS (SELECT CAST(%d AS BIGINT) UNION ALL SELECT id + 1 FROM n WHERE id < %d)
		INSERT INTO %s (id, %s) SELECT n.id, %s FROM %s CROSS JOIN n`, first, first+63, table, columns, columns, table))
	commands, most := 0, 4
	if coretest.Shared() {
		most *= 2 // a server can run each command twice
	}
	s.DB.ClaimBy(func(time.Time) bool { commands++; return true })
	a, err := insert()
	if commands < 2 || commands > most {
		t.Errorf("commands: got %d, want one for each of up to 4 ids", commands)
	}
	for range 20 { // four draws in a row may all be taken
		if !errors.Is(err, store.ErrDuplicate) {
			break
		}
		a, err = insert()
	}
	if err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	wantNumber(t, s, table, "SELECT COUNT(*) FROM "+table, 66)
}

// TestTakenIDOfAToken: another process has used the same id.
func TestTakenIDOfAToken(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	MustToken(t, s, "")
	r := s.Request("k")
	wantRedrawn(t, s, "tokens", "secret_hash, cvc_given, expires_at, kind, vault_key, number", func() (engine.Result, error) {
		return s.Engine.CreateToken(t.Context(), r, payment.KindCard, []byte("{}"), vault.Secrets{Number: secret.New(pan)})
	})
}

// TestTakenIDOfAPaymentMethod: as TestTakenIDOfAToken, for an attachment.
func TestTakenIDOfAPaymentMethod(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer, err := customerOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := attaching(s, customer, MustToken(t, s, ""))(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := s.Engine.Stored(t.Context(), s.Tenant, MustToken(t, s, ""))
	if err != nil {
		t.Fatal(err)
	}
	r := s.Request("k")
	wantRedrawn(t, s, "payment_methods", "customer_id, fingerprint, detached_at, kind, vault_key, number", func() (engine.Result, error) {
		return s.Engine.Attach(t.Context(), r, customer, found, func(d []byte) ([]byte, string) { return d, "print" })
	})
}

// TestTakenIDOfACustomer is TestTakenIDOfAToken for an object without a sealed number.
func TestTakenIDOfACustomer(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	if _, err := customerOf(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r := s.Request("k")
	wantRedrawn(t, s, "customers", "updated_at, version", func() (engine.Result, error) {
		return s.Engine.CreateCustomer(t.Context(), r, []byte("{}"))
	})
}

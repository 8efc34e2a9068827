package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestStepsExcludeEachOther tries every other step while one step waits for the acquirer.
func TestStepsExcludeEachOther(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		if st.makes {
			continue
		}
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			s.Acquirer.Before = func(ctx context.Context, _ coretest.Call) error {
				s.Acquirer.Before = nil
				if a, err := s.Engine.Void(ctx, s.Request("void"), txn, nil); err != nil || a.Status != 409 {
					t.Errorf("void meanwhile: got %d, %v", a.Status, err)
				}
				if st.verb == coretest.Refund {
					return nil // refunds run at the same time
				}
				for range 2 { // the refusal is not kept under the key
					if a, err := s.Engine.Capture(ctx, s.Request("capture"), txn, 1, false, nil); err != nil || a.Status != 409 || a.Replayed {
						t.Errorf("capture meanwhile: got %d replayed %t, %v", a.Status, a.Replayed, err)
					}
				}
				if a, err := s.Engine.Refund(ctx, s.Request("refund"), txn, 0, 1, []byte("{}")); err != nil || a.Status != 409 {
					t.Errorf("refund meanwhile: got %d, %v", a.Status, err)
				}
				return nil
			}
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != st.success {
				t.Errorf("got %d, %v: %s", a.Status, err, a.Body)
			}
			st.wantDone(t, s)
		})
	}
}

// MustOccupy inserts rows under the next 64 ids, so that the next drawn id certainly collides.
func MustOccupy(t *testing.T, s *coretest.Service, table string, txn int64) {
	t.Helper()
	columns := map[string]string{"captures": ", final", "refunds": ""}[table]
	values := map[string]string{"captures": ", 0", "refunds": ""}[table]
	first := s.IDs.Next() + 1
	s.MustExec(t, fmt.Sprintf(`WITH RECURSIVE n (id) AS (SELECT CAST(%d AS BIGINT) UNION ALL SELECT id + 1 FROM n WHERE id < %d)
		INSERT INTO %s (id, transaction_id, merchant_id, live, state, amount, currency, created_at, updated_at%s)
		SELECT id, %d, 1, 0, 'failed', 1, 'usd', 0, 0%s FROM n`, first, first+63, table, columns, txn, values))
}

// TestIDsThatAreTaken: another process has used the same id. The step draws another id, and takes
// its amount once.
func TestIDsThatAreTaken(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		table := map[coretest.Verb]string{coretest.Capture: "captures", coretest.Refund: "refunds"}[st.verb]
		if table == "" {
			continue
		}
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			r := s.Request("k")
			MustOccupy(t, s, table, txn)
			a, err := st.take(t.Context(), s, r, txn)
			for range 20 { // four draws in a row may all be taken, which is an error without effect
				if !errors.Is(err, store.ErrDuplicate) {
					break
				}
				a, err = st.take(t.Context(), s, r, txn)
			}
			if err != nil || a.Status != st.success {
				t.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
			}
			st.wantDone(t, s)
		})
	}
}

// TestOneAcquirerDoesNotHoldUpTheOther: more unfinished payments than one page wait for an acquirer
// that is not configured.
func TestOneAcquirerDoesNotHoldUpTheOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	live := payment.Tenant{Merchant: s.Tenant.Merchant, Live: true}
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		for range 1100 {
			open := &payment.Transaction{ID: s.IDs.Next(), Tenant: live, Account: otherAccount, Amount: 1, Currency: "usd", PaymentMethod: "card", Details: []byte("{}"), CreatedAt: tx.Now, UpdatedAt: tx.Now}
			if _, err := tx.BeginPayment(&store.Intent{Transaction: open}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lose(s, coretest.Authorize, true, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	if got, want := s.Recover(t), 1100; got != want {
		t.Errorf("open: got %d, want %d", got, want)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'captured'"); got != 1 {
		t.Error("the payment behind them was not recovered")
	}
}

// TestNoAcquirer: live mode without an acquirer refuses, and leaves nothing. A step on a
// transaction that does not exist gets payment.ErrNotFound first.
func TestNoAcquirer(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	r := s.Request("k")
	r.Tenant.Live = true
	for _, st := range steps() {
		want := payment.ErrNotFound
		if strings.HasPrefix(st.name, "authorize") {
			want = engine.ErrNoAcquirer
		}
		if a, err := st.take(t.Context(), s, r, 1); !errors.Is(err, want) {
			t.Errorf("%s: got %d, %v, want %v", st.name, a.Status, err, want)
		}
	}
	if got := s.Number(t, "SELECT (SELECT COUNT(*) FROM transactions) + (SELECT COUNT(*) FROM idempotency_keys)"); got != 0 {
		t.Errorf("%d rows were written", got)
	}
}

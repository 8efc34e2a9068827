package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// lastPaid counts the customers with a time of a last payment.
const lastPaid = "SELECT COUNT(*) FROM customers WHERE last_paid_at > 0"

// TestPayerOfAWaitingPaymentIsKept: a payment has one customer, and had another one before its
// confirmation. The erasure of the payment writes its time to both.
func TestPayerOfAWaitingPaymentIsKept(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := MustPaidCustomer(t, s)
	s.Database.MustExec(t, "UPDATE transactions SET details = '{}', waiting_details = ?",
		`{"customer":"`+id.Format(id.Customer, customer)+`"}`)
	s.Clock.Advance(300 * keptDay)
	MustErase(t, s, 1)
	if got := s.Number(t, lastPaid); got != 1 {
		t.Errorf("got %d customers with a last payment, want 1", got)
	}
}

// TestLastRefundIsTheLastPayment erases a payment with three refunds. The customer keeps the time
// of the last of them.
func TestLastRefundIsTheLastPayment(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	MustPaidCustomer(t, s)
	for _, key := range []string{"first", "second", "last"} {
		s.Clock.Advance(keptDay)
		a, err := s.Engine.Refund(t.Context(), s.Request(key), s.Number(t, "SELECT id FROM transactions"), 0, 10, []byte("{}"))
		if err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
	}
	s.Clock.Advance(300 * keptDay)
	MustErase(t, s, 1)
	got := s.Number(t, "SELECT last_paid_at FROM customers")
	if want := s.Number(t, "SELECT MAX(created_at) FROM refunds"); got != want {
		t.Errorf("last paid at %d, want %d", got, want)
	}
}

// TestErasureWritesNoOtherCustomer: the erasure of a payment writes its time neither to a deleted
// customer nor to a customer of another tenant.
func TestErasureWritesNoOtherCustomer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"deleted":          "UPDATE customers SET deleted_at = 1",
		"another merchant": "UPDATE customers SET merchant_id = merchant_id + 1",
		"another mode":     "UPDATE customers SET live = 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			MustPaidCustomer(t, s)
			s.Database.MustExec(t, change)
			s.Clock.Advance(300 * keptDay)
			MustErase(t, s, 1)
			if got := s.Number(t, lastPaid); got != 0 {
				t.Errorf("got %d customers with a last payment, want none", got)
			}
		})
	}
}

// TestLastPaymentIsWrittenWithTheErasure ends an erasure at every row once. The customer has the
// time of its payment if, and only if, the link between them is gone.
func TestLastPaymentIsWrittenWithTheErasure(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	MustPaidCustomer(t, s)
	s.Clock.Advance(300 * keptDay)
	ends := 0
	for last := 1; ; last++ {
		calls := 0
		ctx, end := context.WithCancel(t.Context())
		_, err := s.DB.ErasePersonal(ctx, s.Clock.Now(), keptDays, func(kind string, data []byte) []byte {
			if calls++; calls >= last {
				end()
				panic("the process ends here")
			}
			return impersonal(kind, data)
		})
		end()
		linked := s.Number(t, "SELECT COUNT(*) FROM transaction_terms WHERE kind = 1")
		if got := s.Number(t, lastPaid); got+linked != 1 {
			t.Errorf("after the end at row %d: %d last payments and %d links, want one of them", last, got, linked)
		}
		if err == nil {
			break
		}
		ends++
	}
	if got := s.Number(t, lastPaid); got != 1 || ends < 3 {
		t.Errorf("after %d ends: %d last payments, want 1 after 3 or more", ends, got)
	}
}

// TestDetachedMethodKeepsItsCustomer: a customer that lost a payment method within its period is
// not inactive.
func TestDetachedMethodKeepsItsCustomer(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := s.IDs.Next()
	born := s.Clock.Now().UnixMilli()
	s.Database.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
		VALUES (?, ?, 0, '{}', 1, ?, ?)`, customer, s.Tenant.Merchant, born, born)
	s.Clock.Advance(50 * keptDay)
	s.Database.MustExec(t, `INSERT INTO payment_methods
			(id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, created_at, detached_at)
		VALUES (?, ?, 0, ?, 'card', '', '{}', 0, ?, ?)`,
		s.IDs.Next(), s.Tenant.Merchant, customer, born, s.Clock.Now().UnixMilli())
	s.Clock.Advance(20 * keptDay)
	wantInactive(t, s, keptDays, 0)
	s.Clock.Advance(41 * keptDay)
	wantInactive(t, s, keptDays, 1)
}

// TestCustomerChangedMeanwhileIsActive: the deletion of an inactive customer decides in its own
// commit, because the customer can be changed after the pass has read it.
func TestCustomerChangedMeanwhileIsActive(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := s.IDs.Next()
	born := s.Clock.Now()
	s.Database.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
		VALUES (?, ?, 0, '{}', 1, ?, ?)`, customer, s.Tenant.Merchant, born.UnixMilli(), born.UnixMilli())
	for since, want := range map[int64]bool{born.UnixMilli(): true, born.UnixMilli() + 1: false} {
		var active bool
		err := s.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
			active, err = tx.ActiveCustomer(s.Tenant, customer, time.UnixMilli(since))
			return err
		})
		if err != nil || active != want {
			t.Errorf("since %d ms after its change: got active %t, %v, want %t", since-born.UnixMilli(), active, err, want)
		}
	}
}

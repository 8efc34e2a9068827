package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// rowChange is a command on a transaction of 100, and the row that it leaves. The transaction has
// the method "card", and before its confirmation the method "before".
type rowChange struct {
	name    string
	prepare string // sets columns of the row before the command
	run     func(*store.Tx, *payment.Transaction) error
	want    string // the row afterwards; "" as before
	err     error
}

// rowOf returns the columns that the commands change.
func rowOf(t *testing.T, s *coretest.Service, id int64) string {
	t.Helper()
	got := s.Texts(t, `SELECT status || ' ' || payment_method || ' ' || CAST(amount AS TEXT)
		|| ' ' || CAST(amount_changed AS TEXT) || ' v' || CAST(version AS TEXT) || ' a' || CAST(attempt AS TEXT)
		|| ' d' || CAST(declined_confirmations AS TEXT)
		|| ' ' || COALESCE(waiting_method, '-') || ' ' || details
		FROM transactions WHERE id = `+fmt.Sprint(id))
	return got[0]
}

func begin(tx *store.Tx, t *payment.Transaction) error   { return tx.BeginConfirmation(t) }
func decline(tx *store.Tx, t *payment.Transaction) error { return tx.DeclineConfirmation(t) }
func withdraw(tx *store.Tx, t *payment.Transaction) error {
	return tx.WithdrawConfirmation(t)
}

// update changes amount and details of a transaction that was read as version 3.
func update(tx *store.Tx, t *payment.Transaction) error {
	t.Amount, t.AmountChanged, t.Details, t.Version, t.UpdatedAt = 70, true, []byte(`{"reference":"new"}`), 4, tx.Now
	reference := "new"
	return tx.UpdateTransaction(t, &reference)
}

func rowChanges() []rowChange {
	const (
		waits    = `status = 'requires_confirmation', version = 3, attempt = 2`
		waiting1 = `status = 'requires_confirmation', version = 3, attempt = 1`
		waiting4 = `status = 'requires_confirmation', version = 4, attempt = 2`
		begunAs  = `status = 'processing', version = 3, waiting_method = 'before', waiting_details = '{"a":1}', attempt = `
		begun    = begunAs + `2`
		lost     = `status = 'unknown', version = 3, attempt = 2, waiting_method = 'before', waiting_details = '{"a":1}'`
		paid     = `status = 'captured', version = 3, attempt = 2`
		others   = `merchant_id = merchant_id + 1, `
	)
	updated := func(status, attempt string) string {
		return status + ` card 70 1 v4 a` + attempt + ` d0 - {"reference":"new"}`
	}
	return []rowChange{
		{"begin", waits, begin, `processing card 100 0 v3 a2 d0 card {"reference":"old"}`, nil},
		{"begin: another attempt", waiting1, begin, "", store.ErrConflict},
		{"begin: changed meanwhile", waiting4, begin, "", store.ErrConflict},
		{"begin: begun before", begun, begin, "", store.ErrConflict},
		{"begin: another merchant's", others + waits, begin, "", store.ErrConflict},
		{"decline", begun, decline, `requires_confirmation before 100 0 v4 a3 d1 - {"a":1}`, nil},
		{"decline: unknown", lost, decline, "", store.ErrConflict},
		{"decline: another attempt", begunAs + `3`, decline, "", store.ErrConflict},
		{"decline: a create", begunAs + `0`, decline, "", store.ErrConflict},
		{"decline: twice", waits, decline, "", store.ErrConflict},
		{"withdraw", begun, withdraw, `requires_confirmation before 100 0 v3 a3 d0 - {"a":1}`, nil},
		{"withdraw: unknown", lost, withdraw, "", store.ErrConflict},
		{"update: waiting", waits, update, updated("requires_confirmation", "2"), nil},
		{"update: captured", paid, update, updated("captured", "2"), nil},
		{"update: unknown", `status = 'unknown', version = 3, attempt = 0`, update, updated("unknown", "0"), nil},
		{"update: processing", begun, update, "", store.ErrConflict},
		{"update: changed meanwhile", waiting4, update, "", store.ErrConflict},
		{"update: another merchant's", others + waits, update, "", store.ErrConflict},
	}
}

// TestChangesOfAPayment runs each command on a row that allows it, and on rows that do not. A
// refused command changes nothing.
func TestChangesOfAPayment(t *testing.T) {
	t.Parallel()
	for _, c := range rowChanges() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onEachEngine(t, func(t *testing.T, s *coretest.Service) {
				t.Helper()
				i := newIntent(s, "")
				i.Terms.Reference, i.Transaction.Details = "old", []byte(`{"reference":"old"}`)
				made := mustBegin(t, s, i)
				s.MustExec(t, "UPDATE transactions SET payment_method = 'card', "+c.prepare+" WHERE id = ?", made.ID)
				before := rowOf(t, s, made.ID)
				read := *made
				read.Attempt, read.Version, read.PaymentMethod = 2, 3, "card"
				err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return c.run(tx, &read) })
				if !errors.Is(err, c.err) {
					t.Fatalf("got %v, want %v", err, c.err)
				}
				want := c.want
				if want == "" {
					want = before
				}
				if got := rowOf(t, s, made.ID); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				terms := s.Texts(t, "SELECT term FROM transaction_terms")
				if changed := c.err == nil && read.Version == 4; len(terms) != 1 || terms[0] == "new" != changed {
					t.Errorf("terms: got %v, changed %t", terms, changed)
				}
			})
		})
	}
}

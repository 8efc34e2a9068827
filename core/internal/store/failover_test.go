package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestMoveTransaction: a payment moves to another account with the tags of its next request, once.
// The attempts at both accounts count for the card.
func TestMoveTransaction(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		card := limited(t, "visa")
		at, _ := attempt(t, s, card)
		at.VoidTag = "release"
		next := *at
		next.Account, next.Tag, next.VoidTag = 8, "next", ""
		mustEnd(t, s, func(tx *store.Tx) error {
			allowed := false
			err := errors.Join(tx.TagRelease(at), tx.KeepCardAttempt(at, card, false))
			if err == nil {
				allowed, err = tx.BeginCardAttempt(&next, card)
			}
			if err == nil && !allowed {
				t.Error("the next attempt is not allowed")
			}
			return errors.Join(err, tx.MoveTransaction(at, &next, payment.Retryable))
		})
		got, err := s.DB.Transaction(t.Context(), at.Tenant, at.ID)
		if err != nil || got.Account != 8 || got.Tag != "next" || got.VoidTag != "" {
			t.Errorf("got %+v, %v", got, err)
		}
		want := "[1 7 tag declined]"
		rows := "SELECT number || ' ' || account || ' ' || tag || ' ' || class FROM attempts"
		if got := fmt.Sprint(s.Texts(t, rows)); got != want {
			t.Errorf("attempts: got %s, want %s", got, want)
		}
		count := func(want int64) {
			t.Helper()
			if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != want {
				t.Errorf("got %d attempts at the card, want %d", n, want)
			}
		}
		count(2)
		mustEnd(t, s, func(tx *store.Tx) error { return tx.WithdrawCardAttempt(&next, card) })
		count(1)
		err = s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.MoveTransaction(at, &next, payment.NotTaken) })
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("again: got %v, want %v", err, store.ErrConflict)
		}
	})
}

package store_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestEvictionAmongEquals: if callers have equally many waiting lists, the one whose next turn
// comes last loses a list. So the lists that have waited longest stay, and no caller loses two
// lists before the other callers lose one.
func TestEvictionAmongEquals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		const first, last = 11, 14
		l.Queues, l.Queue = 2*(last-first+1), 2
		l.list(1, 2) // these hold the slots
		for range l.Queue {
			for m := int64(first); m <= last; m++ {
				l.list(m)
			}
		}
		l.list(21, 22, 23)
		for m := int64(first); m <= last; m++ {
			want := 1
			if m == first {
				want = 0
			}
			errs := l.errors(m)
			if len(errs) != want || want == 1 && !errors.Is(errs[0], payment.ErrTooManyLists) {
				t.Errorf("merchant %d: got %v, want %d times %v", m, errs, want, payment.ErrTooManyLists)
			}
		}
		l.end()
	})
}

// TestEvictionKeepsTheNextTurn: each caller has one waiting list. One more list fails itself. The
// list with the next turn keeps it.
func TestEvictionKeepsTheNextTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		l.Queues = 3
		l.list(1, 2, 11, 12, 13, 14)
		if got := l.errors(14); len(got) != 1 || !errors.Is(got[0], store.ErrBusy) {
			t.Errorf("the last list: got %v, want %v", got, store.ErrBusy)
		}
		l.leave(1)
		l.want(t, 1, 2, 11)
		l.end()
	})
}

package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestUnmarkedPaymentIsNotShown: the acquirer's response to a payment is lost, and the store does
// not mark the payment as unknown. The response shows no transaction that recovery removes.
func TestUnmarkedPaymentIsNotShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key            string
		effect, shown  bool // whether the acquirer has the payment; whether the response shows it
		replayed, kept bool // the retry's response is stored; the payment is still there
	}{
		"never processed":         {"k", false, false, false, false},
		"approved":                {"k", true, false, true, true},
		"never processed, no key": {"", false, true, false, true},
		"approved, no key":        {"", true, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			recovery := serving(t, s)
			end := s.MustRefuse(t, "UPDATE", "transactions", "NEW.status = 'unknown'")
			lose(s, coretest.Authorize, c.effect, nil)
			r := s.Request(c.key)
			a, err := s.Pay(t.Context(), r, 100, true)
			if err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			first := s.Number(t, "SELECT id FROM transactions")
			if got := strings.Contains(string(a.Body), id.Format(id.Transaction, first)); got != c.shown {
				t.Errorf("the response shows the payment: got %t, want %t: %s", got, c.shown, a.Body)
			}
			heal(s)
			end()
			s.Clock.Advance(time.Minute)
			pass(t, recovery, 1)
			if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE id = ?", first); got == 1 != c.kept {
				t.Errorf("payments after recovery: got %d, want it kept %t", got, c.kept)
			}
			if c.key == "" {
				return
			}
			if a, err = s.Pay(t.Context(), r, 100, true); err != nil || a.Status != 201 || a.Replayed != c.replayed {
				t.Errorf("retry: got %d %s, %v, replayed %t, want 201, %t", a.Status, a.Body, err, a.Replayed, c.replayed)
			}
			if got := s.Acquirer.Moved(coretest.Authorize); got != 100 {
				t.Errorf("moved: got %d, want 100", got)
			}
		})
	}
}

// TestUnmarkedStepShowsItsTransaction: as TestUnmarkedPaymentIsNotShown, for steps on a transaction
// that stays. Each response shows it.
func TestUnmarkedStepShowsItsTransaction(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		if st.makes {
			continue
		}
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			recovery := serving(t, s)
			s.MustRefuse(t, "UPDATE", "transactions", "NEW.status = 'unknown'")
			txn := st.MustPrepare(t, s)
			lose(s, st.verb, false, nil)
			a, err := st.take(t.Context(), s, s.Request("k"), txn)
			if err != nil || a.Status != 504 || !strings.Contains(string(a.Body), id.Format(id.Transaction, txn)) {
				t.Fatalf("got %d %s, %v, want 504 with the transaction", a.Status, a.Body, err)
			}
			heal(s)
			s.Clock.Advance(time.Minute)
			pass(t, recovery, 1)
			if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE id = ?", txn); got != 1 {
				t.Errorf("transactions after recovery: got %d, want it kept", got)
			}
		})
	}
}

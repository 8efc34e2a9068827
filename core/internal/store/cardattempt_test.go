package store_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// limited returns a card of a network with a rule.
func limited(t *testing.T, brand string) payment.LimitedCard {
	t.Helper()
	rule, known := payment.RetryRuleOf(brand)
	if !known {
		t.Fatalf("%s has no rule", brand)
	}
	return payment.LimitedCard{Fingerprint: "aa11", Rule: rule}
}

// cardIntent returns the intent of a live payment by a card.
func cardIntent(s *coretest.Service, c payment.LimitedCard) *store.Intent {
	i := newIntent(s, "")
	i.Transaction.Tenant.Live, i.Transaction.Account, i.Transaction.Tag, i.Card = true, 7, "tag", c
	return i
}

// attempt begins a payment by a card and reports whether it may be sent.
func attempt(t *testing.T, s *coretest.Service, c payment.LimitedCard) (*payment.Transaction, bool) {
	t.Helper()
	i := cardIntent(s, c)
	return mustBegin(t, s, i), !i.Refused
}

// mustDecline makes n attempts at a card, which the network declines.
func mustDecline(t *testing.T, s *coretest.Service, c payment.LimitedCard, n int, never bool) {
	t.Helper()
	for range n {
		txn, sent := attempt(t, s, c)
		if !sent {
			t.Fatal("an attempt was refused")
		}
		mustEnd(t, s, func(tx *store.Tx) error { return tx.KeepCardAttempt(txn, c, never) })
	}
}

func mustEnd(t *testing.T, s *coretest.Service, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.DB.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func (c cardCase) age(t *testing.T, s *coretest.Service) {
	t.Helper()
	s.MustExec(t, "UPDATE card_attempts SET at = at - ?", c.ago.Milliseconds())
}

// cardCase is a card with declined attempts of an age.
type cardCase struct {
	name, brand string
	declines    int
	never       bool
	ago         time.Duration
	want        bool // another attempt may be sent
}

// TestCardAttempts: the store refuses an attempt beyond the limits of the network, and no other.
func TestCardAttempts(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []cardCase{
		{"19", "visa", 19, false, 0, true},
		{"20", "visa", 20, false, 0, false},
		{"20 before", "visa", 20, false, 30 * day, true},
		{"20 just before", "visa", 20, false, 30*day - time.Millisecond, false},
		{"never", "visa", 1, true, 30*day - time.Millisecond, false},
		{"never before", "visa", 1, true, 30 * day, true},
		{"9", "mastercard", 9, false, 0, true},
		{"10", "mastercard", 10, false, day - time.Millisecond, false},
		{"10 the day before", "mastercard", 10, false, day, true},
	} {
		t.Run(c.brand+" "+c.name, func(t *testing.T) {
			t.Parallel()
			onEachEngine(t, func(t *testing.T, s *coretest.Service) {
				t.Helper()
				card := limited(t, c.brand)
				mustDecline(t, s, card, c.declines, c.never)
				c.age(t, s)
				for range 2 { // a refused attempt is not counted
					txn, got := attempt(t, s, card)
					if got != c.want {
						t.Fatalf("got %t, want %t", got, c.want)
					}
					mustEnd(t, s, func(tx *store.Tx) error { return tx.WithdrawCardAttempt(txn, card) })
				}
				if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != int64(c.declines) {
					t.Errorf("got %d attempts, want %d", n, c.declines)
				}
				other := card
				other.Fingerprint = "bb22"
				if _, got := attempt(t, s, other); !got {
					t.Error("another card was refused")
				}
				i := cardIntent(s, card)
				i.Transaction.Tenant.Merchant = foreign
				s.MustExec(t, "INSERT INTO merchants (id, name, created_at) VALUES (?, 'foreign', 0)", foreign)
				if mustBegin(t, s, i); i.Refused {
					t.Error("the card was refused at another merchant")
				}
			})
		})
	}
}

// TestCardAttemptsEnd: an approval ends the count. Only one that follows a decline is counted
// before its outcome.
func TestCardAttemptsEnd(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		card := limited(t, "visa")
		count := func(want int64) {
			t.Helper()
			if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != want {
				t.Errorf("got %d attempts, want %d", n, want)
			}
		}
		attempt(t, s, card)
		count(0)
		mustDecline(t, s, card, 19, false)
		running, _ := attempt(t, s, card)
		count(20)
		if _, sent := attempt(t, s, card); sent {
			t.Error("a running attempt was not counted")
		}
		mustEnd(t, s, func(tx *store.Tx) error { return tx.ForgetCardAttempts(running, card) })
		count(0)
		mustDecline(t, s, card, 1, true)
		mustEnd(t, s, func(tx *store.Tx) error { return tx.ForgetCardAttempts(running, card) })
		if _, sent := attempt(t, s, card); !sent {
			t.Error("the approval did not end the count")
		}
	})
}

// TestCardAttemptsAtOnce: two processes that begin many payments at once do not exceed the limit.
func TestCardAttemptsAtOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		card := limited(t, "visa")
		mustDecline(t, s, card, 17, false)
		processes := []*coretest.Service{s, s}
		if strings.HasSuffix(t.Name(), "PostgreSQL") {
			processes[1] = s.Beside(t)
		}
		var sent atomic.Int64
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() {
				at := processes[n%2]
				i := cardIntent(at, card)
				if _, err := at.DB.BeginPayment(t.Context(), i); err != nil {
					t.Error(err)
				} else if !i.Refused {
					sent.Add(1)
				}
			})
		}
		all.Wait()
		if got := sent.Load(); got != 3 {
			t.Errorf("%d attempts may be sent, want 3", got)
		}
	})
}

// TestCardAttemptsOfAWrongClock: a clock that jumps frees no card, and blocks none for longer than
// the rule.
func TestCardAttemptsOfAWrongClock(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		card := limited(t, "visa")
		mustDecline(t, s, card, 20, false)
		jumps := []time.Duration{31 * 24 * time.Hour, -62 * 24 * time.Hour, 31*24*time.Hour + time.Second}
		for _, jump := range jumps {
			s.Clock.Step(jump)
			for range 2 { // the clock is confirmed after an hour
				if _, sent := attempt(t, s, card); sent {
					t.Errorf("an attempt may be sent after the clock has jumped by %v", jump)
				}
				if jump != jumps[0] {
					s.Clock.Advance(2 * time.Hour)
				}
			}
		}
		s.MustExec(t, "UPDATE card_attempts SET at = at + ?", (365 * 24 * time.Hour).Milliseconds())
		if _, sent := attempt(t, s, card); sent {
			t.Error("an attempt may be sent")
		}
		latest := s.Number(t, "SELECT MAX(at) FROM card_attempts")
		if now := s.Clock.Now().UnixMilli(); latest > now+time.Hour.Milliseconds() {
			t.Errorf("an attempt counts %v in the future", time.Duration(latest-now)*time.Millisecond)
		}
	})
}

// TestPurgeCardAttempts: attempts that no longer count are removed.
func TestPurgeCardAttempts(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		card := limited(t, "visa")
		mustDecline(t, s, card, 2, false)
		cardCase{ago: payment.RetryMemory}.age(t, s)
		mustDecline(t, s, card, 1, false)
		n, err := s.DB.PurgeCardAttempts(t.Context(), s.Clock.Now())
		if left := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 2 || left != 1 || err != nil {
			t.Errorf("removed %d, %d left, %v; want 2 and 1", n, left, err)
		}
	})
}

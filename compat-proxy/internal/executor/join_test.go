package executor_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// endsLikeVisa is a different number with the same last four digits as visa.
const endsLikeVisa = "4111118888881111"

// further returns a further payment of the order by a card of that number.
func further(amount int64, window int, card string) command.Authorize {
	return sale(window, func(c *command.Authorize) {
		c.Body.Amount, c.Body.Card.Number, c.Joins = amount, secret.New(card), number
		c.Body.Metadata = &v1.Metadata{command.GroupKey: string(number)}
	})
}

// TestJoin_atOnce: several further payments run concurrently, and each reads the order before any
// other is made. The results are the same as in sequence.
func TestJoin_atOnce(t *testing.T) {
	t.Parallel()
	type counts = map[command.Outcome]int
	both := func(a, b command.Authorize) []command.Authorize { return []command.Authorize{a, b} }
	onePaid := counts{command.Done: 1, command.Unmet: 1}
	for name, tt := range map[string]struct {
		commands []command.Authorize
		want     counts
		amount   int64
	}{
		"two for the whole unpaid amount": {both(further(700, 120, visa), further(700, 120, mastercard)), onePaid, 700},
		"two halves": {
			both(further(350, 120, visa), further(350, 120, mastercard)), counts{command.Done: 2}, 700,
		},
		"twice the same": {
			slices.Repeat([]command.Authorize{further(350, 120, visa)}, 2), counts{command.Done: 1, command.Repeated: 1}, 350,
		},
		"twice, both meant": {both(further(350, 0, visa), further(350, 0, visa)), counts{command.Done: 2}, 700},
		"three times, meant": {
			slices.Repeat([]command.Authorize{further(350, 0, visa)}, 3), counts{command.Done: 2, command.Unmet: 1}, 700,
		},
		"one meant, one not":  {both(further(700, 0, visa), further(700, 0, mastercard)), onePaid, 700},
		"the others are late": {slices.Repeat([]command.Authorize{further(100, 0, visa)}, 4), counts{command.Done: 4}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, x := setupOrder(t)
			f.meeting = &sync.WaitGroup{}
			f.meeting.Add(len(tt.commands))
			results := make([]command.Result, len(tt.commands))
			var all sync.WaitGroup
			for i, c := range tt.commands {
				all.Go(func() { results[i] = x.Execute(t.Context(), key, c) })
			}
			all.Wait()
			got := counts{}
			for _, r := range results {
				got[r.Outcome]++
				if r.Outcome == command.Unmet && r.Unmet != command.ConditionGroupEnded {
					t.Errorf("got %s, want the order paid", r.Unmet)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if payments, amount := f.taken(); payments != tt.want[command.Done] || amount != tt.amount {
				t.Errorf("got %d payments of %d, want %d of %d", payments, amount, tt.want[command.Done], tt.amount)
			}
		})
	}
}

// A duplicate of a further payment is Repeated, even if the order is paid by now.
func TestJoin_repeated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		second command.Authorize
		after  time.Duration
		want   command.Outcome
	}{
		"immediately":                 {further(700, 120, visa), 0, command.Repeated},
		"a moment before the end":     {further(700, 120, visa), 120*time.Second - time.Millisecond, command.Repeated},
		"at the end":                  {further(700, 120, visa), 120 * time.Second, command.Unmet},
		"across a period's beginning": {further(700, 28800, visa), 7 * time.Hour, command.Repeated},
		"without a window":            {further(700, 0, visa), 0, command.Unmet},
		"by another card":             {further(700, 120, mastercard), 0, command.Unmet},
		"of another amount":           {further(699, 120, visa), 0, command.Unmet},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, x := setupOrder(t)
			if got := run(t, x, further(700, 0, visa)); got.Outcome != command.Done || len(got.Group) != 2 {
				t.Fatalf("first: got %s with %d payments", got.Outcome, len(got.Group))
			}
			f.clock.Advance(tt.after)
			if got := run(t, x, tt.second); got.Outcome != tt.want || got.Transaction != nil {
				t.Errorf("second: got %s %s of %+v, want %s", got.Outcome, got.Unmet, got.Transaction, tt.want)
			}
			if payments, amount := f.taken(); payments != 1 || amount != 700 {
				t.Errorf("got %d payments of %d, want one of 700", payments, amount)
			}
		})
	}
}

// TestJoin_clockSetBack: v1's clock was set back. Date and the times of keys go on, and the times
// of new payments are behind them. A duplicate is found by the time of the key.
func TestJoin_clockSetBack(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	f.setBack = 24 * time.Hour
	for i, want := range []command.Outcome{command.Done, command.Repeated, command.Done} {
		if got := run(t, x, further(100, 120, visa)).Outcome; got != want {
			t.Errorf("payment %d: got %s, want %s", i, got, want)
		}
		f.clock.Advance(70 * time.Second)
	}
	if payments, _ := f.taken(); payments != 2 {
		t.Errorf("got %d payments, want 2", payments)
	}
}

// A command that names a stored payment method gets the charged source.
func TestJoin_repeatedWithAStoredMethod(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	c := further(100, 120, visa)
	c.Body.Card, c.Body.PaymentMethod, c.Body.Customer = nil, "pm_1", new("cus_1")
	if got, want := run(t, x, c).Outcome, command.Done; got != want {
		t.Fatalf("first: got %s, want %s", got, want)
	}
	if got := run(t, x, c); got.Outcome != command.Repeated || got.Transaction == nil ||
		got.Transaction.ID != f.payments[0].ID {
		t.Errorf("second: got %s of %+v, want it repeated, with the first", got.Outcome, got.Transaction)
	}
}

// While the outcome of a payment is unknown, its amount counts as paid.
func TestJoin_whileAnotherIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status v1.TransactionStatus
		amount int64 // of the other payment
		want   command.Outcome
		code   string
	}{
		"for the whole unpaid amount": {
			v1.TransactionStatusProcessing, 700, command.Refused,
			v1.CodeOperationInProgress,
		},
		"unknown":                   {v1.TransactionStatusUnknown, 700, command.Refused, v1.CodeOperationInProgress},
		"for one cent less":         {v1.TransactionStatusProcessing, 699, command.Done, ""},
		"declined":                  {v1.TransactionStatusDeclined, 700, command.Done, ""},
		"taken back":                {v1.TransactionStatusVoided, 700, command.Done, ""},
		"paid, and one cent is due": {v1.TransactionStatusCaptured, 699, command.Done, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, x := setupOrder(t)
			f.add("k", "", tt.amount, tt.status, v1.Metadata{command.GroupKey: string(number)})
			if got := run(t, x, further(1, 120, visa)); got.Outcome != tt.want || got.Code != tt.code {
				t.Errorf("got %s %s, want %s %s", got.Outcome, got.Code, tt.want, tt.code)
			}
		})
	}
}

// An equal request is refused while the first one runs, because it may be a duplicate.
func TestJoin_whileTheFirstRuns(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	if got, want := run(t, x, further(100, 120, visa)).Outcome, command.Done; got != want {
		t.Fatalf("first: got %s, want %s", got, want)
	}
	f.payments[0].Status = v1.TransactionStatusProcessing
	if got, want := run(t, x, further(100, 120, visa)).Outcome, command.Uncertain; got != want {
		t.Errorf("second: got %s, want %s", got, want)
	}
	if payments, _ := f.taken(); payments != 1 {
		t.Errorf("payments: got %d, want one", payments)
	}
}

// One request makes one payment, wherever the connection breaks.
func TestJoin_whenTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*orderV1){
		"before v1 has it": func(f *orderV1) { f.lostRequests = 1 },
		"after v1 acted":   func(f *orderV1) { f.lostResponses = 1 },
	} {
		for _, window := range []int{0, 120} {
			t.Run(fmt.Sprint(name, window), func(t *testing.T) {
				t.Parallel()
				f, x := setupOrder(t)
				cut(f)
				if got, want := run(t, x, further(100, window, visa)).Outcome, command.Done; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if got, want := run(t, x, further(100, 120, visa)).Outcome, command.Repeated; got != want {
					t.Errorf("again: got %s, want %s", got, want)
				}
				if payments, amount := f.taken(); payments != 1 || amount != 100 {
					t.Errorf("got %d payments of %d, want one", payments, amount)
				}
			})
		}
	}
}

// TestJoin_afterAnEqualPayment: an equal payment takes the position of one whose request was
// lost. Without a window both are paid, and within a window one.
func TestJoin_afterAnEqualPayment(t *testing.T) {
	t.Parallel()
	for window, want := range map[int]int{0: 2, 120: 1} {
		f, x := setupOrder(t)
		f.rival = true
		if got, want := run(t, x, further(100, window, visa)).Outcome, command.Done; got != want {
			t.Errorf("window %d: got %s, want %s", window, got, want)
		}
		if payments, _ := f.taken(); payments != want {
			t.Errorf("window %d: got %d payments, want %d", window, payments, want)
		}
	}
}

// TestJoin_afterARefusal: after any number of refused payments, the order accepts others.
func TestJoin_afterARefusal(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	for i := range 20 {
		got := run(t, x, further(int64(100+i), 120, expiredCard))
		if got.Outcome != command.Refused || got.Code != v1.CodeExpiredCard {
			t.Fatalf("payment %d by an expired card: got %s %s, want it refused as expired", i, got.Outcome, got.Code)
		}
	}
	if got := run(t, x, further(100, 120, visa)); got.Outcome != command.Done {
		t.Errorf("got %s %s, want %s", got.Outcome, got.Code, command.Done)
	}
	if payments, amount := f.taken(); payments != 1 || amount != 100 {
		t.Errorf("got %d payments of %d, want one of 100", payments, amount)
	}
}

// An order whose payments cannot all be read is refused, not paid twice.
func TestJoin_withoutAVisibleOrder(t *testing.T) {
	t.Parallel()
	f, x := setupOrder(t)
	f.add("k", "", 700, v1.TransactionStatusCaptured, nil)
	f.emptyLists = true
	if got := run(t, x, further(100, 120, visa)); got.Outcome != command.Refused ||
		got.Code != v1.CodeOperationInProgress {
		t.Errorf("got %s %s, want %s", got.Outcome, got.Code, v1.CodeOperationInProgress)
	}
	if payments, _ := f.taken(); payments != 1 || f.posts != 16 {
		t.Errorf("got %d payments and %d posts, want none and 16", payments-1, f.posts)
	}
}

// TestJoin_digest pays twice for an order by cards whose numbers have the same end. They are
// different cards, so the requests differ.
func TestJoin_digest(t *testing.T) {
	t.Parallel()
	digest := func(c command.Authorize) string {
		f, x := setupOrder(t)
		if got, want := run(t, x, c).Outcome, command.Done; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		return f.payments[0].Metadata["payment_digest"]
	}
	first := digest(further(100, 120, visa))
	if again := digest(further(100, 120, visa)); again != first || first == "" {
		t.Errorf("the same card: got %q, want %q", again, first)
	}
	if other := digest(further(100, 120, endsLikeVisa)); other == first {
		t.Errorf("another number that ends so: got %q too", other)
	}
	f, x := setupOrder(t)
	for _, card := range []string{visa, endsLikeVisa} {
		if got := run(t, x, further(100, 120, card)); got.Outcome != command.Done {
			t.Errorf("by the card %s: got %s, want it done", card, got.Outcome)
		}
	}
	if payments, amount := f.taken(); payments != 2 || amount != 200 {
		t.Errorf("got %d payments of %d, want 2 of 200", payments, amount)
	}
	if other := digest(further(100, 120, mastercard)); other == first {
		t.Errorf("another end: got %q too", other)
	}
}

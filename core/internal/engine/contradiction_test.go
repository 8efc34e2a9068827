package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// contradictions collects the contradictions that an engine reports to its observer.
type contradictions struct {
	engine.Observer
	mu   sync.Mutex
	seen []string // guarded by mu
}

func (c *contradictions) AcquirerContradicted(step payment.StepKind, what engine.Contradiction) {
	c.Observer.AcquirerContradicted(step, what)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, string(step)+" "+string(what))
}

// want checks the contradictions so far.
func (c *contradictions) want(t *testing.T, want ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.seen, want) {
		t.Errorf("contradictions: got %q, want %q", c.seen, want)
	}
}

// observed makes a service with an observer.
func observed(s *coretest.Service) *contradictions {
	c := &contradictions{Observer: s.Engine.Observer}
	s.Engine.Observer = c
	return c
}

// reportsDecline makes the acquirer report its next approval of a verb as a decline.
func reportsDecline(s *coretest.Service, v coretest.Verb) {
	var once sync.Once
	s.Acquirer.Report = func(c coretest.Call, a acquirer.Response) acquirer.Response {
		if c.Verb == v {
			once.Do(func() { a = acquirer.Response{ResponseCode: "05", DeclineCode: "generic_decline"} })
		}
		return a
	}
}

// metric returns the observer's name for a step.
func (st step) metric() string { return string(st.verb) }

// TestApprovalOfAFailedStep: the first attempt stalls, recovery repeats the step, and the acquirer
// reports a decline. Then the first attempt is approved. The step is recorded as done.
func TestApprovalOfAFailedStep(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		for mode, open := range modes() {
			t.Run(st.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := open(t)
				series := scraped(s)
				alerts := observed(s)
				txn := st.MustPrepare(t, s)
				first := true
				s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
					if c.Verb == st.verb && first {
						first = false
						reportsDecline(s, st.verb)
						s.Recover(t) //nolint:contextcheck // it is the test's
					}
					return nil
				}
				a, err := st.take(t.Context(), s, s.Request("k"), txn)
				if err != nil || a.Status != 504 {
					t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
				}
				heal(s)
				st.wantDone(t, s) // immediately, and not by the look
				lookUntilTheEnd(t, s)
				st.wantDone(t, s)
				alerts.want(t, st.metric()+" late_recorded")
				line := `causeway_acquirer_contradictions_total{kind="late_recorded",step="` + st.metric() + `"} 1`
				if !strings.Contains(series(), line) {
					t.Errorf("%s is not counted", line)
				}
				st.wantResponse(t, s, 402, true) // the first response stands
				st.wantDone(t, s)
			})
		}
	}
}

// TestLookAfterADecline: the first response is lost, and recovery gets a decline. Then an inquiry
// reports an approval.
func TestLookAfterADecline(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		for _, contradicts := range []bool{false, true} {
			for mode, open := range modes() {
				t.Run(fmt.Sprint(mode, " ", st.name, " ", contradicts), func(t *testing.T) {
					t.Parallel()
					s := open(t)
					alerts := observed(s)
					st.mustLoseOutcome(t, s, contradicts)
					reportsDecline(s, st.verb)
					if !contradicts {
						s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
					}
					if open := s.Recover(t); open != 0 {
						t.Fatalf("%d stay open", open)
					}
					st.wantResponse(t, s, 402, true)
					st.wantUndone(t, s)
					if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 1 {
						t.Errorf("%d looks are pending, want one", got)
					}
					lookUntilTheEnd(t, s)
					if !contradicts {
						st.wantUndone(t, s)
						alerts.want(t)
						return
					}
					st.wantDone(t, s)
					alerts.want(t, st.metric()+" late_recorded")
				})
			}
		}
	}
}

// TestLateStepAfterAnother: a declined step of 60 is found approved after another step took most of
// the rest. If its amount still fits, it is recorded; otherwise it is reversed. So the captures
// never exceed the authorization, and the refunds never exceed the captures.
func TestLateStepAfterAnother(t *testing.T) {
	t.Parallel()
	for _, verb := range []coretest.Verb{coretest.Capture, coretest.Refund} {
		for _, other := range []int64{39, 40, 41} {
			t.Run(fmt.Sprint(verb, " ", other), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				alerts := observed(s)
				if a, err := s.Pay(t.Context(), s.Request(""), 100, verb == coretest.Refund); err != nil || a.Status != 201 {
					t.Fatalf("got %d, %v", a.Status, err)
				}
				txn := MustTransaction(t, s).ID
				take := func(key string, amount int64) (engine.Result, error) {
					if verb == coretest.Refund {
						return s.Engine.Refund(t.Context(), s.Request(key), txn, 0, amount, []byte("{}"))
					}
					return s.Engine.Capture(t.Context(), s.Request(key), txn, amount, false, nil)
				}
				lose(s, verb, true, nil)
				if a, err := take("k", 60); err != nil || a.Status != 504 {
					t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
				}
				heal(s)
				reportsDecline(s, verb)
				s.Recover(t)
				heal(s)
				if a, err := take("l", other); err != nil || a.Status != 201 {
					t.Fatalf("the other: got %d %s, %v", a.Status, a.Body, err)
				}
				lookUntilTheEnd(t, s)
				wantSettledBooks(t, s)
				took, action := other+60, " late_recorded"
				if took > 100 {
					took, action = other, " late_reversed"
				}
				got := MustTransaction(t, s)
				recorded := map[coretest.Verb]int64{coretest.Refund: got.Refunded, coretest.Capture: got.Captured}[verb]
				if recorded != took {
					t.Errorf("booked: got %d, want %d", recorded, took)
				}
				alerts.want(t, string(verb)+action)
				if voids := s.Acquirer.Calls(coretest.Void); (len(voids) == 1) != (took == other) {
					t.Errorf("got %+v, want it reversed if it does not fit", voids)
				}
			})
		}
	}
}

// TestPendingStepKeepsItsAmount: while a refund of 60 is unknown, exactly 40 of 100 can be
// refunded.
func TestPendingStepKeepsItsAmount(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	txn := MustTransaction(t, s).ID
	lose(s, coretest.Refund, true, nil)
	for _, c := range []struct {
		amount int64
		status int
	}{{60, 504}, {41, 400}, {40, 504}, {1, 409}} {
		a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, c.amount, []byte("{}"))
		if err != nil || a.Status != c.status {
			t.Errorf("%d: got %d %s, %v, want %d", c.amount, a.Status, a.Body, err, c.status)
		}
	}
	heal(s)
	if open := s.Recover(t); open != 0 {
		t.Fatalf("%d stay open", open)
	}
	if got := MustTransaction(t, s); got.Refunded != 100 || s.Acquirer.Moved(coretest.Refund) != 100 {
		t.Errorf("refunded: got %d and %d at the acquirer, want 100", got.Refunded, s.Acquirer.Moved(coretest.Refund))
	}
	wantSettledBooks(t, s)
}

// TestApprovalOfAnotherAmount: an approval of an amount that was not requested is not recorded. The
// step stays open until the acquirer reports the requested amount.
func TestApprovalOfAnotherAmount(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		if st.verb == coretest.Void {
			continue
		}
		for _, more := range []int64{-1, 1} {
			t.Run(fmt.Sprint(st.name, " ", more), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				alerts := observed(s)
				txn := st.MustPrepare(t, s)
				s.Acquirer.Report = func(_ coretest.Call, a acquirer.Response) acquirer.Response { a.Amount += more; return a }
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
					t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
				}
				if open := s.Recover(t); open != 1 {
					t.Errorf("%d are open, want the step", open)
				}
				alerts.want(t, st.metric()+" other_amount", st.metric()+" other_amount")
				heal(s)
				if open := s.Recover(t); open != 0 {
					t.Errorf("%d stay open", open)
				}
				st.wantDone(t, s)
				st.wantResponse(t, s, st.success, true)
			})
		}
	}
}

// TestApprovalOfADeclinedPayment: the acquirer declines recovery's request for a payment and
// approves the first request. It is released.
func TestApprovalOfADeclinedPayment(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	alerts := observed(s)
	s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			heal(s)
			s.MustExec(t, "UPDATE transactions SET status = 'declined', claim = 0, version = 1") //nolint:contextcheck // the test's
			s.MustExec(t, "DELETE FROM idempotency_keys")                                        //nolint:contextcheck // the test's
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	lookUntilTheEnd(t, s)
	if got := s.Acquirer.HeldInAll(); got != 0 {
		t.Errorf("held: got %d, want nothing", got)
	}
	if got := MustTransaction(t, s); got.Status != payment.Declined {
		t.Errorf("got %s, want it declined", got.Status)
	}
	alerts.want(t, "authorize late_reversed")
}

// TestOneYen: the smallest amount of a currency without decimals is captured, found late and
// refunded once.
func TestOneYen(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a, err := s.Engine.Authorize(t.Context(), s.Request(""), engine.Payment{
		Amount: 1, Currency: "jpy", AutoCapture: true, PaymentMethod: "pm_card_visa", Details: []byte("{}"),
	})
	if err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	txn := MustTransaction(t, s).ID
	lose(s, coretest.Refund, true, nil)
	if a, err := s.Engine.Refund(t.Context(), s.Request("k"), txn, 0, 0, []byte("{}")); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	heal(s)
	reportsDecline(s, coretest.Refund)
	s.Recover(t)
	heal(s)
	lookUntilTheEnd(t, s)
	if a, err := s.Engine.Refund(t.Context(), s.Request("l"), txn, 0, 1, []byte("{}")); err != nil || a.Status != 409 {
		t.Errorf("a second refund: got %d %s, %v, want 409", a.Status, a.Body, err)
	}
	if got := MustTransaction(t, s); got.Refunded != 1 || s.Acquirer.Moved(coretest.Refund) != 1 {
		t.Errorf("refunded: got %d and %d at the acquirer, want 1", got.Refunded, s.Acquirer.Moved(coretest.Refund))
	}
	wantSettledBooks(t, s)
}

package engine_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// byPayment is an acquirer that finds no capture or void by its reference. An inquiry about one
// shows the state of the payment, as at the providers.
type byPayment struct {
	*coretest.Acquirer
	inquiries atomic.Int64
	undecided atomic.Bool // its records do not decide
}

func openByPayment(t *testing.T) (*coretest.Service, *byPayment) {
	t.Helper()
	s := coretest.OpenLive(t)
	u := &byPayment{Acquirer: s.Acquirer}
	s.Engine.Live = u
	return s, u
}

// Inquire implements acquirer.Acquirer.
func (u *byPayment) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	if about.Kind != acquirer.Void && about.Kind != acquirer.Capture {
		return u.Acquirer.Inquire(ctx, about)
	}
	u.inquiries.Add(1)
	switch {
	case about.Follow == nil || about.Follow.Original.ID == "":
		return acquirer.Response{}, acquirer.ErrUnknown
	case u.undecided.Load():
		return acquirer.Response{}, acquirer.ErrUndecided
	case about.Kind == acquirer.Capture && u.Moved(coretest.Capture) < about.Amount,
		about.Kind == acquirer.Void && u.Held(about.Follow.Original.Reference) > 0:
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	return acquirer.Response{Approved: true, ID: about.Follow.Original.ID, ResponseCode: "00", Amount: about.Amount}, nil
}

// ForPayment implements acquirer.Accounts.
func (u *byPayment) ForPayment(context.Context, int64, string, acquirer.Method) ([]acquirer.Account, error) {
	return []acquirer.Account{{ID: coretest.LiveAccount, Acquirer: u}}, nil
}

// Account implements acquirer.Accounts.
func (u *byPayment) Account(context.Context, int64, int64) (acquirer.Account, error) {
	return acquirer.Account{ID: coretest.LiveAccount, Acquirer: u}, nil
}

// capturesAndVoids returns the steps that a provider does not find by their reference.
func capturesAndVoids() []step {
	var out []step
	for _, st := range followUpSteps() {
		if st.verb != coretest.Refund {
			out = append(out, st)
		}
	}
	return out
}

// mustDeclineAgain loses the step of a payment before or after its effect. Recovery repeats it, and
// gets a decline.
func (st step) mustDeclineAgain(t *testing.T, s *coretest.Service, effect bool) {
	t.Helper()
	st.mustLoseOutcome(t, s, effect)
	if effect {
		reportsDecline(s, st.verb)
	} else {
		s.Acquirer.Decide = func(coretest.Call) string { return "processing_error" }
	}
	if open := s.Recover(t); open != 0 {
		t.Fatalf("%d stay open", open)
	}
	heal(s)
	st.wantUndone(t, s)
}

// TestLookByThePayment: a look for a capture or void reads the state of its payment. It ends
// after LateWindow if that shows no effect, and records an effect.
func TestLookByThePayment(t *testing.T) {
	t.Parallel()
	for _, st := range capturesAndVoids() {
		for _, effect := range []bool{false, true} {
			for _, by := range []string{"acquirer", "operator"} {
				t.Run(strings.Join([]string{st.name, map[bool]string{true: "effect"}[effect], by}, " "), func(t *testing.T) {
					t.Parallel()
					s, u := openByPayment(t)
					if by == "operator" {
						st.mustLoseOutcome(t, s, effect)
						s.Clock.Advance(engine.Patience)
						mustResolve(t, s, payment.StepKind(st.verb), engine.DecisionNoEffect)
					} else {
						st.mustDeclineAgain(t, s, effect)
					}
					began, voids := s.Clock.Now(), len(s.Acquirer.Calls(coretest.Void))
					lookUntilTheEnd(t, s)
					if got := len(s.Acquirer.Calls(coretest.Void)); st.verb == coretest.Void && got != voids {
						t.Errorf("sent %d voids, want none: a void cannot be dropped", got-voids)
					}
					if effect {
						st.wantDone(t, s)
						return
					}
					st.wantUndone(t, s)
					if got := s.Clock.Now().Sub(began); got < payment.LateWindow-time.Minute || u.inquiries.Load() < 33 {
						t.Errorf("looked for %s by %d inquiries, want a day and 33", got, u.inquiries.Load())
					}
				})
			}
		}
	}
}

// TestLateVoidByThePayment: a void whose repetition was declined arrives hours later. The look
// records it.
func TestLateVoidByThePayment(t *testing.T) {
	t.Parallel()
	for _, st := range capturesAndVoids() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s, u := openByPayment(t)
			st.mustDeclineAgain(t, s, false)
			for range 20 {
				look(t, s)
			}
			txn := MustTransaction(t, s)
			calls := s.Acquirer.Follows()
			late := calls[len(calls)-1]
			late.Reference += "_late" // the fake keeps the decline of the reference
			late.Tag, _ = s.Acquirer.Prepare(t.Context())
			late.Again = false
			var err error
			switch st.verb { //nolint:exhaustive // the others do not occur
			case coretest.Void:
				_, err = u.Void(t.Context(), late)
			case coretest.Capture:
				_, err = u.Capture(t.Context(), late)
			}
			if err != nil {
				t.Fatal(err)
			}
			lookUntilTheEnd(t, s)
			if got := MustTransaction(t, s); got.Status != st.status || got.Captured != st.captured {
				t.Errorf("got %s captured %d of %s, want %s %d", got.Status, got.Captured, txn.Status, st.status, st.captured)
			}
			wantSettledBooks(t, s)
		})
	}
}

// TestUndecidedLook: the acquirer's records do not decide about a step. After LateWindow recovery
// inquires no more, and one alert calls an operator. An operator ends the look.
func TestUndecidedLook(t *testing.T) {
	t.Parallel()
	for _, st := range capturesAndVoids() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s, u := openByPayment(t)
			alerts := observed(s)
			st.mustDeclineAgain(t, s, true)
			u.undecided.Store(true)
			waitForAnOperator(t, s)
			if got := u.inquiries.Load(); got != 33 {
				t.Errorf("inquired %d times, want 33", got)
			}
			alerts.want(t, st.metric()+" undecided")
			shown, f := mustUnfinished(t, s, payment.ReversalStep)
			if !shown.DueAt.Equal(payment.Never()) || !strings.Contains(shown.LastError, "do not decide") {
				t.Errorf("an operator sees %+v", shown)
			}
			d := engine.Resolution{Decision: engine.DecisionReleased, Reason: "statement of November 22, line 7"}
			if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != http.StatusOK {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
				t.Errorf("%d looks are pending, want none", got)
			}
			st.wantUndone(t, s)
		})
	}
}

// waitForAnOperator runs recovery for 60 days. The only look stays pending.
func waitForAnOperator(t *testing.T, s *coretest.Service) {
	t.Helper()
	for range 40 {
		if time.UnixMilli(s.Number(t, "SELECT due_at FROM reversals")).Equal(payment.Never()) {
			break
		}
		look(t, s)
	}
	for range 60 {
		s.Clock.Advance(24 * time.Hour)
		s.Recover(t)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 1 {
		t.Fatalf("%d looks are pending, want one", got)
	}
}

// TestUndecidedUntilLate: a look that was undecided for hours still records the effect that the
// acquirer then shows.
func TestUndecidedUntilLate(t *testing.T) {
	t.Parallel()
	for _, st := range capturesAndVoids() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s, u := openByPayment(t)
			st.mustDeclineAgain(t, s, true)
			u.undecided.Store(true)
			for range 32 {
				look(t, s)
			}
			u.undecided.Store(false)
			look(t, s)
			st.wantDone(t, s)
		})
	}
}

// TestOutageIsNoDecision: an acquirer without a response gets inquiries for longer than LateWindow.
func TestOutageIsNoDecision(t *testing.T) {
	t.Parallel()
	s, _ := openByPayment(t)
	st := capturesAndVoids()[len(capturesAndVoids())-1]
	st.mustDeclineAgain(t, s, true)
	s.Engine.Live = &silent{}
	for range 60 {
		s.Clock.Advance(24 * time.Hour)
		s.Recover(t)
	}
	s.Engine.Live = &byPayment{Acquirer: s.Acquirer}
	s.Clock.Advance(time.Hour)
	s.Recover(t)
	st.wantDone(t, s)
}

// silent is an account whose acquirer never responds.
type silent struct{ byPayment }

// Inquire implements acquirer.Acquirer.
func (*silent) Inquire(context.Context, acquirer.Sent) (acquirer.Response, error) {
	return acquirer.Response{}, acquirer.ErrUnknown
}

// Account implements acquirer.Accounts.
func (u *silent) Account(context.Context, int64, int64) (acquirer.Account, error) {
	return acquirer.Account{ID: coretest.LiveAccount, Acquirer: u}, nil
}

// TestVoidThatDoesNotFit: a look finds that a payment was voided after its refund. There is one
// alert at that time and one when recovery stops.
func TestVoidThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s, _ := openByPayment(t)
	alerts := observed(s)
	void := capturesAndVoids()[len(capturesAndVoids())-1]
	void.mustDeclineAgain(t, s, true)
	txn := MustTransaction(t, s).ID
	if a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, 60, []byte("{}")); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	waitForAnOperator(t, s)
	alerts.want(t, "void undecided", "void undecided")
}

// TestVoidOfALapsedAuthorization: a look finds the release of an authorization that has lapsed in
// the books. Nothing is left to decide.
func TestVoidOfALapsedAuthorization(t *testing.T) {
	t.Parallel()
	s, _ := openByPayment(t)
	alerts := observed(s)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	txn := MustTransaction(t, s).ID
	lose(s, coretest.Void, true, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request("k"), txn, nil); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	heal(s)
	reportsDecline(s, coretest.Void)
	s.Recover(t)
	s.Clock.Advance(payment.AuthorizationLifetime)
	if n, err := s.Engine.ExpireDue(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d authorizations have lapsed, %v", n, err)
	}
	s.Recover(t)
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
		t.Errorf("%d looks are pending, want none", got)
	}
	alerts.want(t)
	if got := MustTransaction(t, s).Status; got != payment.Expired {
		t.Errorf("got %s, want it expired", got)
	}
}

// TestLookThatFindsAnotherAmount: a look finds a capture of an amount that was not requested. It is
// not recorded, and waits for an operator.
func TestLookThatFindsAnotherAmount(t *testing.T) {
	t.Parallel()
	s, _ := openByPayment(t)
	st := capturesAndVoids()[0]
	st.mustDeclineAgain(t, s, true)
	s.Engine.Live = &another{byPayment{Acquirer: s.Acquirer}}
	alerts := observed(s)
	waitForAnOperator(t, s)
	st.wantUndone(t, s)
	if got := alerts.seen[len(alerts.seen)-1]; got != "capture undecided" || len(alerts.seen) != 34 {
		t.Errorf("got %d alerts, the last one %s, want one of each look and capture undecided", len(alerts.seen), got)
	}
}

// another is an account that shows one unit more than was captured.
type another struct{ byPayment }

// Inquire implements acquirer.Acquirer.
func (u *another) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	a, err := u.byPayment.Inquire(ctx, about)
	a.Amount++
	return a, err
}

// Account implements acquirer.Accounts.
func (u *another) Account(context.Context, int64, int64) (acquirer.Account, error) {
	return acquirer.Account{ID: coretest.LiveAccount, Acquirer: u}, nil
}

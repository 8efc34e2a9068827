package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// lagging is an acquirer that has processed a request, but reports it to inquiries only after the
// next release request. A void has no release request, so only the first inquiry finds nothing.
type lagging struct {
	*coretest.Acquirer
	hides   atomic.Bool
	inquiry func() // runs in each inquiry that finds nothing; nil for none
}

// Inquire implements acquirer.Acquirer.
func (l *lagging) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	a, err := l.Acquirer.Inquire(ctx, about)
	if err == nil && l.hides.Load() {
		if l.inquiry != nil {
			l.inquiry()
		}
		if about.Kind == acquirer.Void {
			l.hides.Store(false)
		}
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	return a, err
}

// Void implements acquirer.Acquirer.
func (l *lagging) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	if strings.HasPrefix(r.Reference, "reverse_") {
		l.hides.Store(false)
	}
	return l.Acquirer.Void(ctx, r)
}

// inFlight is a step whose first attempt is in flight at one core.
type inFlight struct {
	step
	first, second *coretest.Service
	acquirer      *lagging
	alerts        [2]*contradictions
}

// credits returns the step of an unlinked refund.
func credits() step {
	return step{
		name: "unlinked refund", verb: coretest.Credit, makes: true, success: 201,
		take: func(ctx context.Context, s *coretest.Service, r engine.Request, _ int64) (engine.Result, error) {
			return s.Engine.Credit(ctx, r, engine.Credit{Amount: 100, Currency: "usd", PaymentMethod: "card", Details: []byte("{}")})
		},
	}
}

func mustFlight(t *testing.T, st step) *inFlight {
	t.Helper()
	f := &inFlight{step: st, first: coretest.OpenShared(t)}
	on := true
	if err := f.first.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.UpdateMerchant(f.first.Tenant.Merchant, payment.MerchantChange{Cutoff: -1, UnlinkedRefunds: &on})
	}); err != nil {
		t.Fatal(err)
	}
	f.second = f.first.Beside(t)
	MustHeartbeat(t, f.second) // it leads, and considers the other core dead
	f.acquirer = &lagging{Acquirer: f.first.Acquirer}
	for i, s := range []*coretest.Service{f.first, f.second} {
		s.Engine.Test = f.acquirer
		f.alerts[i] = observed(s)
	}
	return f
}

// kind returns the step's kind among the unfinished steps.
func (f *inFlight) kind() payment.StepKind {
	if f.verb == coretest.Credit {
		return payment.RefundStep
	}
	return payment.StepKind(f.verb)
}

// effect returns the amount that the acquirer holds or has moved for the step: approvals that were
// not released.
func (f *inFlight) effect(t *testing.T) (sum int64) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range f.acquirer.Calls(f.verb) {
		if seen[c.Reference] {
			continue
		}
		seen[c.Reference] = true
		if f.verb == coretest.Void && !strings.HasPrefix(c.Reference, "void_") {
			continue // a release request of core
		}
		if a, err := f.acquirer.Acquirer.Inquire(t.Context(), acquirer.Sent{Reference: c.Reference}); err == nil && a.Approved && !a.Released {
			sum += a.Amount
		}
	}
	return sum
}

// inBooks returns the amount that the step moved by core's records.
func (f *inFlight) inBooks(t *testing.T) int64 {
	t.Helper()
	return f.first.Number(t, map[coretest.Verb]string{
		coretest.Authorize: "SELECT COALESCE(SUM(amount_authorized), 0) FROM transactions",
		coretest.Capture:   "SELECT COALESCE(SUM(amount_captured), 0) FROM transactions",
		coretest.Void:      "SELECT COALESCE(SUM(amount_authorized), 0) FROM transactions WHERE status = 'voided'",
		coretest.Refund:    "SELECT COALESCE(SUM(amount), 0) FROM refunds WHERE state = 'succeeded'",
		coretest.Credit:    "SELECT COALESCE(SUM(amount), 0) FROM refunds WHERE state = 'succeeded'",
	}[f.verb])
}

// TestOvertakenFirstAttempt: the first attempt at a step is in flight. Meanwhile recovery or an
// operator concludes the step without an effect, or an operator ends its pending reversal. Then the
// first attempt is approved, declined or unavailable. In the last case the acquirer approved it
// before, and released it at core's request. In the end the acquirer's books equal core's. An
// approval of a step that had failed, or that the acquirer had to drop, raises one alert.
func TestOvertakenFirstAttempt(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{"authorize": true, "capture": true, "void": true, "refund": true, "unlinked refund": true}
	for _, st := range append(steps(), credits()) {
		if !kinds[st.name] {
			continue
		}
		for _, by := range []string{"recovery", "declined", "no_effect", "dropped"} {
			for _, then := range []string{"approved", "declined", "unavailable", "approved and released"} {
				t.Run(st.name+" "+by+" "+then, func(t *testing.T) {
					t.Parallel()
					f := mustFlight(t, st)
					f.mustOvertake(t, by, then)
					lookUntilTheEnd(t, f.second)
					f.wantAgreement(t, then)
				})
			}
		}
	}
}

// mustOvertake takes the step on the first core. While its first attempt is in flight, the second
// core concludes it.
func (f *inFlight) mustOvertake(t *testing.T, by, then string) {
	t.Helper()
	txn := f.MustPrepare(t, f.first)
	a := f.first.Acquirer
	var sent atomic.Int64
	during := func(_ context.Context, c coretest.Call) error {
		if c.Verb != f.verb || sent.Add(1) != 1 {
			return nil
		}
		f.overtake(t, by, then) //nolint:contextcheck // the test's
		a.Report = nil
		if then == "unavailable" {
			return acquirer.ErrUnavailable
		}
		return nil
	}
	switch then {
	case "approved and released":
		f.acquirer.hides.Store(true)
		a.After = during
	case "declined", "unavailable":
		a.Before = during
		a.Decide = func(c coretest.Call) string {
			if c.Verb == f.verb && !strings.HasPrefix(c.Reference, "reverse_") {
				return "generic_decline"
			}
			return ""
		}
	default:
		a.Before = during
	}
	// The response depends on the case: a step without a result, or a decline.
	_, _ = f.take(t.Context(), f.first, f.first.Request("k"), txn)
	if sent.Load() == 0 {
		t.Fatal("the first attempt was not sent")
	}
	heal(f.first)
}

// overtake concludes the step without an effect.
func (f *inFlight) overtake(t *testing.T, by, then string) {
	t.Helper()
	f.second.Clock.Advance(engine.Patience)
	MustHeartbeat(t, f.second) // on a busy machine its leadership has ended
	if by != "recovery" && by != "dropped" {
		mustResolve(t, f.second, f.kind(), engine.Decision(by))
		if then == "approved and released" {
			f.second.Recover(t)
		}
		return
	}
	if f.verb != coretest.Authorize && f.verb != coretest.Credit && strings.HasPrefix(then, "approved") {
		reportsDecline(f.first, f.verb) // to recovery, which repeats these
	}
	f.second.Recover(t)
	if by == "dropped" {
		mustResolve(t, f.second, payment.ReversalStep, engine.DecisionReleased)
	}
}

// wantAgreement checks the books and the alerts.
func (f *inFlight) wantAgreement(t *testing.T, then string) {
	t.Helper()
	wantSettledBooks(t, f.first)
	effect := f.effect(t)
	if inBooks := f.inBooks(t); effect != inBooks {
		t.Errorf("the acquirer has %d, core %d", effect, inBooks)
	}
	if want := then == "approved" && f.verb != coretest.Authorize; want && effect == 0 {
		t.Error("the approval was not recorded")
	}
	var want []string
	switch {
	case f.verb == coretest.Authorize && strings.HasPrefix(then, "approved"):
		want = []string{"authorize late_reversed"}
	case effect > 0:
		want = []string{string(f.kind()) + " late_recorded"}
	}
	got := append(slices.Clone(f.alerts[0].seen), f.alerts[1].seen...)
	if !slices.Equal(got, want) {
		t.Errorf("alerts: got %q, want %q", got, want)
	}
}

// recoverUntil lets a core recover steps until one has begun. On a busy machine its leadership can
// end before.
func recoverUntil(t *testing.T, s *coretest.Service, begun <-chan struct{}) {
	t.Helper()
	for t.Context().Err() == nil {
		if err := s.Engine.Cluster.Heartbeat(t.Context()); err != nil {
			t.Error(err)
		}
		catchUp(t, s)
		select {
		case <-begun:
			return
		default:
		}
	}
}

// TestNoReleaseAfterTheRecord: while the inquiry of a look finds nothing, the first attempt is
// approved and recorded. Then the look requests no release.
func TestNoReleaseAfterTheRecord(t *testing.T) {
	t.Parallel()
	for _, st := range append(steps(), credits()) {
		if st.verb != coretest.Capture && st.verb != coretest.Refund && st.verb != coretest.Credit {
			continue
		}
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			f := mustFlight(t, st)
			txn := f.MustPrepare(t, f.first)
			inquires, recorded := make(chan struct{}), make(chan struct{})
			f.acquirer.inquiry = func() { close(inquires); <-recorded }
			f.acquirer.hides.Store(true)
			var recovery sync.WaitGroup
			f.first.Acquirer.After = func(_ context.Context, c coretest.Call) error {
				if c.Verb == f.verb {
					f.second.Clock.Advance(engine.Patience)
					mustResolve(t, f.second, f.kind(), engine.DecisionNoEffect) //nolint:contextcheck // the test's
					recovery.Go(func() { recoverUntil(t, f.second, inquires) }) //nolint:contextcheck // the test's
					<-inquires
				}
				return nil
			}
			a, err := f.take(t.Context(), f.first, f.first.Request("k"), txn)
			if err != nil || a.Status != 504 {
				t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			close(recorded)
			recovery.Wait()
			heal(f.first)
			if got := f.first.Acquirer.Calls(coretest.Void); len(got) != 0 {
				t.Errorf("got %+v, want no release request", got)
			}
			f.wantAgreement(t, "approved")
		})
	}
}

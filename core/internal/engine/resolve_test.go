package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// operatorRequest returns a request of an operator.
func operatorRequest(s *coretest.Service) engine.Request {
	r := s.Request("")
	r.Tenant, r.Actor = engine.Operator(), audit.Actor{Name: "operator alice"}
	return r
}

// mustUnfinished returns the only unfinished step of a kind, and a filter that selects it by its
// name.
func mustUnfinished(t *testing.T, s *coretest.Service, kind payment.StepKind) (payment.Unfinished, payment.UnfinishedFilter) {
	t.Helper()
	found, err := s.DB.UnfinishedSteps(t.Context(), payment.UnfinishedFilter{Kind: kind}, 10)
	if err == nil && len(found) == 0 && kind == payment.RefundStep { // an unlinked refund
		found, err = s.DB.UnfinishedSteps(t.Context(), payment.UnfinishedFilter{Kind: "credit"}, 10)
	}
	if err != nil || len(found) != 1 {
		t.Fatalf("unfinished %s: got %+v, %v, want one", kind, found, err)
	}
	f, err := engine.ParseStep(engine.StepName(found[0].Step))
	if err != nil {
		t.Fatal(err)
	}
	return found[0], f
}

// TestResolveStep: each kind of step that the acquirer can never decide is resolved in each way.
// The books agree. A retry under its key gets the stored response, or the key is free. The commit
// has one audit record, and recovery only has to look for an effect.
func TestResolveStep(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for _, end := range []engine.Decision{engine.DecisionApproved, engine.DecisionDeclined, engine.DecisionNoEffect} {
			t.Run(st.name+" "+string(end), func(t *testing.T) {
				t.Parallel()
				resolveOne(t, st, end)
			})
		}
	}
}

func resolveOne(t *testing.T, st step, end engine.Decision) {
	t.Helper()
	s := coretest.Open(t)
	r := serving(t, s)
	st.mustLoseOutcome(t, s, end == engine.DecisionApproved)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return errForGood }
	s.Clock.Advance(time.Second)
	pass(t, r, 1)
	u, f := mustUnfinished(t, s, payment.StepKind(st.verb))
	if u.Attempts != 1 || u.Running || !strings.Contains(u.LastError, errForGood.Error()) || u.NextAt.Sub(u.BegunAt) != time.Second {
		t.Errorf("shown: got %+v", u)
	}
	d := engine.Resolution{Decision: end, Reason: "statement of November 22, line 7"}
	if _, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); !errors.Is(err, engine.ErrStepRunning) {
		t.Errorf("while its request may run: got %v, want %v", err, engine.ErrStepRunning)
	}
	s.Clock.Advance(engine.Patience)
	if end == engine.DecisionApproved { // the attempt may have ended the step after these records, or until Patience was over
		d.AsOf = s.Clock.Now().Add(-time.Millisecond)
		if _, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); !errors.Is(err, engine.ErrOutdated) {
			t.Errorf("with records from before the attempt: got %v, want %v", err, engine.ErrOutdated)
		}
		d.AsOf = s.Clock.Now().Add(time.Hour) // by another clock
	}
	if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != 200 {
		t.Fatalf("resolve: got %d %s, %v", a.Status, a.Body, err)
	}
	if _, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("again: got %v, want %v", err, payment.ErrNotFound)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM step_attempts"); got != 0 {
		t.Errorf("attempts: got %d, want none", got)
	}
	got := s.Texts(t, "SELECT actor || ' ' || outcome FROM audit_records WHERE action = 'steps.resolve'")
	if len(got) != 1 || got[0] != "operator alice done" {
		t.Errorf("audit records: got %q", got)
	}
	heal(s)
	if end == engine.DecisionApproved {
		st.wantDone(t, s)
		if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
			t.Errorf("reversals: got %d, want none", got)
		}
		return
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 1 {
		t.Errorf("reversals: got %d, want a look for the effect", got)
	}
	lookUntilTheEnd(t, s)
	wantSettledBooks(t, s)
}

// TestResolutionWithATakenIDPostgreSQL: a resolution draws an id for an event that another core has
// used. It is written with other ids.
func TestResolutionWithATakenIDPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenOnce(t)
	r := serving(t, s)
	steps()[1].mustLoseOutcome(t, s, true)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return errForGood }
	s.Clock.Advance(time.Second)
	pass(t, r, 1)
	_, f := mustUnfinished(t, s, payment.AuthorizeStep)
	s.Clock.Advance(engine.Patience)
	s.MustExec(t, "CREATE SEQUENCE taken_ids")
	s.MustExec(t, `CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN IF nextval(''taken_ids'') = 1 THEN RAISE unique_violation; END IF; RETURN NEW; END'`)
	s.MustExec(t, "CREATE TRIGGER taken BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION taken()")
	d := engine.Resolution{Decision: engine.DecisionApproved, Reason: "statement of November 22, line 7", AsOf: s.Clock.Now()}
	if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != 200 {
		t.Fatalf("resolve: got %d %s, %v", a.Status, a.Body, err)
	}
	wantNumber(t, s, "ids that were drawn", "SELECT last_value FROM taken_ids", 2)
	wantNumber(t, s, "audit records", "SELECT COUNT(*) FROM audit_records WHERE action = 'steps.resolve'", 1)
}

// TestResolveReversal: an operator ends a release that the acquirer never makes, because a
// statement shows that it holds nothing.
func TestResolveReversal(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	r := serving(t, s)
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v, want 504", a.Status, err)
	}
	heal(s)
	s.Clock.Advance(time.Second)
	pass(t, r, 1)
	_, f := mustUnfinished(t, s, payment.ReversalStep)
	d := engine.Resolution{Decision: engine.DecisionApproved, Reason: "statement of November 22, line 7", AsOf: s.Clock.Now()}
	if _, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); !errors.Is(err, engine.ErrDecision) {
		t.Errorf("approved: got %v, want %v", err, engine.ErrDecision)
	}
	d.Decision = engine.DecisionReleased
	if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != 200 {
		t.Fatalf("released: got %d %s, %v", a.Status, a.Body, err)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
		t.Errorf("reversals: got %d, want none", got)
	}
	wantSettledBooks(t, s)
}

// TestResolveWhileRecoveryTries: an operator cannot end a step while recovery waits for the
// acquirer, and can after it has failed.
func TestResolveWhileRecoveryTries(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	r := serving(t, s)
	lose(s, coretest.Authorize, true, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v, want 504", a.Status, err)
	}
	s.Clock.Advance(time.Hour)
	_, f := mustUnfinished(t, s, payment.AuthorizeStep)
	d := engine.Resolution{Decision: engine.DecisionNoEffect, Reason: "statement of November 22, line 7"}
	s.Acquirer.Before = func(ctx context.Context, _ coretest.Call) error {
		if _, err := s.Engine.ResolveStep(ctx, operatorRequest(s), f, d); !errors.Is(err, engine.ErrStepRunning) {
			t.Errorf("while recovery tries: got %v, want %v", err, engine.ErrStepRunning)
		}
		return errForGood
	}
	pass(t, r, 1)
	if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != 200 {
		t.Fatalf("after it: got %d %s, %v", a.Status, a.Body, err)
	}
	heal(s)
	pass(t, r, 1) // the look finds the approval, and releases it
	if got := s.Acquirer.Moved(coretest.Void); got != 100 {
		t.Errorf("released at the acquirer: got %d, want 100", got)
	}
	wantSettledBooks(t, s)
}

// TestApprovedTooMuchIsShown: a payment that the acquirer approves for more than was requested
// stays unfinished, shows the reason, and can be resolved.
func TestApprovedTooMuchIsShown(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	r := serving(t, s)
	s.Acquirer.Grant = func(c coretest.Call) int64 { return c.Amount + 1 }
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v, want 504", a.Status, err)
	}
	s.Clock.Advance(time.Minute)
	pass(t, r, 1)
	u, f := mustUnfinished(t, s, payment.AuthorizeStep)
	if !strings.Contains(u.LastError, "approved 101") {
		t.Errorf("last error: got %q, want the amount in it", u.LastError)
	}
	s.Clock.Advance(engine.Patience)
	d := engine.Resolution{Decision: engine.DecisionApproved, Reason: "the acquirer took 100, by its statement", AsOf: s.Clock.Now()}
	if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != 200 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	if got := MustTransaction(t, s); got.Status != payment.Captured || got.Captured != 100 {
		t.Errorf("got %s with %d captured, want captured with 100", got.Status, got.Captured)
	}
	wantSettledBooks(t, s)
}

// TestResolveApprovedExpires: an authorization that an operator records as approved expires after
// the default lifetime, counted from its request. The cases are a created and a confirmed payment.
func TestResolveApprovedExpires(t *testing.T) {
	t.Parallel()
	for _, confirmed := range []bool{false, true} {
		s := coretest.Open(t)
		lose(s, coretest.Authorize, true, nil)
		var a engine.Result
		var err error
		if confirmed {
			txn := MustWait(t, s)
			s.MustExec(t, "UPDATE transactions SET auto_capture = 0")
			a, err = s.Confirm(t.Context(), s.Request("k"), txn)
		} else {
			a, err = s.Pay(t.Context(), s.Request("k"), 100, false)
		}
		if err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v, want 504", a.Status, err)
		}
		begun := s.Clock.Now()
		s.Clock.Advance(time.Hour)
		mustResolve(t, s, payment.AuthorizeStep, engine.DecisionApproved)
		want := begun.Add(7 * 24 * time.Hour)
		if got := MustTransaction(t, s); got.Status != payment.Authorized || !got.Result.ExpiresAt.Equal(want) {
			t.Errorf("confirmed %t: got %s until %v, want authorized until %v", confirmed, got.Status, got.Result.ExpiresAt, want)
		}
		heal(s)
		for _, step := range []struct {
			wait time.Duration
			want payment.Status
		}{{7*24*time.Hour - time.Hour - time.Second, payment.Authorized}, {time.Second, payment.Expired}} {
			s.Clock.Advance(step.wait)
			if _, err := s.Engine.ExpireDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := MustTransaction(t, s).Status; got != step.want {
				t.Errorf("confirmed %t: got %s, want %s", confirmed, got, step.want)
			}
		}
	}
}

// TestResolveConfirmation: a confirmation that an operator ends is final, because the acquirer has
// not proved that it has no effect. Its token stays used.
func TestResolveConfirmation(t *testing.T) {
	t.Parallel()
	for end, want := range map[engine.Decision]payment.Status{
		engine.DecisionNoEffect: payment.Failed, engine.DecisionDeclined: payment.Declined,
	} {
		for _, dies := range []bool{false, true} {
			s := coretest.Open(t)
			token := MustToken(t, s, "")
			txn := MustWait(t, s)
			var dir string
			lose(s, coretest.Authorize, false, func() { dir = s.Snapshot(t) })
			if a, err := confirmBy(t.Context(), s, "k", txn, token); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v, want 504", a.Status, err)
			}
			heal(s)
			if dies { // the payment is still processing
				s = s.Revive(t, dir)
			}
			s.Clock.Advance(engine.Patience)
			mustResolve(t, s, payment.AuthorizeStep, end)
			if got := MustTransaction(t, s); got.Status != want || got.Version != 1 {
				t.Errorf("%s, dies %t: got %s version %d, want %s", end, dies, got.Status, got.Version, want)
			}
			if _, err := payBy(t.Context(), s, "", token); !errors.Is(err, payment.ErrTokenUsed) {
				t.Errorf("%s: got %v, want %v", end, err, payment.ErrTokenUsed)
			}
			lookUntilTheEnd(t, s)
			wantSettledBooks(t, s)
		}
	}
}

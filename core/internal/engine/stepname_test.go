package engine_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestStepIsNamedAsAtTheAcquirer: an operator sees the reference that the acquirer got for the
// attempt. That also holds for a void and for a later attempt to confirm a payment. The name
// selects only this step.
func TestStepIsNamedAsAtTheAcquirer(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			st.mustLoseOutcome(t, s, true)
			found, err := s.DB.UnfinishedSteps(t.Context(), payment.UnfinishedFilter{}, 10)
			if err != nil || len(found) != 1 {
				t.Fatalf("unfinished steps: got %+v, %v, want one", found, err)
			}
			calls := s.Acquirer.Calls(st.verb)
			want := calls[len(calls)-1].Reference
			if name, shown := engine.StepName(found[0].Step), engine.StepReference(&found[0]); name != want || shown != want {
				t.Errorf("got the name %s and the reference %s, want %s", name, shown, want)
			}
			wantStep(t, s, want, 1)
			for _, other := range []payment.StepID{
				{Kind: payment.AuthorizeStep, Transaction: found[0].Transaction, Attempt: found[0].Step.Attempt + 2},
				{Kind: payment.AuthorizeStep, Transaction: found[0].Transaction, Attempt: found[0].Step.Attempt - 1},
				{Kind: payment.VoidStep, Transaction: found[0].Transaction, ID: found[0].Step.ID + 1},
				{Kind: payment.CaptureStep, ID: found[0].Step.ID + 1},
				{Kind: payment.VoidStep, Transaction: found[0].Transaction + 1, ID: found[0].Step.ID + 1},
			} {
				if name := engine.StepName(other); name != want {
					wantStep(t, s, name, 0)
				}
			}
		})
	}
}

// wantStep checks the number of unfinished steps with a name.
func wantStep(t *testing.T, s *coretest.Service, name string, want int) {
	t.Helper()
	f, err := engine.ParseStep(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if found, err := s.DB.UnfinishedSteps(t.Context(), f, 10); err != nil || len(found) != want {
		t.Errorf("%s: got %d steps, %v, want %d", name, len(found), err, want)
	}
}

// TestReversalShowsWhatItReverses: an operator sees the reference of the reversed step, which the
// acquirer has.
func TestReversalShowsWhatItReverses(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			st.mustLoseOutcome(t, s, true)
			calls := s.Acquirer.Calls(st.verb)
			want := calls[len(calls)-1].Reference
			s.Clock.Advance(engine.Patience)
			if _, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), mustParseStep(t, want),
				engine.Resolution{Decision: engine.DecisionNoEffect, Reason: "statement of today"}); err != nil {
				t.Fatal(err)
			}
			reversal, f := mustUnfinished(t, s, payment.ReversalStep)
			if got := engine.StepReference(&reversal); got != want {
				t.Errorf("the reversed step: got %s, want %s", got, want)
			}
			if f.ID != reversal.Step.ID {
				t.Errorf("the name selects %d, want %d", f.ID, reversal.Step.ID)
			}
		})
	}
}

func mustParseStep(t *testing.T, name string) payment.UnfinishedFilter {
	t.Helper()
	f, err := engine.ParseStep(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParseStepRefuses(t *testing.T) {
	t.Parallel()
	const n = "0000000000007"
	for _, name := range []string{
		"", "txn", "txn_", "txn_7", "txn_" + n + "_", "txn_" + n + "_1", "txn_" + n + "_02", "txn_" + n + "_x", "txn_" + n + "_2_2", "void_" + n,
		"void_" + n + "_", "void_" + n + "_7", "void_" + n + "_" + n + "_" + n, "cap_" + n + "_2", "re_" + n + "_2", "rev_", "part_" + n, "mer_" + n,
	} {
		if f, err := engine.ParseStep(name); !errors.Is(err, id.ErrMalformed) {
			t.Errorf("%q: got %+v, %v, want %v", name, f, err, id.ErrMalformed)
		}
	}
}

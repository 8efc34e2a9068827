package api_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestStepWaitsForOperator: a step without a further attempt waits for an operator, until it is
// resolved. A step before its first attempt does not.
func TestStepWaitsForOperator(t *testing.T) {
	t.Parallel()
	soon := birth.Add(time.Minute)
	reversal := payment.StepAttempt{Step: payment.StepID{Kind: payment.ReversalStep, ID: 1}, NextAt: soon}
	for name, c := range map[string]struct {
		step  payment.Unfinished
		d     *engine.Resolution
		waits bool
		next  time.Time
	}{
		"before an attempt": {payment.Unfinished{StepAttempt: payment.StepAttempt{Step: payment.StepID{Kind: payment.CaptureStep}}}, nil, false, time.Time{}},
		"a pause":           {payment.Unfinished{StepAttempt: reversal, DueAt: soon.Add(1)}, nil, false, soon.Add(1)},
		"undecided":         {payment.Unfinished{StepAttempt: reversal, DueAt: payment.Never()}, nil, true, time.Time{}},
		"resolved":          {payment.Unfinished{StepAttempt: reversal, DueAt: payment.Never()}, &engine.Resolution{}, false, time.Time{}},
	} {
		got := api.ShowStep(&c.step, c.d)
		next := time.Time{}
		if got.NextAttemptAt != nil {
			next = got.NextAttemptAt.Time
		}
		if got.WaitsForOperator != c.waits || !next.Equal(c.next) {
			t.Errorf("%s: got %t, next %s, want %t, next %s", name, got.WaitsForOperator, next, c.waits, c.next)
		}
	}
}

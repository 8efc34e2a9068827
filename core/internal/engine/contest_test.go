package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// raceGroup races are prepared together, and raceWidth run at a time, so that they share commits.
const (
	raceGroup = 50
	raceWidth = 16
)

// raceRounds is how often each race runs on one store.
var raceRounds = coretest.Races(2 * raceGroup)

// manyRounds is how many rounds show more than one outcome on every machine.
const manyRounds = 8 * raceGroup

// action is a step that a client takes.
type action = func(context.Context) (engine.Result, error)

// contest is one repetition of a race.
type contest struct {
	steps   []action
	objects []int64 // the objects of the steps
}

// race is a contest that runs many times.
type race struct {
	prepare func(ctx context.Context, i int) (contest, error) // of one repetition; a group is prepared together
	after   func(objects []int64) string                      // the state after a repetition
	pass    func(context.Context) (int, error)                // a pass over all objects of a group, run during their steps; nil for none
}

// run returns how often each outcome occurred: the results of all steps, and the state after them.
// Every other repetition begins with its last step. Two repetitions of each group run their steps
// one after the other, so that each side wins sometimes on any machine.
func (r race) run(t *testing.T) map[string]int {
	t.Helper()
	outcomes := map[string]int{}
	for first := 0; first < raceRounds; first += raceGroup {
		contests := make([]contest, raceGroup)
		atOnce(t, raceGroup, func(ctx context.Context, i int) (err error) {
			contests[i], err = r.prepare(ctx, first+i)
			return err
		})
		for i, results := range r.take(t, contests) {
			outcomes[strings.Join(results, " ")+": "+r.after(contests[i].objects)]++
		}
	}
	return outcomes
}

// take takes the steps of the contests, the steps of one contest at the same time, and returns
// their results.
func (r race) take(t *testing.T, contests []contest) [][]string {
	t.Helper()
	results := make([][]string, len(contests))
	next := make(chan int)
	var wg sync.WaitGroup
	for range raceWidth {
		wg.Go(func() {
			for i := range next {
				results[i] = contests[i].take(t, i%2 == 1, i < 2)
			}
		})
	}
	for i := range contests {
		if r.pass != nil && i == raceWidth { // some are through by then, and some have not begun
			wg.Go(func() {
				if _, err := r.pass(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return results
}

// take starts the steps in their order or in reverse, concurrently. With sequential, each step
// begins after the result of the step before it.
func (c contest) take(t *testing.T, backwards, sequential bool) []string {
	t.Helper()
	results := make([]string, len(c.steps))
	var wg sync.WaitGroup
	for i := range c.steps {
		if backwards {
			i = len(c.steps) - 1 - i
		}
		wg.Go(func() {
			a, err := c.steps[i](t.Context())
			results[i] = mustSay(t, a, err)
		})
		if sequential {
			wg.Wait()
		}
	}
	wg.Wait()
	return results
}

// atOnce runs n of a thing at the same time.
func atOnce(t *testing.T, n int, do func(ctx context.Context, i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := do(t.Context(), i); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// mustSay returns a result in one word: its status, or the name of a refusal in which a race may
// end.
func mustSay(t *testing.T, a engine.Result, err error) string {
	t.Helper()
	for name, refusal := range map[string]error{
		"token_used": payment.ErrTokenUsed, "no_source": payment.ErrNoSource, "not_found": payment.ErrNotFound,
		"key_reused": engine.ErrKeyReused, "key_in_use": engine.ErrKeyInUse,
	} {
		if errors.Is(err, refusal) {
			return name
		}
	}
	if changed := (*engine.VersionError)(nil); errors.As(err, &changed) {
		return changed.Code
	}
	if err != nil {
		t.Error(err)
	}
	if a.Replayed {
		return "replay"
	}
	return fmt.Sprint(a.Status)
}

// wantOutcomes accepts only these outcomes. In many rounds it wants more than one of them: which
// side is faster depends on the machine. An outcome of must that did not occur is logged.
func wantOutcomes(t *testing.T, got map[string]int, must []string, may ...string) {
	t.Helper()
	for outcome, n := range got {
		t.Logf("%4d times %s", n, outcome)
		if !slices.Contains(must, outcome) && !slices.Contains(may, outcome) {
			t.Errorf("%d times %q, want never", n, outcome)
		}
	}
	for _, outcome := range must {
		if got[outcome] == 0 {
			t.Logf("never %q", outcome)
		}
	}
	if raceRounds >= manyRounds && len(must) > 1 && len(got) < 2 {
		t.Errorf("in %d rounds nothing but this, whoever comes first", raceRounds)
	}
}

// made returns the number of the object in a result, or an error for another result.
func made(prefix id.Prefix, a engine.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	var shown struct {
		ID   string         `json:"id"`
		Rest map[string]any `json:",embed"`
	}
	if err := json.Unmarshal(a.Body, &shown); err != nil || a.Status != 201 {
		return 0, fmt.Errorf("prepare: %d, %w", a.Status, err)
	}
	return id.Parse(prefix, shown.ID)
}

// paid makes a payment and returns its number.
func paid(ctx context.Context, s *coretest.Service, amount int64, capture bool) (int64, error) {
	a, err := s.Pay(ctx, s.Request(""), amount, capture)
	return made(id.Transaction, a, err)
}

// books returns the state of a transaction.
func books(t *testing.T, s *coretest.Service) func(objects []int64) string {
	t.Helper()
	return func(objects []int64) string {
		got := mustTransaction(t, s, objects[0])
		if got.CapturePending+got.RefundPending != 0 {
			t.Errorf("pending: %d to capture, %d to refund", got.CapturePending, got.RefundPending)
		}
		return fmt.Sprintf("%s, %d captured, %d refunded, %d settled", got.Status, got.Captured, got.Refunded, got.Settled)
	}
}

package engine_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// reclaimed takes a step whose first attempt stalls before it is sent. Meanwhile the recovery of
// another service repeats the step, and the acquirer approves the repeated request. The first
// attempt then fails with an error, or is declined if that is nil, before the approval is
// committed. The approval fails with lost unless that is nil. It returns the response to the first
// attempt.
func reclaimed(t *testing.T, v coretest.Verb, by *coretest.Service, fails, lost error, take func() (engine.Result, error)) (engine.Result, error) {
	t.Helper()
	approved, failed := make(chan struct{}), make(chan struct{})
	var sent, repeated atomic.Int64
	var recovery sync.WaitGroup
	by.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb != v || sent.Add(1) != 1 {
			return nil
		}
		if by.Cluster != nil {
			mustLead(t, by) //nolint:contextcheck // the test's
		}
		recovery.Go(func() { catchUp(t, by) }) //nolint:contextcheck // the test's
		<-approved
		return fails
	}
	by.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb == v && repeated.Add(1) == 1 {
			close(approved)
			<-failed
			return lost
		}
		return nil
	}
	if fails == nil {
		reportsDecline(by, v) // the first reported result is for the first attempt
	}
	a, err := take()
	close(failed)
	recovery.Wait()
	heal(by)
	return a, err
}

// TestFirstAttemptOfAReclaimedStep: the first attempt certainly had no effect, but recovery has
// sent the step again. The first attempt must not fail the step.
func TestFirstAttemptOfAReclaimedStep(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			a, err := reclaimed(t, st.verb, s, acquirer.ErrUnavailable, nil, func() (engine.Result, error) {
				return st.take(t.Context(), s, s.Request("k"), txn)
			})
			if err != nil || a.Status != 504 {
				t.Errorf("the first attempt: got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			if got := s.Recover(t); got != 0 {
				t.Errorf("%d stay open", got)
			}
			st.wantDone(t, s)
			st.wantResponse(t, s, st.success, true)
			st.wantDone(t, s)
		})
	}
}

// TestReclaimBetweenTwoCores is TestFirstAttemptOfAReclaimedStep with two cores that share a
// server. The second core considers the first one dead.
func TestReclaimBetweenTwoCores(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			first := coretest.OpenShared(t)
			second := first.Beside(t)
			MustHeartbeat(t, first, second)
			txn := st.MustPrepare(t, first)
			a, err := reclaimed(t, st.verb, second, acquirer.ErrUnavailable, nil, func() (engine.Result, error) {
				return st.take(t.Context(), first, first.Request("k"), txn)
			})
			if err != nil || a.Status != 504 {
				t.Errorf("the first core: got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			st.wantDone(t, first)
			st.wantResponse(t, first, st.success, true)
			st.wantDone(t, first)
		})
	}
}

// mustLead lets a core write heartbeats until it leads and considers every silent core dead.
func mustLead(t *testing.T, s *coretest.Service) {
	t.Helper()
	s.Clock.Advance(time.Second)
	programtest.WaitFor(t, "the core leads", func() bool {
		MustHeartbeat(t, s)
		return s.Cluster.Leads()
	})
	for range 6 {
		MustHeartbeat(t, s)
	}
}

// catchUp is Recover for goroutines other than the test's.
func catchUp(t *testing.T, s *coretest.Service) {
	t.Helper()
	if err := s.Engine.NewRecovery().CatchUp(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
}

// TestUnavailableBeforeAReclaim: if recovery has not claimed the step, a first attempt without
// effect closes it and frees its key.
func TestUnavailableBeforeAReclaim(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); !errors.Is(err, engine.ErrAcquirerUnavailable) {
				t.Errorf("got %d %s, %v", a.Status, a.Body, err)
			}
			heal(s)
			if got := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys"); got != 0 {
				t.Errorf("%d keys stay", got)
			}
			if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
				t.Errorf("%d reversals are pending", got)
			}
			st.wantUndone(t, s)
		})
	}
}

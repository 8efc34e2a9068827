package engine_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// errForGood is an acquirer's error for a request that it can never decide.
var errForGood = errors.New("the account is closed")

// stuck makes an acquirer fail permanently for the references of some steps, and counts the
// attempts at each.
type stuck struct {
	mu       sync.Mutex
	closed   map[string]bool // guarded by mu
	attempts map[string]int  // guarded by mu
}

func (k *stuck) before(_ context.Context, c coretest.Call) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.attempts[c.Reference]++
	if k.closed[c.Reference] {
		return errForGood
	}
	return nil
}

// mustLose makes n payments of a tenant whose responses are lost, and returns the references of
// their authorizations.
func mustLose(t *testing.T, s *coretest.Service, tenant payment.Tenant, n int) []string {
	t.Helper()
	before := len(s.Acquirer.Calls(coretest.Authorize))
	lose(s, coretest.Authorize, true, nil)
	var payers sync.WaitGroup
	for range 10 {
		payers.Go(func() {
			for range n / 10 {
				r := s.Request("")
				r.Tenant = tenant
				if a, err := s.Pay(t.Context(), r, 100, true); err != nil || a.Status != 504 {
					t.Errorf("pay: got %d, %v, want 504", a.Status, err)
				}
			}
		})
	}
	payers.Wait()
	heal(s)
	var references []string
	for _, c := range s.Acquirer.Calls(coretest.Authorize)[before:] {
		references = append(references, c.Reference)
	}
	return references
}

func (k *stuck) close(references []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range references {
		k.closed[r] = true
	}
}

func newStuck() *stuck { return &stuck{closed: map[string]bool{}, attempts: map[string]int{}} }

// rounds makes passes until the given time has passed. The service ticks between two passes.
func rounds(t *testing.T, s *coretest.Service, r *engine.Recovery, long time.Duration) {
	t.Helper()
	for end := s.Clock.Now().Add(long); s.Clock.Now().Before(end); s.Clock.Advance(250 * time.Millisecond) {
		if _, err := r.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Wait()
	}
}

// capturedOf counts the captured payments of a tenant.
func capturedOf(t *testing.T, s *coretest.Service, tenant payment.Tenant) int64 {
	t.Helper()
	const query = "SELECT COUNT(*) FROM transactions WHERE merchant_id = ? AND status = 'captured'"
	return s.Number(t, query, tenant.Merchant)
}

// TestHeadOfLine: payments that the acquirer can never decide delay no refund, no later payment of
// the same merchant and no other merchant. They are retried with growing pauses.
func TestHeadOfLine(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	paid := mustPay(t, s, true)
	k := newStuck()
	k.close(mustLose(t, s, s.Tenant, 220))
	lose(s, coretest.Refund, true, nil)
	if a, err := s.Engine.Refund(t.Context(), s.Request("r"), paid, 0, 100, []byte("{}")); err != nil || a.Status != 504 {
		t.Fatalf("refund: got %d, %v, want 504", a.Status, err)
	}
	heal(s)
	later := mustLose(t, s, s.Tenant, 10)
	other := mustMerchant(t, s)
	mustLose(t, s, other, 10)
	s.Acquirer.Before = k.before
	s.Clock.Advance(time.Second)
	r := s.Engine.NewRecovery()
	r.Serve()
	rounds(t, s, r, time.Second)
	if got := s.Texts(t, "SELECT state FROM refunds"); got[0] != "succeeded" {
		t.Errorf("the refund after a second: got %s, want succeeded", got)
	}
	if got := capturedOf(t, s, other); got != 10 {
		t.Errorf("the other merchant's payments after a second: got %d captured, want 10", got)
	}
	rounds(t, s, r, time.Minute)
	if got := capturedOf(t, s, s.Tenant); got != int64(len(later))+1 {
		t.Errorf("the merchant's payments after a minute: got %d captured, want %d", got, len(later)+1)
	}
	if got := s.Open(t); got != 220 {
		t.Errorf("unfinished: got %d, want 220", got)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for reference := range k.closed {
		if got := k.attempts[reference]; got < 2 || got > 7 {
			t.Errorf("attempts at %s in a minute: got %d, want 2 to 7", reference, got)
		}
	}
}

// TestStuckKindDelaysNoOther: refunds that the acquirer can never decide come first in each pass.
// One pass still finishes the merchant's capture, void and payments.
func TestStuckKindDelaysNoOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	paid, held, voided := mustPay(t, s, true), mustPay(t, s, false), mustPay(t, s, false)
	lose(s, coretest.Refund, true, nil)
	for range 30 {
		a, err := s.Engine.Refund(t.Context(), s.Request(""), paid, 0, 1, []byte("{}"))
		if err != nil || a.Status != 504 {
			t.Fatalf("refund: got %d, %v, want 504", a.Status, err)
		}
	}
	lose(s, coretest.Capture, true, nil)
	if a, err := s.Engine.Capture(t.Context(), s.Request(""), held, 100, true, nil); err != nil || a.Status != 504 {
		t.Fatalf("capture: got %d, %v, want 504", a.Status, err)
	}
	lose(s, coretest.Void, true, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request(""), voided, nil); err != nil || a.Status != 504 {
		t.Fatalf("void: got %d, %v, want 504", a.Status, err)
	}
	mustLose(t, s, s.Tenant, 10)
	k := newStuck()
	for _, c := range s.Acquirer.Calls(coretest.Refund) {
		k.close([]string{c.Reference})
	}
	s.Acquirer.Before = k.before
	s.Clock.Advance(time.Second)
	r := s.Engine.NewRecovery()
	r.Serve()
	pass(t, r, 4)
	if got := s.Open(t); got != 30 {
		t.Errorf("unfinished after a pass: got %d, want the 30 refunds", got)
	}
}

// TestSeveralInFlight: eight steps of one kind of a merchant are tried at the same time. While all
// of them get no response, other kinds of steps, other merchants and releases of held money
// continue.
func TestSeveralInFlight(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	paid := mustPay(t, s, true)
	mustLose(t, s, s.Tenant, 30)
	other := mustMerchant(t, s)
	mustLose(t, s, other, 10)
	lose(s, coretest.Refund, true, nil)
	if a, err := s.Engine.Refund(t.Context(), s.Request("r"), paid, 0, 100, []byte("{}")); err != nil || a.Status != 504 {
		t.Fatalf("refund: got %d, %v, want 504", a.Status, err)
	}
	heal(s)
	mine := map[string]bool{}
	for _, c := range s.Acquirer.Calls(coretest.Authorize)[1:31] {
		mine[c.Reference] = true
	}
	hang, arrived := make(chan struct{}), make(chan struct{}, 30)
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if mine[c.Reference] {
			arrived <- struct{}{}
			<-hang
		}
		return nil
	}
	s.Clock.Advance(time.Second)
	r := s.Engine.NewRecovery()
	r.Serve()
	if got, err := r.Pass(t.Context()); err != nil || got != 3 {
		t.Fatalf("lanes: got %d, %v, want 3", got, err)
	}
	for range 8 {
		<-arrived
	}
	for capturedOf(t, s, other) != 10 ||
		s.Number(t, "SELECT COUNT(*) FROM refunds WHERE state = 'succeeded'") != 1 {
		runtime.Gosched()
	}
	if got := len(arrived); got != 0 {
		t.Errorf("%d more than eight are tried at a time", got)
	}
	if got, err := r.Pass(t.Context()); err != nil || got != 0 {
		t.Errorf("the next pass: got %d lanes, %v, want none: all are queued", got, err)
	}
	close(hang)
	r.Wait()
	wantSettledBooks(t, s)
}

// TestFailingLane: a lane with consecutive failures gets three steps a pass, one after the other.
// It sends no more requests to the acquirer.
func TestFailingLane(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	k := newStuck()
	k.close(mustLose(t, s, s.Tenant, 60))
	var calls, running, together atomic.Int64
	s.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
		defer running.Add(-1)
		if running.Add(1) > 1 {
			together.Add(1)
		}
		calls.Add(1)
		runtime.Gosched() // lets another worker run, if there is one
		return k.before(ctx, c)
	}
	s.Clock.Advance(time.Second)
	r := s.Engine.NewRecovery()
	r.Serve()
	pass(t, r, 1)
	together.Store(0)
	for n := range 4 {
		before := calls.Load()
		pass(t, r, 1)
		if got := calls.Load() - before; got != 3 {
			t.Errorf("pass %d after the first failures: got %d attempts, want 3", n+1, got)
		}
	}
	if got := together.Load(); got != 0 {
		t.Errorf("attempts during another: got %d, want none", got)
	}
}

// TestAcquirerAway: an acquirer that finishes no step of any merchant gets a few steps, and then
// pauses. When it is back, all steps that were not tried are finished immediately.
func TestAcquirerAway(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range 40 {
		mustLose(t, s, mustMerchant(t, s), 10)
	}
	var calls atomic.Int64
	s.Acquirer.Before = func(context.Context, coretest.Call) error { calls.Add(1); return acquirer.ErrUnknown }
	s.Clock.Advance(time.Second)
	r := s.Engine.NewRecovery()
	r.Serve()
	rounds(t, s, r, 5*time.Second)
	if got := calls.Load(); got < 200 || got > 800 {
		t.Errorf("calls in five seconds: got %d, want 200 to 800", got)
	}
	heal(s)
	s.Clock.Advance(15 * time.Minute)
	rounds(t, s, r, 30*time.Second)
	if got := s.Open(t); got != 0 {
		t.Errorf("unfinished half a minute after it is back: got %d, want none", got)
	}
	wantSettledBooks(t, s)
}

// TestUnfinishedByAClockAhead: steps that were written by a clock ten years ahead are finished
// after it was set right. The start could not reach the acquirer. A pending reversal is finished,
// too.
func TestUnfinishedByAClockAhead(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			s.Clock.Advance(87600 * time.Hour)
			s = st.MustDie(t, s, "k", true)
			s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnknown }
			serving(t, s) // an attempt, by the clock that is ahead
			s.Clock.Advance(-87600 * time.Hour)
			r := serving(t, s)
			heal(s)
			s.Clock.Advance(engine.Patience)
			pass(t, r, 1)
			st.wantDone(t, s)
			st.wantResponse(t, s, st.success, true)
		})
	}
}

// TestManyPages: recovery also reaches the steps after many pages.
func TestManyPages(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	other := mustMerchant(t, s)
	k := newStuck()
	k.close(mustLose(t, s, s.Tenant, 2200)) // more than a pass reads
	mustLose(t, s, other, 10)
	s.Acquirer.Before = k.before
	s.Clock.Advance(time.Second)
	r := s.Engine.NewRecovery()
	r.Serve()
	series := scraped(s)
	rounds(t, s, r, time.Second)
	if got := capturedOf(t, s, other); got != 10 {
		t.Errorf("behind four pages: got %d captured, want 10", got)
	}
	wantLines(t, series(), `open_steps{step="authorize"} 2200`)
}

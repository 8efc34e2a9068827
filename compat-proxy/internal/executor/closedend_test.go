package executor_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// untilMidnight returns a schedule ten seconds before a period ends. Some equal payments were made
// an hour before, at the second proxy. Further ones, one for each name, wait for their outcomes,
// which are unknown.
func untilMidnight(t *testing.T, earlier int, unknown ...string) *schedule {
	t.Helper()
	s := newSchedule(t, midnight.Add(-time.Hour))
	for range earlier {
		s.begin(t, "earlier", 1, 0)
		s.end(t, "earlier", served, command.Done)
	}
	s.b.clock.Advance(time.Hour - 10*time.Second)
	for i, name := range unknown {
		s.begin(t, name, 1, 0)
		calls := 3 // v1's time, the payment, and the acquirer
		if i > 0 {
			calls = 2 // the proxy has v1's time
		}
		s.steps(name, calls, lost)
	}
	return s
}

// atMidnight begins a payment a second before the period ends, at the first proxy. It lets it go on
// by some calls after v1 returned its time, which take until the next period.
func (s *schedule) atMidnight(t *testing.T, name string, window, calls int) {
	t.Helper()
	s.b.clock.Advance(9 * time.Second)
	s.begin(t, name, 0, window)
	s.steps(name, 1, served)
	s.b.clock.Advance(2 * time.Second)
	s.steps(name, calls, served)
}

// TestDeduplication_closedWhileItWasRunning: a request finds the last key of its chain in use. Then
// v1 frees the key, and an equal request of the next period closes the chain with it. Only one of
// the two is charged.
func TestDeduplication_closedWhileItWasRunning(t *testing.T) {
	t.Parallel()
	s := untilMidnight(t, 1, "unknown")
	const toRead = 6 // the next period, the first key and its use, and lookups of the keys 1, 3 and 2
	s.atMidnight(t, "late", 120, toRead)
	s.end(t, "unknown", unavailable, command.Refused)
	s.begin(t, "next", 1, 120)
	s.end(t, "next", served, command.Done)
	s.end(t, "late", served, command.Repeated)
	if got, want := s.b.v1.paid(), 2; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

// TestDeduplication_closedBeforeAReservedEnd: a request without a window finds the keys 2 and 3 in
// use. Then v1 frees them, and an equal request closes the chain with key 2. The payment of the
// first request is not behind that key, so its duplicate finds it.
func TestDeduplication_closedBeforeAReservedEnd(t *testing.T) {
	t.Parallel()
	s := untilMidnight(t, 2, "unknown", "another")
	const toReservation = 7 // the first key and its use, and lookups of the keys 1, 3, 7, 5 and 4
	s.atMidnight(t, "late", 0, toReservation)
	s.end(t, "another", unavailable, command.Refused)
	s.end(t, "unknown", unavailable, command.Refused)
	s.begin(t, "closing", 1, 120)
	s.end(t, "closing", unavailable, command.Unavailable)
	s.end(t, "late", served, command.Done)
	s.wantDuplicate(t)
}

// TestDeduplication_closedEnd is the same, and the chain is closed with the end itself: key 1
// belongs to a request that v1 has refused.
func TestDeduplication_closedEnd(t *testing.T) {
	t.Parallel()
	s := untilMidnight(t, 1, "unknown", "another")
	for key, u := range s.b.v1.uses {
		if key == s.clients["unknown"].key {
			u.contested = true // v1 does not free it
		}
	}
	const toReservation = 5 // the first key and its use, and lookups of the keys 1, 3 and 2
	s.atMidnight(t, "late", 0, toReservation)
	s.end(t, "another", unavailable, command.Refused)
	s.end(t, "unknown", unavailable, command.Refused)
	s.begin(t, "closing", 1, 120)
	s.end(t, "closing", unavailable, command.Unavailable)
	s.end(t, "late", served, command.Done)
	s.wantDuplicate(t)
}

// wantDuplicate checks that a duplicate at either proxy is not charged.
func (s *schedule) wantDuplicate(t *testing.T) {
	t.Helper()
	s.b.clock.Advance(5 * time.Second)
	paid := s.b.v1.paid()
	for proxy := range s.proxies {
		if got, want := s.b.execute(t.Context(), proxy, sale(120)), command.Repeated; got != want || s.b.v1.paid() != paid {
			t.Errorf("the duplicate by proxy %d: got %s and %d payments, want %s and %d", proxy, got, s.b.v1.paid(), want, paid)
		}
	}
}

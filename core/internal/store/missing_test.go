package store_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// mustMiss looks for the operation "lost", and checks how long it has been missing.
func mustMiss(t *testing.T, s *coretest.Service, when string, want time.Duration) {
	t.Helper()
	if got, found, err := s.DB.Missed(t.Context(), "lost"); got != want || found || err != nil {
		t.Errorf("%s: missing for %s, %t, %v; want %s", when, got, found, err, want)
	}
}

// TestMissed: an operation is missing for the time between looks of one process. No clock that is
// set makes the time longer, and no restart begins it again.
func TestMissed(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		mustMiss(t, s, "first look", 0)
		s.Clock.Advance(10 * time.Hour)
		mustMiss(t, s, "later", 10*time.Hour)
		for _, step := range []time.Duration{25 * time.Hour, -60 * time.Hour, 35 * time.Hour} {
			s.Clock.Step(step)
			mustMiss(t, s, "after a step of the clock", 10*time.Hour)
		}
		if got, _, err := s.DB.Missed(t.Context(), "another"); got != 0 || err != nil {
			t.Errorf("another operation: missing for %s, %v", got, err)
		}
		restarted := s.Revive(t, s.Snapshot(t))
		restarted.Clock.Advance(5 * time.Hour)
		mustMiss(t, restarted, "first look after a restart", 10*time.Hour)
		restarted.Clock.Advance(time.Hour)
		mustMiss(t, restarted, "an hour later", 11*time.Hour)
		mustMiss(t, s, "in the process that runs on", 16*time.Hour)
		s.MustExec(t, "UPDATE missing_operations SET process = 1 WHERE reference = 'lost'")
		mustMiss(t, s, "first look of another process", 16*time.Hour)
		s.Clock.Advance(time.Hour)
		mustMiss(t, s, "an hour later", 17*time.Hour)
		s.MustExec(t, "UPDATE missing_operations SET missing = ? WHERE process = 1", (18 * time.Hour).Milliseconds())
		mustMiss(t, s, "after a longer time of the other process", 18*time.Hour)
		s.MustExec(t, "UPDATE missing_operations SET looked = looked + 1000")
		mustMiss(t, s, "after a look that ended later", 18*time.Hour)
	})
}

// TestMissedByTwoProcesses: two processes look in turn. The time is not lost.
func TestMissedByTwoProcesses(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		mustMiss(t, s, "first look", 0)
		for hours := time.Duration(2); hours <= 24; hours += 2 {
			s.Clock.Advance(time.Hour)
			s.MustExec(t, "DELETE FROM missing_operations WHERE process = 1")
			s.MustExec(t, `INSERT INTO missing_operations (reference, process, missing, looked, at)
				SELECT reference, 1, missing, 1, at FROM missing_operations`)
			s.Clock.Advance(time.Hour)
			mustMiss(t, s, "after a look of the other process", hours*time.Hour)
		}
	})
}

// TestPurgeMissing: only a record without a look in the last 30 days is removed.
func TestPurgeMissing(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		mustMiss(t, s, "first look", 0)
		s.Clock.Advance(24 * time.Hour)
		if _, _, err := s.DB.Missed(t.Context(), "later"); err != nil {
			t.Fatal(err)
		}
		s.Clock.Advance(29 * 24 * time.Hour)
		if err := s.DB.PurgeMissing(t.Context(), s.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		left := s.Number(t, "SELECT COUNT(*) FROM missing_operations WHERE reference = 'later'")
		all := s.Number(t, "SELECT COUNT(*) FROM missing_operations")
		if left != 1 || all != 1 {
			t.Errorf("%d records are left, %d of the later one; want only that one", all, left)
		}
	})
}

// TestFoundOperation: an operation that the acquirer has had is never missing again, in any
// process. core may have been away for weeks, and a clock behind.
func TestFoundOperation(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		mustMiss(t, s, "first look", 0)
		s.Clock.Advance(time.Hour)
		for range 2 {
			if err := s.DB.Found(t.Context(), "lost"); err != nil {
				t.Fatal(err)
			}
			s.Clock.Step(-4 * 365 * 24 * time.Hour)
		}
		s.Clock.Step(8 * 365 * 24 * time.Hour)
		restarted := s.Revive(t, s.Snapshot(t))
		for i, process := range []*coretest.Service{s, s, restarted, restarted} {
			process.Clock.Advance(60 * 24 * time.Hour)
			if err := process.DB.PurgeMissing(t.Context(), process.Clock.Now()); err != nil {
				t.Fatal(err)
			}
			missing, found, err := process.DB.Missed(t.Context(), "lost")
			if missing != 0 || !found || err != nil {
				t.Errorf("look %d: missing for %s, %t, %v; want that it was found", i, missing, found, err)
			}
		}
		mustMissAnother(t, s, 0)
		s.Clock.Advance(time.Hour)
		mustMissAnother(t, s, time.Hour)
	})
}

func mustMissAnother(t *testing.T, s *coretest.Service, want time.Duration) {
	t.Helper()
	if got, found, err := s.DB.Missed(t.Context(), "another"); got != want || found || err != nil {
		t.Errorf("another operation: missing for %s, %t, %v; want %s", got, found, err, want)
	}
}

// TestMissedAtOnce: looks of one process overlap, so that an earlier one may be written last. Their
// time counts once.
func TestMissedAtOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		mustMiss(t, s, "first look", 0)
		s.Clock.Advance(time.Hour)
		mustMiss(t, s, "second look", time.Hour)
		s.MustExec(t, "UPDATE missing_operations SET looked = looked + 3600000, missing = missing + 3600000")
		mustMiss(t, s, "a look that is written late", 2*time.Hour)
		s.Clock.Advance(2 * time.Hour)
		mustMiss(t, s, "the next look", 3*time.Hour)
	})
}

package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
	passes "github.com/causeway-pay/causeway/core/internal/store/pass"
)

// mustKeys writes n idempotency keys in one commit, with their responses unless their requests run.
func mustKeys(t *testing.T, s *coretest.Service, prefix string, n int, completed bool) {
	t.Helper()
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		for i := range n {
			c, err := tx.ClaimKey(0, s.Tenant, fmt.Sprint(prefix, i), []byte("f"))
			if err == nil && completed {
				err = tx.CompleteKey(c.ID, 201, []byte("{}"))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mustPurge makes a pass and compares the number of keys that it removed.
func mustPurge(t *testing.T, s *coretest.Service, want int64) {
	t.Helper()
	if got, err := s.DB.PurgeIdempotencyKeys(t.Context(), s.Clock.Now()); err != nil || got != want {
		t.Errorf("purge: got %d keys, %v, want %d", got, err, want)
	}
}

// TestKeysOfAWrongClockStopNoPurge: keys that a clock ten years ahead wrote, even a whole window of
// them, do not prevent the purge of later keys. They get one lifetime from the first pass by the
// right clock, except keys whose requests run.
func TestKeysOfAWrongClockStopNoPurge(t *testing.T) {
	t.Parallel()
	for _, wrong := range []int{1, 600} {
		t.Run(fmt.Sprint(wrong), func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			const years = 10 * 365 * 24 * time.Hour
			s.Clock.Step(years)
			mustKeys(t, s, "wrong", wrong, true)
			mustKeys(t, s, "running", 1, false)
			mustPurge(t, s, 0)
			s.Clock.Step(-years)
			mustKeys(t, s, "k", 700, true)
			s.Clock.Advance(store.KeyLifetime)
			mustPurge(t, s, 700)
			s.Clock.Advance(store.KeyLifetime - time.Millisecond)
			mustPurge(t, s, 0)
			s.Clock.Advance(time.Millisecond)
			mustPurge(t, s, int64(wrong))
			if got := s.Number(t, "SELECT expires_at FROM idempotency_keys"); got < s.Clock.Now().Add(years/2).UnixMilli() {
				t.Errorf("the key of a running request expires at %d, want it as it was written", got)
			}
		})
	}
}

// TestAPurgeByAClockThatIsBehindShortensNoKey: a purge shortens the life of no key, neither while
// the clock is behind nor before the guard accepts its correction.
func TestAPurgeByAClockThatIsBehindShortensNoKey(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	mustKeys(t, s, "before", 1, true)
	const behind = 30 * 24 * time.Hour
	want := s.Clock.Now().Add(store.KeyLifetime).UnixMilli()
	s.Clock.Step(-behind)
	for range 2 {
		mustPurge(t, s, 0)
		if got := s.Number(t, "SELECT expires_at FROM idempotency_keys"); got != want {
			t.Errorf("got expiry at %d, want %d", got, want)
		}
		s.Clock.Step(behind)
	}
}

// TestAPurgeShortensNoKeyWhileAStepWaits: core was started while its clock was behind. The clock is
// set right, and keys are written before the guard accepts that.
func TestAPurgeShortensNoKeyWhileAStepWaits(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	s.Clock.Step(30 * 24 * time.Hour)
	mustKeys(t, s, "k", 1, true)
	want := s.Clock.Now().Add(store.KeyLifetime).UnixMilli()
	mustPurge(t, s, 0)
	if got := s.Number(t, "SELECT expires_at FROM idempotency_keys"); got != want {
		t.Errorf("got expiry at %d, want %d", got, want)
	}
}

// TestAKeyThatIsWrittenDuringAPurgeIsNotShortenedSQLite: the clock of core is set right by a month,
// and a key is written, while a purge is between two of its commits.
func TestAKeyThatIsWrittenDuringAPurgeIsNotShortenedSQLite(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	mustKeys(t, s, "old", 256, true) // the first commit of the pass
	s.Clock.Advance(store.KeyLifetime)
	s.MustExec(t, `CREATE TRIGGER refuse BEFORE DELETE ON idempotency_keys WHEN OLD.key = 'old0'
		BEGIN SELECT RAISE(ABORT, 'this row is bad'); END`)
	want := int64(0)
	s.DB.ObserveSkips(func(ctx context.Context, _ passes.Skip) { // called by the pass
		s.Clock.Advance(30 * 24 * time.Hour)
		want = s.Clock.Now().Add(store.KeyLifetime).UnixMilli()
		err := s.DB.Update(ctx, func(tx *store.Tx) error {
			c, err := tx.ClaimKey(0, s.Tenant, "k0", []byte("f"))
			if err != nil {
				return err
			}
			return tx.CompleteKey(c.ID, 201, []byte("{}"))
		})
		if err != nil {
			t.Error(err)
		}
	})
	mustPurge(t, s, 255)
	if got := s.Number(t, "SELECT expires_at FROM idempotency_keys WHERE key = 'k0'"); got != want {
		t.Errorf("got expiry at %d, want %d", got, want)
	}
}

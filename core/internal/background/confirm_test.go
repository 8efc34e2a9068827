package background_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/background"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/clock"
)

func TestMain(m *testing.M) { coretest.Main(m) }

// hookedClock calls a function once, after the next reading of its time.
type hookedClock struct {
	*clock.Fake
	hook atomic.Pointer[func()]
}

func (c *hookedClock) Now() time.Time {
	now := c.Fake.Now()
	if hook := c.hook.Swap(nil); hook != nil {
		(*hook)()
	}
	return now
}

// TestAStopDuringAWriteStoresAStep: the clock steps and core stops while the earlier state is
// written. The state with the step is written, too.
func TestAStopDuringAWriteStoresAStep(t *testing.T) {
	t.Parallel()
	c := &hookedClock{Fake: clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))}
	database := coretest.NewDatabase(t, t.TempDir())
	db, err := database.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	hook := func() {
		c.Step(48 * time.Hour)
		stop()
	}
	c.hook.Store(&hook)
	background.KeepConfirming(ctx, engine.New(engine.Config{Store: db}))
	var step int64
	row := database.MustInspect(t).QueryRowContext(t.Context(), "SELECT step FROM confirmed_clock")
	if err := row.Scan(&step); err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(step) * time.Millisecond; (48*time.Hour - got).Abs() > time.Minute {
		t.Errorf("the step: got %s, want 48h", got)
	}
}

package background

import (
	"context"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
)

// confirmEvery is the longest time for which a step of the clock stays unstored.
const confirmEvery = time.Second

// keepConfirming stores the state of the clock's guard when it has changed. A core that does not
// lead stores only the step. After the end of ctx it stores once more. After a failure it pauses
// for settleEvery.
func keepConfirming(ctx context.Context, eng *engine.Engine) {
	for {
		last := ctx.Err() != nil // before the state is read: the clock may step during a write
		pause, keep := confirmEvery, eng.Store.KeepClockStep
		if eng.Cluster.Leads() {
			keep = eng.Store.KeepConfirmed
		}
		if err := keep(context.WithoutCancel(ctx)); err != nil {
			eng.Log.ErrorContext(ctx, "the confirmed time was not stored; it is retried", slog.Any("error", err))
			pause = settleEvery
		}
		if last {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

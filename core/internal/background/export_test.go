package background

import (
	"context"
	"log/slog"
	"time"
)

// KeepConfirming is keepConfirming.
var KeepConfirming = keepConfirming

// Repeat repeats a pass after each wake until ctx ends.
func Repeat(ctx context.Context, wake <-chan struct{}, log *slog.Logger, pass func(context.Context) error) {
	work{name: "test", pause: time.Hour, wake: wake, pass: pass}.repeat(ctx, log)
}

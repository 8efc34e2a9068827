package background_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/background"
)

// TestPanic: a pass that panics ends no process. It is made again.
func TestPanic(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	passes := 0
	wake := make(chan struct{}, 1)
	background.Repeat(ctx, wake, slog.New(slog.DiscardHandler), func(context.Context) error {
		if passes++; passes == 2 {
			stop()
		} else {
			wake <- struct{}{}
		}
		panic("a row")
	})
	if passes != 2 {
		t.Errorf("got %d passes, want 2", passes)
	}
}

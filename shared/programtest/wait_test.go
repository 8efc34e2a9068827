package programtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestPoll: Poll returns with the condition, or without it at the end of the context.
func TestPoll(t *testing.T) {
	t.Parallel()
	calls := 0
	if !programtest.Poll(t.Context(), func() bool { calls++; return calls == 3 }) || calls != 3 {
		t.Errorf("got %d calls, want 3", calls)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if programtest.Poll(ctx, func() bool { return false }) {
		t.Error("got a condition that never holds")
	}
}

// TestNumber: a variable that is set wins.
func TestNumber(t *testing.T) {
	t.Setenv("CAUSEWAY_TEST_NUMBER", "7")
	if got := programtest.Number(t, "CAUSEWAY_TEST_NUMBER", 1); got != 7 {
		t.Errorf("got %d, want 7", got)
	}
	t.Setenv("CAUSEWAY_TEST_NUMBER", "")
	if got := programtest.Number(t, "CAUSEWAY_TEST_NUMBER", 1); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
}

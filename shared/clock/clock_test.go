package clock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

func TestSystemIsUTCAndAdvances(t *testing.T) {
	t.Parallel()
	c := clock.System()
	first := c.Now()
	if got, want := first.Location(), time.UTC; got != want {
		t.Errorf("location: got %v, want %v", got, want)
	}
	if second := c.Now(); second.Before(first) {
		t.Errorf("got %v after %v", second, first)
	}
}

func TestFake(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 10, 30, 0, 0, time.FixedZone("CET", 3600))
	c := clock.NewFake(start)
	if got, want := c.Now(), start.UTC(); got != want {
		t.Errorf("new: got %v, want %v", got, want)
	}
	c.Advance(90 * time.Minute)
	c.Advance(-30 * time.Minute)
	if got, want := c.Now(), start.Add(time.Hour).UTC(); got != want {
		t.Errorf("advance: got %v, want %v", got, want)
	}
	c.Set(start)
	if got, want := c.Now(), start.UTC(); got != want {
		t.Errorf("set: got %v, want %v", got, want)
	}
}

func TestFakeIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0).UTC()
	c := clock.NewFake(start)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				c.Advance(time.Second)
				c.Now()
			}
		})
	}
	wg.Wait()
	if got, want := c.Now(), start.Add(800*time.Second); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMonotonicAdvances(t *testing.T) {
	t.Parallel()
	first := clock.Monotonic()
	for clock.Monotonic() == first {
		continue
	}
	if second := clock.Monotonic(); second < first {
		t.Errorf("got %v after %v", second, first)
	}
}

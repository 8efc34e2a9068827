package id_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
)

const millisAt = 21 // bits below the milliseconds

func TestNextCarriesTheTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	c := clock.NewFake(now)
	g := id.NewGenerator(c)
	for range 1000 {
		n := g.Next()
		if got, want := n>>millisAt, c.Now().UnixMilli(); got != want {
			t.Fatalf("milliseconds: got %d, want %d", got, want)
		}
		if low := n & (1<<millisAt - 1); low >= 1<<(millisAt-1) {
			t.Fatalf("a new millisecond starts at %d, in the upper half", low)
		}
		c.Advance(time.Millisecond)
	}
}

func TestNextIncreases(t *testing.T) {
	t.Parallel()
	tests := map[string]func(c *clock.Fake){
		"ClockStands":    func(*clock.Fake) {},
		"ClockStepsBack": func(c *clock.Fake) { c.Advance(-time.Hour) },
		"ClockAdvances":  func(c *clock.Fake) { c.Advance(time.Microsecond * 300) },
	}
	for name, step := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
			g := id.NewGenerator(c)
			last := int64(0)
			for range 200_000 { // more ids than fit into one millisecond
				n := g.Next()
				if n <= last {
					t.Fatalf("got %d after %d", n, last)
				}
				last = n
				step(c)
			}
		})
	}
}

func TestNextIsPositiveInAnyYear(t *testing.T) {
	t.Parallel()
	for _, year := range []int{1, 1969, 1970, 2109, 2200, 9999} {
		g := id.NewGenerator(clock.NewFake(time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC)))
		if first, second := g.Next(), g.Next(); first <= 0 || second <= first {
			t.Errorf("year %d: got %d, then %d", year, first, second)
		}
	}
}

func TestNextIsUniqueAcrossGoroutines(t *testing.T) {
	t.Parallel()
	g := id.NewGenerator(clock.System())
	const workers, each = 8, 2000
	drawn := make([][]int64, workers)
	var wg sync.WaitGroup
	for i := range drawn {
		wg.Go(func() {
			for range each {
				drawn[i] = append(drawn[i], g.Next())
			}
		})
	}
	wg.Wait()
	all := slices.Concat(drawn...)
	for i, own := range drawn {
		if !slices.IsSorted(own) {
			t.Errorf("goroutine %d saw its numbers out of order", i)
		}
	}
	slices.Sort(all)
	if got, want := len(slices.Compact(all)), workers*each; got != want {
		t.Errorf("distinct numbers: got %d, want %d", got, want)
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 21, 9, 30, 0, 123_456_789, time.UTC)
	n := id.NewGenerator(clock.NewFake(now)).Next()
	for _, c := range []struct {
		at  time.Time
		not bool // later than n
	}{
		{now, false},
		{now.Truncate(time.Millisecond), false},
		{now.Add(-time.Hour), false},
		{now.Add(time.Millisecond), true},
		{time.Date(1969, time.January, 1, 0, 0, 0, 0, time.UTC), false},
		{time.Date(2500, time.January, 1, 0, 0, 0, 0, time.UTC), true},
	} {
		if got, want := id.At(c.at) > n, c.not; got != want || id.At(c.at) < 0 {
			t.Errorf("%s: %d is after %d: got %t, want %t", c.at, id.At(c.at), n, got, want)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	g := id.NewGenerator(clock.System())
	for b.Loop() {
		g.Next()
	}
}

func BenchmarkFormat(b *testing.B) {
	for b.Loop() {
		id.Format(id.Transaction, 3_762_345_678_901_234_567)
	}
}

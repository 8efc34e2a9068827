package bench_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench"
	"github.com/causeway-pay/causeway/shared/clock"
)

// newBench returns a run of three rounds in a folder of the test.
func newBench(t *testing.T) *bench.Bench {
	t.Helper()
	return bench.New(t.Context(), bench.Config{Rounds: 3, Dir: t.TempDir(), Progress: io.Discard})
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := bench.Median(c.of); got != c.want {
			t.Errorf("%v: got %v, want %v", c.of, got, c.want)
		}
	}
}

func TestPerSecond(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]string{
		0: "0/s", 999.4: "999/s", 999.5: "1,000/s", 11_200: "11,200/s", 24_007.2: "24,007/s",
	} {
		if got := bench.PerSecond(rate); got != want {
			t.Errorf("%v: got %s, want %s", rate, got, want)
		}
	}
}

// The median of the ratios, not the ratio of the medians: a disturbance of a round slows both of
// its sides.
func TestRatioIsOfEachRound(t *testing.T) {
	t.Parallel()
	got, spread := bench.Ratio([]float64{50, 10, 60}, []float64{100, 20, 100})
	if want := 0.5; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := [2]float64{0.5, 0.6}; spread != want {
		t.Errorf("spread: got %v, want %v", spread, want)
	}
}

func TestInterleaveBeginsEachRoundWithAnother(t *testing.T) {
	t.Parallel()
	var order []string
	got := newBench(t).Interleave(func(name string, round int) float64 {
		order = append(order, name)
		return float64(10*len(name) + round)
	}, "a", "bb")
	if got, want := strings.Join(order, " "), "a bb bb a a bb"; got != want {
		t.Errorf("order: got %s, want %s", got, want)
	}
	if want := [][]float64{{10, 11, 12}, {20, 21, 22}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRepeatCountsWholeStepsOnly(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(time.Unix(1_800_000_000, 0))
	b := bench.New(t.Context(), bench.Config{Each: time.Second, Clock: c})
	steps := 0
	rate, p50 := b.Repeat(64, func() error {
		steps++
		c.Advance(40 * time.Millisecond)
		return nil
	})
	if want := 64 / 0.04; rate < want-1e-6 || rate > want+1e-6 {
		t.Errorf("rate: got %v, want %v", rate, want)
	}
	if want := 40 * time.Millisecond; p50 != want {
		t.Errorf("p50: got %v, want %v", p50, want)
	}
	if want := 32; steps != want { // a quarter of a second of warm-up, and a second
		t.Errorf("steps: got %d, want %d", steps, want)
	}
}

func TestRunRefusesWhatItCannotMeasure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  bench.Config
		want string
	}{
		"unknown row": {bench.Config{Rounds: 1, Each: time.Second, Only: []string{"P0"}}, `no measure "P0"`},
		"no rounds":   {bench.Config{Each: time.Second}, "must be positive"},
		"no time":     {bench.Config{Rounds: 1}, "must be positive"},
		"few rows": {
			bench.Config{Rounds: 1, Each: time.Second, Only: []string{"P10"}, Rows: 9_999},
			"at least 10000 rows",
		},
	} {
		if _, err := bench.Run(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

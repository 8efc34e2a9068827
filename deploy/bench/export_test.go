package bench

import (
	"context"
	"strconv"
	"time"
)

// Median, PerSecond and Ratio are tested by themselves: the table stands on them.
var (
	Median    = median
	PerSecond = perSecond
)

// Ratio is the value and spread of rates.
func Ratio(ours, theirs []float64) (value float64, spread [2]float64) {
	samples := func(rates []float64) (out []sample) {
		for _, r := range rates {
			out = append(out, sample{rate: r})
		}
		return out
	}
	var r Row
	r.ratio(samples(ours), samples(theirs), byRate)
	return r.Value, r.Spread
}

// Interleave runs named sides that give the rate of their round and returns the rates by side.
func (b *Bench) Interleave(
	ctx context.Context, run func(name string, round int) float64, names ...string,
) ([][]float64, error) {
	sides, rounds := make([]side, len(names)), map[string]int{}
	for i, name := range names {
		sides[i] = side{name, func(context.Context) (sample, error) {
			round := rounds[name]
			rounds[name]++
			return sample{rate: run(name, round)}, nil
		}}
	}
	got, err := b.interleave(ctx, sides...)
	out := make([][]float64, len(got))
	for i := range got {
		for _, s := range got[i] {
			out[i] = append(out[i], s.rate)
		}
	}
	return out, err
}

// Repeat is the rate and the median time of a step that does n things.
func (b *Bench) Repeat(ctx context.Context, n int, step func() error) (rate float64, p50 time.Duration, err error) {
	s, err := b.repeat(ctx, n, step)
	return s.rate, s.p50, err
}

// Usage is the work of the processors up to a moment.
type Usage = usage

// Others is the share of the machine that others used.
var Others = others

// NewUsage returns a known usage, of all in seconds and of our own.
func NewUsage(worked, idle float64, own time.Duration) Usage {
	return Usage{worked: worked, idle: idle, own: own}
}

// ReadBenchmark returns the times of one operation that go test prints.
func ReadBenchmark(out []byte) (elapsed time.Duration, cpu float64, err error) {
	s, err := readBenchmark(out)
	return s.p50, s.cpu, err
}

// MeasureAll measures rows that the given functions return, in order, one measure each.
func (b *Bench) MeasureAll(ctx context.Context, report *Report, measures ...func() ([]Row, error)) error {
	var all []measure
	for i, m := range measures {
		run := func(context.Context, *Bench) ([]Row, error) { return m() }
		all = append(all, measure{rows: []string{"X" + strconv.Itoa(i)}, run: run})
	}
	return b.measureAll(ctx, all, report)
}

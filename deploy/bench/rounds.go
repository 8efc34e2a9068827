package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// sample is the measurement of one side in one round.
type sample struct {
	rate     float64 // per second
	p50, p99 time.Duration
	cpu      float64 // seconds of processor time a response; 0 if it was not measured
}

// side is one of the things that are compared.
type side struct {
	name string
	run  func(ctx context.Context) (sample, error)
}

// interleave runs every side once a round, so that a disturbance of the machine meets all of them.
// Each round begins with another side, so that no side always follows the same one. It returns the
// samples by side and round.
func (b *Bench) interleave(ctx context.Context, sides ...side) ([][]sample, error) {
	out := make([][]sample, len(sides))
	for i := range out {
		out[i] = make([]sample, b.Rounds)
	}
	for round := range b.Rounds {
		for k := range sides {
			i := (k + round) % len(sides)
			s, err := sides[i].run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[i].name, err)
			}
			b.say("round %d/%d  %-16s %9.0f/s  p50 %v  p99 %v", round+1, b.Rounds, sides[i].name, s.rate,
				s.p50.Round(time.Microsecond), s.p99.Round(time.Microsecond))
			out[i][round] = s
		}
	}
	return out, nil
}

// load runs a plan with the times and the clock of this run. It also measures the processor time of
// the given processes.
func (b *Bench) load(ctx context.Context, p load.Plan, processes ...serve.Processor) (sample, error) {
	p.Warmup, p.For, p.Clock = b.warmup(), b.Each, b.Clock
	before, err := serve.CPU(processes...)
	if err != nil {
		return sample{}, err
	}
	r, err := load.Run(ctx, p)
	if err != nil {
		return sample{}, err
	}
	after, err := serve.CPU(processes...)
	s := sampleOf(r)
	s.cpu = (after - before).Seconds() / float64(r.Responses)
	return s, err
}

func sampleOf(r *load.Result) sample {
	return sample{rate: r.Rate(), p50: load.Percentile(r.Latencies, 50), p99: load.Percentile(r.Latencies, 99)}
}

// median returns the middle of values, or the mean of both middles, or 0 if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	half := len(v) / 2
	if len(v)%2 == 0 {
		return (v[half-1] + v[half]) / 2
	}
	return v[half]
}

// ratesRow returns the row of a ratio of rates, whose reach is at least reach.
func ratesRow(id, what string, reach float64, ours, theirs []sample) Row {
	r := Row{ID: id, What: what, Reach: reach}
	r.Absolute = fmt.Sprintf("%s ÷ %s", perSecond(middle(ours, byRate)), perSecond(middle(theirs, byRate)))
	r.ratio(ours, theirs, byRate)
	return r
}

// timesRow returns the row of a ratio of times, whose reach is at most reach.
func timesRow(id, what string, reach float64, ours, theirs []sample, by func(sample) float64) Row {
	r := Row{ID: id, What: what, Reach: reach, AtMost: true}
	r.Absolute = fmt.Sprintf("%.2f ms ÷ %.2f ms", 1000*middle(ours, by), 1000*middle(theirs, by))
	r.ratio(ours, theirs, by)
	return r
}

// ratio sets the value to the median of the rounds' ratios of f, and the spread.
func (r *Row) ratio(ours, theirs []sample, f func(sample) float64) {
	each := values(ours, f)
	for i, t := range values(theirs, f) {
		each[i] /= t
	}
	*r = r.of(each)
}

// of returns the row with the median of the rounds' values, and their spread.
func (r Row) of(rounds []float64) Row {
	r.Value, r.Spread = median(rounds), [2]float64{slices.Min(rounds), slices.Max(rounds)}
	return r
}

// values returns f of each round.
func values(samples []sample, f func(sample) float64) []float64 {
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = f(s)
	}
	return v
}

// middle returns the median of f over the rounds.
func middle(samples []sample, f func(sample) float64) float64 { return median(values(samples, f)) }

func byRate(s sample) float64 { return s.rate }
func byTime(s sample) float64 { return 1 / s.rate }
func byP50(s sample) float64  { return s.p50.Seconds() }
func byP99(s sample) float64  { return s.p99.Seconds() }
func byCPU(s sample) float64  { return s.cpu }

// perSecond formats a rate as 11,200/s.
func perSecond(rate float64) string { return humanize.Comma(int64(rate+0.5)) + "/s" }

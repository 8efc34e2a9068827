package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// sample is the measurement of one side in one round.
type sample struct {
	rate     float64 // per second
	p50, p99 time.Duration
	cpu      float64 // seconds of processor time a response; 0 if it was not measured
}

// side is one of the compared subjects.
type side struct {
	name string
	run  func() sample
}

// interleave runs every side once a round, so that a disturbance of the machine meets all of them.
// Each round begins with another side, so that no side always follows the same one. It returns the
// samples by side and round.
func (b *Bench) interleave(sides ...side) [][]sample {
	out := make([][]sample, len(sides))
	for i := range out {
		out[i] = make([]sample, b.Rounds)
	}
	for round := range b.Rounds {
		for k := range sides {
			i := (k + round) % len(sides)
			s := &out[i][round]
			if err := b.scope(func() { *s = sides[i].run() }); err != nil {
				b.Fatalf("%s: %w", sides[i].name, err)
			}
			b.Logf("round %d/%d  %-16s %9.0f/s  p50 %v  p99 %v", round+1, b.Rounds, sides[i].name, s.rate,
				s.p50.Round(time.Microsecond), s.p99.Round(time.Microsecond))
		}
	}
	return out
}

// load runs a plan with the times and the clock of this run. It also measures the processor time of
// the given processes.
func (b *Bench) load(p load.Plan, processes ...processor) sample {
	used := func() (sum time.Duration) {
		for _, process := range processes {
			sum += process.cpu()
		}
		return sum
	}
	p.Warmup, p.For, p.Clock = b.warmup(), b.Each, b.Clock
	before := used()
	r := must(load.Run(b.ctx, p))
	s := sampleOf(r)
	s.cpu = (used() - before).Seconds() / float64(r.Responses)
	return s
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

// ratesRow adds the row of a ratio of rates, whose reach is at least reach.
func (b *Bench) ratesRow(id, what string, reach float64, ours, theirs []sample) {
	numbers := fmt.Sprintf("%s ÷ %s", perSecond(middle(ours, byRate)), perSecond(middle(theirs, byRate)))
	b.add(Row{ID: id, What: what, Reach: reach, Absolute: numbers}, ratio(ours, theirs, byRate))
}

// timesRow adds the row of a ratio of times, whose reach is at most reach.
func (b *Bench) timesRow(id, what string, reach float64, ours, theirs []sample, by func(sample) float64) {
	numbers := fmt.Sprintf("%.2f ms ÷ %.2f ms", 1000*middle(ours, by), 1000*middle(theirs, by))
	b.add(Row{ID: id, What: what, Reach: reach, Absolute: numbers, AtMost: true}, ratio(ours, theirs, by))
}

// ratio returns the rounds' ratios of f.
func ratio(ours, theirs []sample, f func(sample) float64) []float64 {
	each := values(ours, f)
	for i, t := range values(theirs, f) {
		each[i] /= t
	}
	return each
}

// add adds a row with the median of the rounds' values, and their spread.
func (b *Bench) add(r Row, rounds []float64) {
	r.Value, r.Spread = median(rounds), [2]float64{slices.Min(rounds), slices.Max(rounds)}
	b.report.Rows = append(b.report.Rows, r)
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

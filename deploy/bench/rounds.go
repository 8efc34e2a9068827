package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// sample is what one side gave in one round.
type sample struct {
	rate      float64 // per second
	p50, p99  time.Duration
	cpu       float64 // seconds of the server's processor time an answer; 0 when not measured
	log       float64 // bytes of PostgreSQL's log of writes an answer; 0 when not measured
	inPlace   float64 // the share of changes of idempotency keys that touched no index; 0 when not measured
	serverCPU float64 // of cpu what PostgreSQL took, where cpu is of both
}

// side is one of the things that are compared.
type side struct {
	name string
	run  func(ctx context.Context, round int) (sample, error)
}

// interleave runs every side once a round, so that what disturbs the machine disturbs all of them, and begins each round with another
// side, so that none always runs in the wake of the same other. It returns the samples by side and round.
func (b *Bench) interleave(ctx context.Context, sides ...side) ([][]sample, error) {
	out := make([][]sample, len(sides))
	for i := range out {
		out[i] = make([]sample, b.Rounds)
	}
	for round := range b.Rounds {
		for k := range sides {
			i := (k + round) % len(sides)
			s, err := sides[i].run(ctx, round)
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

// median is the middle of values, or the mean of both middles; 0 of none.
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

// ratio fills the row's value with the median of the rounds' ratios of f, and its spread.
func (r *Row) ratio(ours, theirs []sample, f func(sample) float64) {
	each := make([]float64, len(ours))
	for i := range ours {
		each[i] = f(ours[i]) / f(theirs[i])
	}
	r.Value = median(each)
	r.Spread = [2]float64{slices.Min(each), slices.Max(each)}
}

// middle is the median of f over the rounds.
func middle(samples []sample, f func(sample) float64) float64 {
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = f(s)
	}
	return median(v)
}

func byRate(s sample) float64 { return s.rate }
func byP50(s sample) float64  { return s.p50.Seconds() }
func byP99(s sample) float64  { return s.p99.Seconds() }
func byCPU(s sample) float64  { return s.cpu }
func byLog(s sample) float64  { return s.log }

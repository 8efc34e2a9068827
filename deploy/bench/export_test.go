package bench

import (
	"context"
	"strconv"
	"time"
)

// Median, PerSecond and Ratio are tested directly, because the table depends on them.
var (
	Median    = median
	PerSecond = perSecond
)

// New returns a run in a folder.
func New(ctx context.Context, c Config) *Bench { return &Bench{Config: c, ctx: ctx, dir: c.Dir} }

// Check ends the scope if err is not nil.
var Check = check

// Scope runs fn and its cleanups, and returns their failures.
func (b *Bench) Scope(fn func()) error { return b.scope(fn) }

// Script starts a program of the shell until the end of the scope.
func (b *Bench) Script(text string) *Process { return &Process{b.start(nil, "/bin/sh", "-c", text)} }

// Process is a running program.
type Process struct{ *process }

// CPU returns the processor time of the program.
func (p *Process) CPU() time.Duration { return p.cpu() }

// PeakMemory returns the highest resident memory of the program.
func (p *Process) PeakMemory() uint64 { return p.peakMemory() }

// Ratio returns the value and spread of rates.
func Ratio(ours, theirs []float64) (value float64, spread [2]float64) {
	samples := func(rates []float64) (out []sample) {
		for _, r := range rates {
			out = append(out, sample{rate: r})
		}
		return out
	}
	var b Bench
	b.add(Row{}, ratio(samples(ours), samples(theirs), byRate))
	return b.report.Rows[0].Value, b.report.Rows[0].Spread
}

// Interleave runs named sides that give the rate of their round and returns the rates by side.
func (b *Bench) Interleave(run func(name string, round int) float64, names ...string) [][]float64 {
	sides, rounds := make([]side, len(names)), map[string]int{}
	for i, name := range names {
		sides[i] = side{name, func() sample {
			round := rounds[name]
			rounds[name]++
			return sample{rate: run(name, round)}
		}}
	}
	got := b.interleave(sides...)
	out := make([][]float64, len(got))
	for i := range got {
		out[i] = values(got[i], byRate)
	}
	return out
}

// Repeat returns the rate and the median time of a step that does n things.
func (b *Bench) Repeat(n int, step func() error) (rate float64, p50 time.Duration) {
	s := b.repeat(n, step)
	return s.rate, s.p50
}

// Usage is the work of the processors up to a moment.
type Usage = usage

// Others returns the share of the machine that other processes used.
var Others = others

// NewUsage returns a usage with the given seconds of all processes and our own time.
func NewUsage(worked, idle float64, own time.Duration) Usage {
	return Usage{worked: worked, idle: idle, own: own}
}

// ReadBenchmark returns the median or mean time of one operation, and its processor time.
func ReadBenchmark(out, reported string) (elapsed time.Duration, cpu float64, err error) {
	s, err := readBenchmark(out, reported)
	return s.p50, s.cpu, err
}

// MeasureAll measures rows with the given values, one measure each. Each measure adds its row. It
// then fails if its error is not nil.
func (b *Bench) MeasureAll(failures ...error) *Report {
	var all []measure
	for i, err := range failures {
		id := "X" + strconv.Itoa(i)
		all = append(all, measure{rows: []string{id}, run: func(b *Bench) {
			b.add(Row{ID: id}, []float64{1})
			check(err)
		}})
	}
	b.measureAll(all)
	return &b.report
}

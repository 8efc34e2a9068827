package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// conns is the number of clients of the throughput ratios.
const conns = 64

// Config sets the measures and their length.
type Config struct {
	Dir      string        // for databases, on the disk that is measured; "" for .cache of the checkout
	Rounds   int           // of each side
	Each     time.Duration // of each side in each round
	Only     []string      // ids of rows; nil for all rows that need not be requested
	Rows     int           // of P10's large stores, over all tables
	Payments int           // of P11's large merchant
	Progress io.Writer     // receives the progress, one line at a time
	Clock    clock.Clock
}

// Bench is one run. It is a testing.TB, so that the measures use the harness of the tests.
type Bench struct {
	testing.TB // nil, see tb.go
	Config

	report Report

	ctx      context.Context //nolint:containedctx // it lives as long as the run, like that of a test
	cleanups []func()        // of the scope
	failures []error         // of the scope

	dir      string         // of this run
	programs string         // the folder of our programs
	keys     atomic.Uint64  // Idempotency-Keys used
	template *bare.Template // nil until learned
	paths    int
	servers  time.Duration // processor time of the stopped PostgreSQL servers, which are not children of this process
}

// measure adds some rows to the table.
type measure struct {
	rows []string
	run  func(*Bench)
	long bool // takes so long that it runs only on request
}

func measures() []measure {
	return []measure{
		{rows: []string{"P1"}, run: throughput},
		{rows: []string{"P2"}, run: againstMock},
		{rows: []string{"P3"}, run: latency},
		{rows: []string{"P4"}, run: onServer},
		{rows: []string{"P5"}, run: through},
		{rows: []string{"P6"}, run: unwrap},
		{rows: []string{"P7"}, run: replay},
		{rows: []string{"P8"}, run: footprint},
		{rows: []string{"P9"}, run: tail},
		{rows: []string{"P10"}, run: size, long: true},
		{rows: []string{"P11"}, run: lists, long: true},
		{rows: []string{"P12"}, run: slowBodies},
		{rows: []string{"P13"}, run: hooks},
		{rows: []string{"P14"}, run: connectors},
	}
}

// Run measures. A measure that fails leaves a failed row for each of its ids, and the others still
// run. If ctx ends, Run returns an error with the rows finished so far. If nothing can be measured,
// it returns no report. A missed reach is not an error.
func Run(ctx context.Context, cfg Config) (report *Report, err error) {
	b := &Bench{Config: cfg, ctx: ctx}
	if err := b.validate(); err != nil {
		return nil, err
	}
	return report, b.scope(func() {
		b.makeDir()
		//nolint:contextcheck // b has the context
		b.programs = programtest.MustPrograms(b, "standalone", "compat-proxy", "core", "passthrough")
		b.report.Machine = b.machine()
		before := readUsage()
		report = &b.report
		b.measureAll(measures())
		b.report.Machine = append(b.report.Machine, b.otherLoad(before))
		check(ctx.Err())
	})
}

// measureAll runs every wanted measure, until the context ends.
func (b *Bench) measureAll(all []measure) {
	for _, m := range all {
		if b.ctx.Err() != nil || !slices.ContainsFunc(m.rows, b.wants) || m.long && len(b.Only) == 0 {
			continue
		}
		err := b.scope(func() { m.run(b) })
		if err == nil || b.ctx.Err() != nil {
			continue
		}
		b.Logf("%s failed: %v (logs in %s)", strings.Join(m.rows, ", "), err, b.dir)
		for _, id := range m.rows {
			if b.wants(id) {
				b.report.Rows = append(b.report.Rows, Row{ID: id, What: "not measured", Failure: err.Error()})
			}
		}
	}
}

func (b *Bench) wants(row string) bool { return len(b.Only) == 0 || slices.Contains(b.Only, row) }

// validate returns an error for an id that no measure has, and for settings out of range.
func (b *Bench) validate() error {
	var known []string
	for _, m := range measures() {
		known = append(known, m.rows...)
	}
	for _, id := range b.Only {
		if !slices.Contains(known, id) {
			return fmt.Errorf("there is no measure %q, only %v", id, known)
		}
	}
	if b.Rounds < 1 || b.Each <= 0 {
		return errors.New("rounds and seconds must be positive")
	}
	if slices.Contains(b.Only, "P11") && b.Payments < 1 {
		return errors.New("payments must be positive")
	}
	if slices.Contains(b.Only, "P10") && b.Rows < smallRows {
		return fmt.Errorf("the large store must have at least %d rows", smallRows)
	}
	return nil
}

// makeDir makes the folder of the run. The end of the run removes the folder unless a row was not
// measured: the logs give the reason.
func (b *Bench) makeDir() {
	parent := b.Dir
	if parent == "" {
		parent = filepath.Join(programtest.MustRoot(b), ".cache")
	}
	check(os.MkdirAll(parent, 0o750))
	b.dir = must(os.MkdirTemp(parent, "bench-"))
	b.Cleanup(func() {
		if !b.report.Failed() {
			check(os.RemoveAll(b.dir))
		}
	})
}

// path returns a new path in the run's folder.
func (b *Bench) path(name string) string {
	b.paths++
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d", name, b.paths))
}

// folder returns the path of a folder that does not exist yet. The end of the scope removes the
// folder unless the scope has failed.
func (b *Bench) folder(name string) string {
	path := b.path(name)
	b.Cleanup(func() {
		if !b.Failed() {
			check(os.RemoveAll(path))
		}
	})
	return path
}

// warmup returns the time that a side runs before it counts.
func (b *Bench) warmup() time.Duration { return min(b.Each/4, 500*time.Millisecond) }

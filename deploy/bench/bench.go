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
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
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

// Bench is one run.
type Bench struct {
	Config
	root     string // the checkout
	dir      string // of this run
	programs *serve.Programs
	keys     atomic.Uint64  // Idempotency-Keys used
	template *bare.Template // nil until learned
	folders  int
	servers  time.Duration // processor time of the stopped PostgreSQL servers, which are no children of this process
}

// measure returns some rows of the table.
type measure struct {
	rows  []string
	run   func(context.Context, *Bench) ([]Row, error)
	asked bool // takes so long that it runs only on request
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
		{rows: []string{"P10"}, run: size, asked: true},
		{rows: []string{"P11"}, run: lists, asked: true},
		{rows: []string{"P12"}, run: besieged},
		{rows: []string{"P13"}, run: hooks},
	}
}

// Run measures. A measure that fails leaves a failed row for each of its ids, and the others still
// run. If ctx ends, Run returns an error with the rows finished so far. If nothing can be measured,
// it returns no report. A missed reach is no error.
func Run(ctx context.Context, cfg Config) (report *Report, err error) {
	b := &Bench{Config: cfg}
	if err := b.validate(); err != nil {
		return nil, err
	}
	if b.root, err = programtest.Root(); err != nil {
		return nil, err
	}
	if err := b.makeDir(); err != nil {
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, os.RemoveAll(b.dir))
		}
	}()
	if b.programs, err = serve.Build(ctx, b.dir); err != nil {
		return nil, err
	}
	facts, err := b.machine(ctx)
	if err != nil {
		return nil, err
	}
	before := readUsage()
	report = &Report{Machine: facts}
	err = b.measureAll(ctx, measures(), report)
	keep = report.Failed() // the logs give the reason
	report.Machine = append(report.Machine, b.otherLoad(before))
	return report, err
}

// measureAll appends the rows of every wanted measure to the report. It returns an error only if
// ctx ends.
func (b *Bench) measureAll(ctx context.Context, all []measure, report *Report) error {
	for _, m := range all {
		if !slices.ContainsFunc(m.rows, b.wants) || m.asked && len(b.Only) == 0 {
			continue
		}
		rows, err := m.run(ctx, b)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		report.Rows = append(report.Rows, rows...)
		if err == nil {
			continue
		}
		b.say("%s failed: %v (logs in %s)", strings.Join(m.rows, ", "), err, b.dir)
		for _, id := range m.rows {
			if b.wants(id) {
				report.Rows = append(report.Rows, Row{ID: id, What: "not measured", Failure: err.Error()})
			}
		}
	}
	return nil
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

func (b *Bench) makeDir() error {
	parent := b.Dir
	if parent == "" {
		parent = filepath.Join(b.root, ".cache")
	}
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return fmt.Errorf("folder for the databases: %w", err)
	}
	var err error
	if b.dir, err = os.MkdirTemp(parent, "bench-"); err != nil {
		return fmt.Errorf("folder for the databases: %w", err)
	}
	return nil
}

// folder returns a new path in the run's folder.
func (b *Bench) folder(name string) string {
	b.folders++
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d", name, b.folders))
}

func (b *Bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Progress, format+"\n", args...) // progress that cannot be shown is no reason to stop
}

// warmup is the time that a side runs before it counts.
func (b *Bench) warmup() time.Duration { return min(b.Each/4, 500*time.Millisecond) }

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
)

const (
	merchants = 8
	history   = 90 * 24 * time.Hour
	// overhead is what a payment takes on disk for each byte of its values: rows do not fill pages, and keys stand in indexes again.
	overhead = 1.25
	// grown is by how much measuring may make a kept store larger before it is filled anew.
	grown = 1.25
	// filledPrefix begins the names of kept stores.
	filledPrefix = "bench-filled-"
)

// errNoSpace: the disk would be nearly full.
var errNoSpace = errors.New("not enough space")

// fillStore makes a data folder whose store has as many rows, over all tables.
func (b *Bench) fillStore(ctx context.Context, data string, rows int) error {
	s, err := b.startServer(ctx, data)
	if err != nil {
		return err
	}
	template, err := b.firstPayment(ctx, s)
	if err := errors.Join(err, s.Stop()); err != nil {
		return err
	}
	return bare.Fill(ctx, s.Database, template, bare.Filling{
		Payments: rows / template.RowsEach(), Merchants: merchants, Span: history, Progress: b.fillProgress(rows / template.RowsEach()),
	})
}

// firstPayment makes one payment and returns what the server wrote for it.
func (b *Bench) firstPayment(ctx context.Context, s *server) (*bare.Template, error) {
	before, err := bare.Look(ctx, s.Database)
	if err != nil {
		return nil, err
	}
	if _, err := b.payOnce(ctx, s, 1); err != nil {
		return nil, err
	}
	return bare.Learn(ctx, s.Database, before)
}

// fillProgress speaks at every tenth of a filling that takes long.
func (b *Bench) fillProgress(payments int) func(int) {
	said := 0
	return func(done int) {
		if tenth := done * 10 / max(payments, 1); payments > 100_000 && tenth > said {
			said = tenth
			b.say("filled with %d of %d payments", done, payments)
		}
	}
}

// keptStore returns a data folder with as many rows that an earlier run has filled, or fills one.
func (b *Bench) keptStore(ctx context.Context, rows int) (data string, err error) {
	template, err := b.learn(ctx)
	if err != nil {
		return "", err
	}
	parent := filepath.Dir(b.dir)
	home := filepath.Join(parent, fmt.Sprintf("%s%s-%d", filledPrefix, template.Schema(), rows))
	data = filepath.Join(home, "data")
	if ok, err := usable(ctx, data, rows/template.RowsEach()); ok || err != nil {
		return data, err
	}
	if err := removeFilled(parent, template.Schema(), home); err != nil {
		return "", err
	}
	need := int64(float64(template.Size()) * overhead * float64(rows/template.RowsEach()))
	if free, ok := freeSpace(parent); ok && free < 2*need {
		return "", fmt.Errorf("%w: %d rows take about %d MB, and twice that has to be free in %s, where %d MB are", errNoSpace, rows,
			need/1e6, parent, free/1e6)
	}
	return data, b.fillKept(ctx, home, rows, need)
}

// fillKept fills a folder of this run and, when it is whole, gives it the name under which it is kept.
func (b *Bench) fillKept(ctx context.Context, home string, rows int, need int64) error {
	b.say("filling a store with %d rows, about %d MB; it is kept for the next run", rows, need/1e6)
	start := b.Clock.Now()
	making := b.folder("filled")
	data := filepath.Join(making, "data")
	err := os.MkdirAll(making, 0o750)
	if err == nil {
		err = b.fillStore(ctx, data, rows)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("fill a store: %w", err), os.RemoveAll(data)) // the log stays
	}
	info, err := os.Stat(filepath.Join(data, "core", "causeway.db"))
	if err == nil {
		b.say("filled: %d MB in %v", info.Size()/1e6, b.Clock.Now().Sub(start).Round(time.Second))
		err = os.Rename(making, home)
	}
	if err != nil {
		return fmt.Errorf("keep a filled store: %w", err)
	}
	return nil
}

// usable reports whether there is a store in data that measuring has not made much larger than it was.
func usable(ctx context.Context, data string, payments int) (bool, error) {
	path := filepath.Join(data, "core", "causeway.db")
	if _, err := os.Stat(path); err != nil {
		return false, nil //nolint:nilerr // there is none
	}
	last, err := bare.Look(ctx, path)
	if err != nil {
		return false, err
	}
	return float64(last["idempotency_keys"]) < grown*float64(payments), nil
}

// removeFilled removes the kept stores of other schemas, and home.
func removeFilled(parent, schema, home string) error {
	found, err := os.ReadDir(parent)
	if err != nil {
		return fmt.Errorf("look for filled stores: %w", err)
	}
	var errs []error
	for _, f := range found {
		path := filepath.Join(parent, f.Name())
		other := strings.HasPrefix(f.Name(), filledPrefix) && !strings.HasPrefix(f.Name(), filledPrefix+schema+"-")
		if other || path == home {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	return errors.Join(errs...)
}

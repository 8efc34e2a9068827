package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/secret"
)

// workers is how many pieces are put at once.
const workers = 4

// tellEvery is after how many rows of a table the progress is told.
const tellEvery = 1_000_000

// Config says what is moved where.
type Config struct {
	store.MoveConfig
	Target secret.String // the URL of the PostgreSQL database
}

// Move is a move that can go on.
type Move struct {
	cfg    Config
	source *source
	target *target
	tables []*table
}

// Open opens both stores, makes the target's schema when it is empty, and makes the target ours. ErrForeign when it is somebody else's,
// store.ErrMoveDone when all has been moved.
func Open(ctx context.Context, cfg Config) (*Move, error) {
	m, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = m.target.claim(ctx, m.tables, cfg.Identity, cfg.Clock.Now().UnixMilli())
	if errors.Is(err, store.ErrMoveDone) {
		if away, asked := m.source.away(ctx); asked != nil || !away {
			err = errors.Join(asked, errServed)
		}
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func open(ctx context.Context, cfg Config) (_ *Move, err error) {
	m := &Move{cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if m.source, err = openSource(ctx, cfg.Source); err != nil {
		return nil, err
	}
	have, err := m.source.version(ctx)
	if err != nil {
		return nil, err
	}
	want, err := store.SchemaVersion()
	if err != nil {
		return nil, err
	}
	if have != want {
		return nil, fmt.Errorf("the source is of schema version %d, this build's is %d: serve it once by this build, or run core migrate of it, or use a newer build",
			have, want)
	}
	if m.tables, err = m.source.tables(ctx); err != nil {
		return nil, err
	}
	if m.target, err = openTarget(ctx, cfg.Target); err != nil {
		return nil, err
	}
	if err := m.target.makeSchema(ctx, cfg.Target); err != nil {
		return nil, err
	}
	return m, m.target.compare(ctx, m.tables)
}

// Close implements store.Move.
func (m *Move) Close() error {
	if m.target != nil {
		m.target.close()
	}
	if m.source != nil {
		return m.source.close()
	}
	return nil
}

// Place implements store.Move.
func (m *Move) Place() string { return m.target.place }

// Sealed implements store.Move.
func (m *Move) Sealed(ctx context.Context) (found bool, err error) {
	if err := m.source.conn.QueryRowContext(ctx, store.AnySealed).Scan(&found); err != nil {
		return false, fmt.Errorf("look for rows: %w", err)
	}
	return found, nil
}

// moved is what became of one table in a pass.
type moved struct {
	table   string
	sum     Sum   // of the source's rows
	changed int64 // rows that were written or removed at the target
}

func shown(of []moved) []store.MovedTable {
	out := make([]store.MovedTable, len(of))
	for i, m := range of {
		out[i] = store.MovedTable{Name: m.table, Rows: m.sum.rows, Hash: m.sum.text(), Changed: m.changed}
	}
	return out
}

// Ahead implements store.Move.
func (m *Move) Ahead(ctx context.Context) ([]store.MovedTable, error) {
	err := m.clean(ctx, func(fn func() error) error { return m.source.within(ctx, true, fn) })
	if err != nil {
		return nil, err
	}
	var found []moved
	err = m.source.within(ctx, false, func() (err error) {
		found, err = m.pass(ctx)
		return err
	})
	return shown(found), err
}

// Finish implements store.Move.
func (m *Move) Finish(ctx context.Context, l store.Luggage) ([]store.MovedTable, error) {
	var found []moved
	err := m.source.within(ctx, true, func() (err error) {
		if err := m.clean(ctx, func(fn func() error) error { return fn() }); err != nil {
			return err
		}
		if found, err = m.pass(ctx); err != nil {
			return err
		}
		if err := m.verify(ctx, found); err != nil {
			return err
		}
		if err := m.target.setSequences(ctx, m.tables); err != nil {
			return err
		}
		return m.source.mark(ctx, m.tables, m.cfg.Identity, m.target.place, m.cfg.Clock.Now().UnixMilli())
	})
	if err != nil {
		return shown(found), err
	}
	return shown(found), m.target.arrive(ctx, m.tables, l, m.cfg.Clock.Now().UnixMilli())
}

// differenceError says that a table is not the same on both sides.
type differenceError struct {
	table        string
	source, have *Sum
}

// Error implements error.
func (e *differenceError) Error() string {
	return fmt.Sprintf("%s differs: the source has %s, the target %s", e.table, e.source, e.have)
}

// verify compares all of each table, by one statement each.
func (m *Move) verify(ctx context.Context, of []moved) error {
	errs := make([]error, len(of))
	next := make(chan int)
	var busy sync.WaitGroup
	for range workers {
		busy.Go(func() {
			for i := range next {
				have, err := m.target.sum(ctx, m.tables[i], span{})
				if err == nil && !have.equal(&of[i].sum) {
					err = &differenceError{of[i].table, &of[i].sum, have}
				}
				errs[i] = err
			}
		})
	}
	for i := range of {
		next <- i
	}
	close(next)
	busy.Wait()
	return errors.Join(errs...)
}

// pass makes the target have what the source has.
func (m *Move) pass(ctx context.Context) ([]moved, error) {
	out := make([]moved, len(m.tables))
	surplus := make([][][]any, len(m.tables))
	for i, t := range m.tables {
		p := &passage{m: m, of: t, pieces: make(chan *piece)}
		if err := p.run(ctx); err != nil {
			return nil, err
		}
		p.moved.changed += int64(len(p.surplus))
		if p.moved.changed > p.moved.sum.rows/10 {
			if err := m.target.analyze(ctx, t); err != nil {
				return nil, err
			}
		}
		out[i], surplus[i] = p.moved, p.surplus
		m.cfg.Tell("%s: %d rows, %d of them written", t.name, p.moved.sum.rows, p.moved.changed)
	}
	for i, t := range slices.Backward(m.tables) { // those that need others before those
		if err := m.target.drop(ctx, t, surplus[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// passage is one table on its way.
type passage struct {
	m      *Move
	of     *table
	pieces chan *piece

	mu      sync.Mutex
	moved   moved   // guarded by mu
	surplus [][]any // guarded by mu
}

// run reads the table while others put what was read.
func (p *passage) run(ctx context.Context) error {
	p.moved.table = p.of.name
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var busy sync.WaitGroup
	for range workers {
		busy.Go(func() {
			if err := p.work(ctx); err != nil {
				fail(err)
			}
		})
	}
	err := p.m.source.pieces(ctx, p.of, func(next *piece) error {
		select {
		case p.pieces <- next:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(p.pieces)
	busy.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (p *passage) work(ctx context.Context) error {
	for next := range p.pieces {
		o, err := p.m.target.put(ctx, next)
		if err != nil {
			return err
		}
		p.mu.Lock()
		before := p.moved.sum.rows
		p.moved.sum.join(o.sum)
		p.moved.changed += o.changed
		p.surplus = append(p.surplus, o.surplus...)
		if p.moved.sum.rows/tellEvery > before/tellEvery {
			p.m.cfg.Tell("%s: %d rows so far", p.of.name, p.moved.sum.rows)
		}
		p.mu.Unlock()
	}
	return nil
}

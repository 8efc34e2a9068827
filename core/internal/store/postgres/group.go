package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
)

const (
	// groupMost bounds the members of a group. While one is under way the next ones gather, as larger groups cost less for each. Who has waited for
	// groupPause all the same begins another one beside those, up to groupsAtOnce of all kinds, or as soon as one of so many ends.
	groupMost, groupsAtOnce = 128, 6
	groupPause              = 5 * time.Millisecond
	// groupers bounds the connections for groups of all kinds of one process: some more than there are groups, for those that are kept for a commit.
	groupers = 10
)

// grouping are those of the connections on which groups are written. A group must not wait for what one of its members has to wait for. And its
// statements find rows by their keys, whatever the server knows of the sizes of the tables when it plans them: they are planned once. Rows found are
// joined with what was asked by hashes: a loop in a loop would cost each member more the larger its group is.
var grouping = map[string]string{
	"lock_timeout": "100", "statement_timeout": "0", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_mergejoin": "off", "enable_nestloop": "off", "jit": "off",
}

// groups has what callers ask for at the same time done together. Who comes first leads: he does it for all who wait, himself first, and hands on.
type groups[Q, A any] struct {
	// write does it for all of a group. What it does not answer is not done; after an error nothing is known.
	write func(ctx context.Context, now time.Time, all []Q) ([]answer[A], error)
	*turns
	waiting []*caller[Q, A] // guarded by mu
}

func newGroups[Q, A any](t *turns, write func(context.Context, time.Time, []Q) ([]answer[A], error)) *groups[Q, A] {
	g := &groups[Q, A]{write: write, turns: t}
	t.kinds = append(t.kinds, g)
	return g
}

// answer is what became of a member.
type answer[A any] struct {
	is   A
	done bool
}

// caller is who asks for something.
type caller[Q, A any] struct {
	asks    Q
	at      time.Time
	leads   chan struct{} // of one place: he is to lead
	chosen  bool          // guarded by the groups' mu, as overdue is: there is something in leads
	overdue bool          // he has waited for groupPause, and found no place to lead beside others
	ended   chan struct{} // closed once he is answered
	answer  answer[A]
	err     error
}

// do has it done, in a group of its own or with others. What cannot be begun in half of the engine's patience is not.
func (g *groups[Q, A]) do(ctx context.Context, e *engine, asks Q) (out A, done bool, err error) {
	if err := ctx.Err(); err != nil || e.test.Alone {
		return out, false, err
	}
	if err := e.begin(); err != nil {
		return out, false, err
	}
	defer e.begun.Done()
	if e.waiting.Add(1) > maxQueue {
		e.waiting.Add(-1)
		return out, false, store.ErrBusy
	}
	defer e.waiting.Add(-1)
	m := &caller[Q, A]{asks: asks, at: e.clock.Now(), leads: make(chan struct{}, 1), ended: make(chan struct{})}
	err = g.stay(ctx, e, m, g.enter(m))
	return m.answer.is, m.answer.done, err
}

// stay returns once the member is answered. Who leads, or comes to lead meanwhile, does so first.
func (g *groups[Q, A]) stay(ctx context.Context, e *engine, m *caller[Q, A], leads bool) error {
	if !leads && !g.wait(m, e.patience/2) {
		return errTooLate
	}
	if g.leads(m) {
		g.lead(ctx, e, m)
	}
	<-m.ended
	return m.err
}

var errTooLate = errors.Join(store.ErrUnavailable, errors.New("store: earlier groups took too long"))

// enter joins those who wait, and reports whether the member is to lead.
func (g *groups[Q, A]) enter(m *caller[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, m)
	return g.leading == 0 && g.choose(m)
}

// choose has a caller lead. It is called with mu held.
func (g *groups[Q, A]) choose(m *caller[Q, A]) bool {
	g.leading++
	m.chosen = true
	return true
}

// leads reports whether a caller was chosen to lead. He must, also when another leader has taken him and answered: he has the lead to hand on.
func (g *groups[Q, A]) leads(m *caller[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return m.chosen
}

// beside reports whether a caller who still waits is to lead a group beside those that are under way. If they are too many he has the next place.
func (g *groups[Q, A]) beside(m *caller[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.chosen || !slices.Contains(g.waiting, m) {
		return false
	}
	m.overdue = g.leading >= groupsAtOnce
	return !m.overdue && g.choose(m)
}

// wait returns when the member was answered or is to lead, and false when he was neither in time.
func (g *groups[Q, A]) wait(m *caller[Q, A], patience time.Duration) bool {
	over := time.NewTimer(groupPause)
	defer over.Stop()
	for _, left := range []time.Duration{patience - groupPause, 0} {
		select {
		case <-m.ended:
			return true
		case <-m.leads:
			return true
		case <-over.C:
		}
		if left > 0 && g.beside(m) {
			return true
		}
		over.Reset(left)
	}
	if g.leave(m) {
		return false
	}
	select { // he was taken into a group, which does not take longer than he may
	case <-m.ended:
	case <-m.leads:
	}
	return true
}

// leave takes a member away who was neither taken into a group nor chosen to lead one.
func (g *groups[Q, A]) leave(m *caller[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == m && !m.chosen {
			g.waiting = slices.Delete(g.waiting, i, i+1)
			return true
		}
	}
	return false
}

// take takes the group of its leader out of those who wait: the first of them and himself. It is none when another leader has taken him.
func (g *groups[Q, A]) take(leader *caller[Q, A]) []*caller[Q, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.waiting, leader)
	if at < 0 {
		return nil
	}
	n := min(len(g.waiting), groupMost)
	if at >= n {
		g.waiting[at], g.waiting[n-1] = g.waiting[n-1], leader
	}
	all := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return all
}

// lead writes a group, hands the lead on and answers.
func (g *groups[Q, A]) lead(ctx context.Context, e *engine, leader *caller[Q, A]) {
	if e.waiting.Load() > 1 {
		runtime.Gosched() // those who were answered together come back together: who comes first of them would lead himself alone
	}
	all := g.take(leader)
	n := len(all)
	if n == 0 {
		g.handOn()
		return
	}
	start := e.clock.Now()
	waited := max(start.Sub(all[0].at), 0) // the clock may have been set back
	now := start
	asks := make([]Q, n)
	for i, m := range all {
		asks[i] = m.asks
		if m.at.After(now) {
			now = m.at
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.patience-min(waited, e.patience/2)) // he who waited longest is answered in time
	answers, err := g.written(ctx, now.UTC().Truncate(time.Millisecond), asks)
	cancel()
	if undone(err) {
		answers, err = make([]answer[A], n), nil
	}
	g.handOn()
	if err != nil {
		err = explain(err)
		e.db.Failed(err)
	} else {
		e.db.Committed(start)
	}
	if observe := e.observe.Load(); observe != nil {
		(*observe)(store.Batch{Commands: n, Waited: waited, Took: e.clock.Now().Sub(start)})
	}
	for i, m := range all {
		if m.err = err; err == nil {
			m.answer = answers[i]
		}
		close(m.ended)
	}
}

// written is write, where a panic is an error, after which nothing is known: it must not leave the others waiting, nor nobody to lead.
func (g *groups[Q, A]) written(ctx context.Context, now time.Time, all []Q) (answers []answer[A], err error) {
	defer caught(&err)
	return g.write(ctx, now, all)
}

// caught is deferred, and has a panic be an error. It tells the type and the stack: the value may hold card data.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = came(fmt.Errorf("a group's write panicked with a %T\n%s", r, debug.Stack()))
	}
}

// unchosen is the first of those who wait and are not to lead. It is called with mu held, as first and next are.
func (g *groups[Q, A]) unchosen() *caller[Q, A] {
	for _, m := range g.waiting {
		if !m.chosen {
			return m
		}
	}
	return nil
}

// first implements kind.
func (g *groups[Q, A]) first() (since time.Time, overdue, waits bool) {
	if m := g.unchosen(); m != nil {
		return m.at, m.overdue, true
	}
	return time.Time{}, false, false
}

// next implements kind.
func (g *groups[Q, A]) next() {
	m := g.unchosen()
	g.choose(m)
	m.leads <- struct{}{}
}

// undone reports whether the server has refused a group and lives: then nothing of it was done, and each member may be tried by himself.
func undone(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && said.SeverityUnlocalized == "ERROR" &&
		(said.Code == batchRefused || said.Code == lockNotAvailable || rolledBack(err) || !unavailable(err))
}

// ask runs statements as one transaction, of one round trip, and reads what the last of them returns. As the commit is part of that, nothing of it is called
// off: see commit.go.
func ask(ctx context.Context, pool *pgxpool.Pool, scan func(pgx.Rows) error, statements ...*pgx.QueuedQuery) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return came(err)
	}
	return came(quietly(ctx, conn, func(ctx context.Context) error { return send(ctx, conn.Conn(), scan, statements) }, conn.Release))
}

func send(ctx context.Context, conn *pgx.Conn, scan func(pgx.Rows) error, statements []*pgx.QueuedQuery) (err error) {
	defer caught(&err) // in a goroutine that is nobody else's
	results := conn.SendBatch(ctx, &pgx.Batch{QueuedQueries: statements})
	for range len(statements) - 1 {
		if _, err = results.Exec(); err != nil {
			break
		}
	}
	if err == nil {
		err = readAll(results, scan)
	}
	if closed := results.Close(); err == nil {
		err = closed // which is where the commit is answered
	}
	if demoted(err) {
		_ = conn.Close(ctx) // the next one goes to whoever can be written to
	}
	return err
}

func readAll(results pgx.BatchResults, scan func(pgx.Rows) error) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column is one value of each member.
func column[Q, V any](all []Q, of func(Q) V) []V {
	out := make([]V, len(all))
	for i, q := range all {
		out[i] = of(q)
	}
	return out
}

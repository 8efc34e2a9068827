package store

import (
	"context"
	"database/sql"
	"errors"
	"net/netip"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/turns"
)

// readWait is how long a read by id waits for its turn.
const readWait = 2 * time.Second

// errReadsStuck is the error of a read that waited for its turn while no read succeeded. The
// database is the reason, and not the number of the caller's reads.
var errReadsStuck = errors.Join(ErrUnavailable, errors.New("store: no read succeeded meanwhile"))

// unknownKey is the caller of all requests with an unknown API key. They share their turns, because
// a client can invent any number of keys. Their networks take turns among them: see
// unknownKeyBounds.
var unknownKey = Caller{Payer: true}

// unknownKeyBounds returns the bounds of the reads of unknown API keys on a number of connections,
// by the network of the client. So a valid key that was not read before waits only for one key of
// each other network. It is not refused for the invented keys of other networks.
func unknownKeyBounds(connections int) turns.Bounds[netip.Prefix] {
	share := readBounds(connections).Share
	return turns.Bounds[netip.Prefix]{
		Slots: share, Share: share, Wait: readWait, Queue: 512, Queues: 512,
		TooMany: payment.ErrTooManyReads, Busy: ErrBusy, Stuck: errReadsStuck,
	}
}

// readBounds returns the bounds of the reads by id on a number of connections. A quarter of them,
// but at least one, is for callers of which no read runs. Test mode and unknown keys have their
// turns after live mode.
func readBounds(connections int) turns.Bounds[Caller] {
	return turns.Bounds[Caller]{
		Slots: connections, Share: max(1, connections*3/4), Wait: readWait,
		Queue: 512, Queues: 768, // of the 1,024 requests that core serves at the same time
		TooMany: payment.ErrTooManyReads, Busy: ErrBusy, Stuck: errReadsStuck,
		Later: func(c Caller) bool { return c == unknownKey || isTest(c.Tenant) },
	}
}

// isTest reports whether a tenant is a merchant in test mode.
func isTest(t payment.Tenant) bool { return !t.Live && t.Merchant != 0 }

// ofStep is the key of the mark that ForStep sets.
type ofStep struct{}

// ForStep returns a context whose reads by id belong to a step that has begun. They go before the
// tenant's other reads, and are not refused for their number. So do reads of background work.
func ForStep(ctx context.Context) context.Context { return context.WithValue(ctx, ofStep{}, true) }

// reader returns the caller of a tenant's reads.
func reader(ctx context.Context, t payment.Tenant) Caller {
	step, _ := ctx.Value(ofStep{}).(bool)
	background, _ := ctx.Value(inBackground{}).(bool)
	return Caller{Tenant: t, Ends: step || background}
}

// rowOf runs a tenant's read by id at the tenant's turn, and returns its first row.
func (db *DB) rowOf(ctx context.Context, t payment.Tenant, s *Statement, args ...any) Scanner {
	return turnRow[Caller]{db.row(ctx, s, args...), ctx, db.reads[ByID], reader(ctx, t).Work()}
}

// essentialOf runs an essential read at the caller's turn, and returns its first row.
func (db *DB) essentialOf(ctx context.Context, c Caller, s *Statement, args ...any) Scanner {
	return turnRow[Caller]{db.essential(ctx, s, args...), ctx, db.reads[Essential], c.Work()}
}

// unknownKeyOf runs the read of an unknown API key at the turn of a network among unknown keys, and
// returns its first row.
func (db *DB) unknownKeyOf(ctx context.Context, network netip.Prefix, s *Statement, args ...any) Scanner {
	row := db.essentialOf(ctx, unknownKey, s, args...)
	return turnRow[netip.Prefix]{row, ctx, db.unknownKeys, turns.Work[netip.Prefix]{Caller: network}}
}

// turnRow is a row that is read at the caller's turn when it is scanned.
type turnRow[C comparable] struct {
	Scanner
	ctx   context.Context //nolint:containedctx // the caller's, which scans immediately
	turns *turns.Turns[C]
	work  turns.Work[C]
}

// Scan implements Scanner. It also returns payment.ErrTooManyReads, and ErrBusy if reads of other
// callers take too long.
func (r turnRow[C]) Scan(dest ...any) error {
	turn, err := r.turns.Take(r.ctx, r.work)
	if err != nil {
		return err
	}
	defer turn.Done()
	err = r.Scanner.Scan(dest...)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		r.turns.Succeeded()
	}
	return err
}

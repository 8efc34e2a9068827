package core

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	// moveLock keeps two moves of one data folder from running at once.
	moveLock = "move.lock"
	// caughtUp is how few rows a pass writes when another one would not bring much.
	caughtUp = 10_000
	// maxPasses bounds the passes beside a service that writes faster than they do.
	maxPasses = 10
)

// ErrMovedAlready says that there is nothing left to move.
var ErrMovedAlready = store.ErrMoveDone

// MoveTarget is a database that a data folder's store can be moved to: package core/postgres makes one.
type MoveTarget interface {
	// Open opens the move, and makes the target its own.
	Open(ctx context.Context, c store.MoveConfig) (store.Move, error)
	// Undo has the source be the store again, and the target not; where the target has changed since, or is not named, only by force.
	Undo(ctx context.Context, c store.MoveConfig, force bool) error
}

// Migration says where a data folder's store is moved.
type Migration struct {
	To       MoveTarget
	OldKEK   secret.String // what the folder's keyset is encrypted by, where that is not Config.VaultKEK, nor derived from the root secret
	Progress io.Writer     // is told of it in lines
}

// MovedTable is a table that is the same in both stores.
type MovedTable = store.MovedTable

// MovedStore is a store that was moved.
type MovedStore struct {
	Place  string // where it is now, for people
	Tables []MovedTable
	Closed time.Duration // how long it took writes neither here nor there
}

// CopyData makes the PostgreSQL database have what the data folder's store has, beside a running service, but for what changes meanwhile. It may
// be killed, and run as often as one likes; FinishData does the rest.
func CopyData(ctx context.Context, cfg Config, m Migration) (err error) {
	mv, done, err := openMove(ctx, cfg, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for pass := 1; ; pass++ {
		moved, err := mv.Ahead(ctx)
		if err != nil {
			return err
		}
		var rows, changed int64
		for _, t := range moved {
			rows, changed = rows+t.Rows, changed+t.Changed
		}
		m.tell("pass %d: %d of %d rows written", pass, changed, rows)
		if changed < caughtUp || pass == maxPasses {
			return nil
		}
	}
}

// FinishData moves what is left, compares all of it, and has the PostgreSQL database be the store from then on: the data folder's own is refused
// after that. Nobody may serve the folder; it is killed and run again as one likes.
func FinishData(ctx context.Context, cfg Config, m Migration) (out MovedStore, err error) {
	cfg = cfg.withDefaults()
	if err := wantStore(cfg.Data); err != nil {
		return out, err
	}
	kek, err := cfg.sharedKEK()
	if err != nil {
		return out, err
	}
	unlock, err := closeFolder(cfg.Data)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	mv, done, err := openMove(ctx, cfg, m)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, done()) }()
	begun := cfg.Clock.Now()
	luggage, err := packed(ctx, cfg, mv, kek, m.OldKEK)
	if err != nil {
		return out, err
	}
	moved, err := mv.Finish(ctx, luggage)
	if err != nil {
		return out, err
	}
	out = MovedStore{Place: mv.Place(), Closed: cfg.Clock.Now().Sub(begun), Tables: moved}
	return out, nil
}

// UndoMove has the data folder's store be the one to use again, and the PostgreSQL database not, which nobody may serve any more. It is refused
// when that has changed since, unless forced; what it took is then in neither. Forced and without a database it frees the folder alone.
func UndoMove(ctx context.Context, cfg Config, m Migration, force bool) (err error) {
	cfg = cfg.withDefaults()
	if err := wantStore(cfg.Data); err != nil {
		return err
	}
	unlock, err := closeFolder(cfg.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	how, err := m.config(cfg)
	if err != nil {
		return err
	}
	return m.To.Undo(ctx, how, force)
}

// closeFolder keeps services and rotations off the folder. Commands that write beside a service are kept off by the move itself.
func closeFolder(data string) (unlock func() error, err error) {
	served, err := lockOnly(filepath.Join(data, lockFile), "a service runs on this data folder: stop it first")
	if err != nil {
		return nil, err
	}
	rotated, err := lockOnly(filepath.Join(data, vaultLock), "a rotation or a backup runs on this data folder")
	if err != nil {
		return nil, errors.Join(err, served.Close())
	}
	return func() error { return errors.Join(rotated.Close(), served.Close()) }, nil
}

// openMove opens the move that is the only one of its folder.
func openMove(ctx context.Context, cfg Config, m Migration) (_ store.Move, done func() error, err error) {
	cfg = cfg.withDefaults()
	if err := wantStore(cfg.Data); err != nil {
		return nil, nil, err
	}
	how, err := m.config(cfg)
	if err != nil {
		return nil, nil, err
	}
	lock, err := lockOnly(filepath.Join(cfg.Data, moveLock), "another migrate-data runs on this data folder")
	if err != nil {
		return nil, nil, err
	}
	mv, err := m.To.Open(ctx, how)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	return mv, func() error { return errors.Join(mv.Close(), lock.Close()) }, nil
}

// config knows the store by its root secret, without which its rows are worth nothing.
func (m Migration) config(cfg Config) (store.MoveConfig, error) {
	root, err := auth.ReadRoot(filepath.Join(cfg.Data, rootFile))
	if err != nil {
		return store.MoveConfig{}, err
	}
	identity, err := root.Key("store-identity")
	if err != nil {
		return store.MoveConfig{}, err
	}
	return store.MoveConfig{
		Source: filepath.Join(cfg.Data, databaseFile), Identity: hex.EncodeToString(identity[:16]), Clock: cfg.Clock, Tell: m.tell,
	}, nil
}

func (m Migration) tell(format string, args ...any) {
	if m.Progress != nil {
		_, _ = fmt.Fprintf(m.Progress, format+"\n", args...) // nobody is left to tell
	}
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Secret reads what all processes that share the store keep encrypted under a name, else ErrNotFound.
func (db *DB) Secret(ctx context.Context, name string) ([]byte, error) {
	s, err := db.query(ctx, `SELECT sealed FROM secrets WHERE name = ?`)
	if err != nil {
		return nil, err
	}
	var sealed []byte
	if err := s.Row(ctx, name).Scan(&sealed); errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	return sealed, nil
}

// SecretChanged returns when a secret was last written, else ErrNotFound.
func (db *DB) SecretChanged(ctx context.Context, name string) (time.Time, error) {
	s, err := db.query(ctx, `SELECT changed_at FROM secrets WHERE name = ?`)
	if err != nil {
		return time.Time{}, err
	}
	var at int64
	if err := s.Row(ctx, name).Scan(&at); errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, payment.ErrNotFound
	} else if err != nil {
		return time.Time{}, fmt.Errorf("read secret: %w", err)
	}
	return fromMillis(at), nil
}

// InsertSecret writes a secret, encrypted. ErrDuplicate when there is one of that name.
func (tx *Tx) InsertSecret(name string, sealed []byte) error {
	return tx.insert(`INSERT INTO secrets (name, sealed, changed_at) VALUES (?, ?, ?)`, name, sealed, toMillis(tx.Now))
}

// ReplaceSecret writes a secret in the place of what it was. ErrConflict when somebody else has replaced it.
func (tx *Tx) ReplaceSecret(name string, was, sealed []byte) error {
	return tx.change(`UPDATE secrets SET sealed = ?, changed_at = ? WHERE name = ? AND sealed = ?`, sealed, toMillis(tx.Now), name, was)
}

// ErrHeld says that another process is at what only one may do at a time.
var ErrHeld = errors.New("store: held by another process")

// holder is an engine that several processes share.
type holder interface {
	Hold(ctx context.Context, thing string) (release func() error, err error)
}

// Hold keeps every other process from a thing until it is released, or this process dies. ErrHeld when another one has it. A store that is a
// file has locks beside it for that.
func (db *DB) Hold(ctx context.Context, thing string) (release func() error, err error) {
	h, ok := db.engine.(holder)
	if !ok {
		return nil, errors.New("store: a file cannot be held")
	}
	return h.Hold(ctx, thing)
}

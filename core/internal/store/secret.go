package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	selectSecret        = declare("selectSecret")
	selectSecretChanged = declare("selectSecretChanged")
	insertSecret        = declare("insertSecret")
	replaceSecret       = declare("replaceSecret")
)

// Secret returns an encrypted secret that all processes share, by its name, else ErrNotFound.
func (db *DB) Secret(ctx context.Context, name string) ([]byte, error) {
	var sealed []byte
	if err := db.row(ctx, selectSecret, name).Scan(&sealed); errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	return sealed, nil
}

// SecretChanged returns when a secret was last written, else ErrNotFound.
func (db *DB) SecretChanged(ctx context.Context, name string) (time.Time, error) {
	var at int64
	if err := db.row(ctx, selectSecretChanged, name).Scan(&at); errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, payment.ErrNotFound
	} else if err != nil {
		return time.Time{}, fmt.Errorf("read secret: %w", err)
	}
	return fromMillis(at), nil
}

// InsertSecret inserts an encrypted secret. It returns ErrDuplicate if one of that name exists.
func (tx *Tx) InsertSecret(name string, sealed []byte) error {
	return tx.insert(insertSecret, name, sealed, toMillis(tx.Now))
}

// ReplaceSecret replaces the value was of a secret. It returns ErrConflict if the secret has
// another value.
func (tx *Tx) ReplaceSecret(name string, was, sealed []byte) error {
	return tx.execOne(replaceSecret,
		sealed, toMillis(tx.Now), name, was)
}

// ErrHeld reports that another process holds a thing: see Engine.Hold.
var ErrHeld = errors.New("store: held by another process")

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Key is a stored API key. The secret itself is never stored.
type Key struct {
	ID        int64
	Tenant    payment.Tenant
	Kind      string // secret or publishable
	Scopes    []string
	Hint      string // the last four characters
	CreatedAt time.Time
	ExpiresAt time.Time // zero for never
}

// InsertMerchant writes a merchant.
func (tx *Tx) InsertMerchant(id int64, name string) error {
	return tx.insert(`INSERT INTO merchants (id, name, created_at) VALUES (?, ?, ?)`, id, name, toMillis(tx.Now))
}

// InsertKey writes a key under the hash it is found by. ErrNotFound when there is no such merchant.
func (tx *Tx) InsertKey(k *Key, hash []byte) error {
	row, err := tx.row(`SELECT id FROM merchants WHERE id = ?`, k.Tenant.Merchant)
	if err != nil {
		return err
	}
	var id int64
	if err := row.Scan(&id); errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	} else if err != nil {
		return fmt.Errorf("read merchant: %w", err)
	}
	return tx.insert(`INSERT INTO api_keys (id, merchant_id, live, kind, hash, hint, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		k.ID, k.Tenant.Merchant, k.Tenant.Live, k.Kind, hash, k.Hint, strings.Join(k.Scopes, " "), toMillis(tx.Now))
}

// KeyByHash finds the key with this hash, else ErrNotFound.
func (db *DB) KeyByHash(ctx context.Context, hash []byte) (*Key, error) {
	s, err := db.query(ctx, `SELECT id, merchant_id, live, kind, scopes, hint, created_at, COALESCE(expires_at, 0)
		FROM api_keys WHERE hash = ?`)
	if err != nil {
		return nil, err
	}
	var (
		k                Key
		scopes           string
		created, expires int64
	)
	err = s.row(ctx, hash).Scan(&k.ID, &k.Tenant.Merchant, &k.Tenant.Live, &k.Kind, &scopes, &k.Hint, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	k.Scopes = strings.Fields(scopes)
	k.CreatedAt, k.ExpiresAt = fromMillis(created), fromMillis(expires)
	return &k, nil
}

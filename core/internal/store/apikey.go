package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const keyColumns = `id, merchant_id, live, kind, name, scopes, hint, COALESCE(replaced_by, 0), created_at, COALESCE(expires_at, 0),
	COALESCE(revoked_at, 0), COALESCE(last_used_at, 0), EXISTS (SELECT 1 FROM merchants m WHERE m.id = merchant_id AND m.disabled_at > 0)`

// InsertKey writes a key under the hash it is found by, and fills in when it was made. ErrNotFound when there is no such merchant,
// ErrTooManyKeys at the bound, ErrDuplicate when the id is taken.
func (tx *Tx) InsertKey(k *payment.APIKey, hash []byte) error {
	if err := tx.lock("keys", k.Tenant.Merchant); err != nil {
		return err
	}
	row, err := tx.row(`SELECT COUNT(*) FROM api_keys WHERE merchant_id = ?1 AND live = ?2 AND replaced_by IS NULL AND revoked_at IS NULL
		AND (expires_at IS NULL OR expires_at > ?3)`, k.Tenant.Merchant, k.Tenant.Live, toMillis(tx.Now))
	if err != nil {
		return err
	}
	var active int
	if err := row.Scan(&active); err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	if active >= payment.MaxKeys {
		return payment.ErrTooManyKeys
	}
	return tx.addKey(k, hash)
}

// addKey is InsertKey without the bound and its lock, for a key that replaces another. RollKey holds
// the row of the old key, and RevokeKey takes the lock before it takes the row.
func (tx *Tx) addKey(k *payment.APIKey, hash []byte) error {
	row, err := tx.row(`SELECT id FROM merchants WHERE id = ?`, k.Tenant.Merchant)
	if err != nil {
		return err
	}
	var id int64
	if err := row.Scan(&id); errors.Is(err, sql.ErrNoRows) {
		return payment.ErrNotFound
	} else if err != nil {
		return fmt.Errorf("read merchant: %w", err)
	}
	k.CreatedAt = tx.Now
	return tx.insert(`INSERT INTO api_keys (id, merchant_id, live, kind, name, hash, root_version, hint, scopes, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, 0))`,
		k.ID, k.Tenant.Merchant, k.Tenant.Live, k.Kind, k.Name, hash, k.Root, k.Hint, strings.Join(k.Scopes, " "), toMillis(tx.Now), toMillis(k.ExpiresAt))
}

// RollKey writes next, found by hash, in the place of the active key old, which stays valid until a time at most. ErrConflict when old is
// not active, ErrDuplicate when the id of next is taken; neither leaves anything.
func (tx *Tx) RollKey(old int64, until time.Time, next *payment.APIKey, hash []byte) error {
	return tx.whole(func() error {
		err := tx.change(`UPDATE api_keys SET replaced_by = ?1, expires_at = MIN(COALESCE(expires_at, ?2), ?2)
			WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND replaced_by IS NULL AND revoked_at IS NULL
				AND (expires_at IS NULL OR expires_at > ?6)`,
			next.ID, toMillis(until), old, next.Tenant.Merchant, next.Tenant.Live, toMillis(tx.Now))
		if err != nil {
			return err
		}
		return tx.addKey(next, hash)
	})
}

// RevokeKey ends a key. Unless forced, it returns ErrConflict for the tenant's last active key that can manage keys, and changes nothing; of
// a key that was revoked before it changes nothing either.
func (tx *Tx) RevokeKey(tenant payment.Tenant, id int64, force bool) error {
	if err := tx.lock("keys", tenant.Merchant); err != nil {
		return err
	}
	return tx.change(`UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?1)
		WHERE id = ?2 AND merchant_id = ?3 AND live = ?4 AND (?5 <> 0 OR revoked_at IS NOT NULL OR replaced_by IS NOT NULL OR expires_at <= ?1
			OR kind <> 'secret' OR instr(' ' || scopes || ' ', ' keys:write ') = 0
			OR EXISTS (SELECT 1 FROM api_keys other
				WHERE other.merchant_id = ?3 AND other.live = ?4 AND other.id <> ?2 AND other.kind = 'secret'
					AND instr(' ' || other.scopes || ' ', ' keys:write ') > 0 AND other.revoked_at IS NULL
					AND other.replaced_by IS NULL AND (other.expires_at IS NULL OR other.expires_at > ?1)))`,
		toMillis(tx.Now), id, tenant.Merchant, tenant.Live, force)
}

// TouchKeys writes when keys were last used, by id. An earlier time than the stored one changes nothing.
func (tx *Tx) TouchKeys(used map[int64]time.Time) error {
	for _, id := range slices.Sorted(maps.Keys(used)) { // in one order, so that two processes do not wait for each other
		err := tx.exec(`UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND COALESCE(last_used_at, 0) < ?1`, toMillis(used[id]), id)
		if err != nil {
			return err
		}
	}
	return nil
}

// LockedKey reads one key of the tenant, which no other command changes until this one has ended,
// else ErrNotFound.
func (tx *Tx) LockedKey(tenant payment.Tenant, id int64) (*payment.APIKey, error) {
	row, err := tx.locked(`SELECT `+keyColumns+` FROM api_keys WHERE id = ? AND merchant_id = ? AND live = ?`, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanKey(row)
}

// Key reads one key of the tenant inside the group, else ErrNotFound.
func (tx *Tx) Key(tenant payment.Tenant, id int64) (*payment.APIKey, error) {
	row, err := tx.row(`SELECT `+keyColumns+` FROM api_keys WHERE id = ? AND merchant_id = ? AND live = ?`, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanKey(row)
}

// KeyByHash finds the key with this hash, else ErrNotFound.
func (db *DB) KeyByHash(ctx context.Context, hash []byte) (*payment.APIKey, error) {
	s, err := db.query(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE hash = ?`)
	if err != nil {
		return nil, err
	}
	return scanKey(s.Row(ctx, hash))
}

// KeyByID finds the key with this id, whoever's it is, else ErrNotFound. It is for operators.
func (db *DB) KeyByID(ctx context.Context, id int64) (*payment.APIKey, error) {
	s, err := db.query(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE id = ?`)
	if err != nil {
		return nil, err
	}
	return scanKey(s.Row(ctx, id))
}

// Keys lists the tenant's keys, newest first, those that are not valid any more included.
func (db *DB) Keys(ctx context.Context, tenant payment.Tenant, p payment.Page) (payment.List[*payment.APIKey], error) {
	return list(ctx, db, `SELECT `+keyColumns+` FROM api_keys WHERE merchant_id = ? AND live = ?`, p, scanKey, tenant.Merchant, tenant.Live)
}

func scanKey(row Scanner) (*payment.APIKey, error) {
	var (
		k                               payment.APIKey
		scopes                          string
		created, expires, revoked, used int64
	)
	err := row.Scan(&k.ID, &k.Tenant.Merchant, &k.Tenant.Live, &k.Kind, &k.Name, &scopes, &k.Hint, &k.ReplacedBy, &created, &expires,
		&revoked, &used, &k.MerchantDisabled)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	k.Scopes = strings.Fields(scopes)
	k.CreatedAt, k.ExpiresAt, k.RevokedAt, k.LastUsedAt = fromMillis(created), fromMillis(expires), fromMillis(revoked), fromMillis(used)
	return &k, nil
}

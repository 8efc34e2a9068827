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

var (
	countActiveKeys  = declare("countActiveKeys")
	selectMerchantID = declare("selectMerchantID")
	insertKey        = declare("insertKey")
	replaceKey       = declare("replaceKey")
	revokeKey        = declare("revokeKey")
	touchKey         = declare("touchKey")
	lockKey          = declare("lockKey")
	selectKey        = declare("selectKey")
	selectKeyByHash  = declare("selectKeyByHash")
	selectKeyByID    = declare("selectKeyByID")
	listKeys         = declareList("listKeys")
)

// InsertKey writes a key under the hash it is found by, and fills in when it was made. ErrNotFound when there is no such merchant,
// ErrTooManyKeys at the bound, ErrDuplicate when the id is taken.
func (tx *Tx) InsertKey(k *payment.APIKey, hash []byte) error {
	if err := tx.lock("keys", k.Tenant.Merchant); err != nil {
		return err
	}
	row, err := tx.row(countActiveKeys, k.Tenant.Merchant, k.Tenant.Live, toMillis(tx.Now))
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
	row, err := tx.row(selectMerchantID, k.Tenant.Merchant)
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
	return tx.insert(insertKey,
		k.ID, k.Tenant.Merchant, k.Tenant.Live, k.Kind, k.Name, hash, k.Root, k.Hint, strings.Join(k.Scopes, " "), toMillis(tx.Now), toMillis(k.ExpiresAt))
}

// RollKey writes next, found by hash, in the place of the active key old, which stays valid until a time at most. ErrConflict when old is
// not active, ErrDuplicate when the id of next is taken; neither leaves anything.
func (tx *Tx) RollKey(old int64, until time.Time, next *payment.APIKey, hash []byte) error {
	return tx.whole(func() error {
		err := tx.change(replaceKey,
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
	return tx.change(revokeKey,
		toMillis(tx.Now), id, tenant.Merchant, tenant.Live, force)
}

// TouchKeys writes when keys were last used, by id. An earlier time than the stored one changes nothing.
func (tx *Tx) TouchKeys(used map[int64]time.Time) error {
	for _, id := range slices.Sorted(maps.Keys(used)) { // in one order, so that two processes do not wait for each other
		err := tx.exec(touchKey, toMillis(used[id]), id)
		if err != nil {
			return err
		}
	}
	return nil
}

// LockedKey reads one key of the tenant, which no other command changes until this one has ended,
// else ErrNotFound.
func (tx *Tx) LockedKey(tenant payment.Tenant, id int64) (*payment.APIKey, error) {
	row, err := tx.row(lockKey, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanKey(row)
}

// Key reads one key of the tenant inside the group, else ErrNotFound.
func (tx *Tx) Key(tenant payment.Tenant, id int64) (*payment.APIKey, error) {
	row, err := tx.row(selectKey, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanKey(row)
}

// KeyByHash finds the key with this hash, else ErrNotFound.
func (db *DB) KeyByHash(ctx context.Context, hash []byte) (*payment.APIKey, error) {
	return scanKey(db.row(ctx, selectKeyByHash, hash))
}

// KeyByID finds the key with this id, whoever's it is, else ErrNotFound. It is for operators.
func (db *DB) KeyByID(ctx context.Context, id int64) (*payment.APIKey, error) {
	return scanKey(db.row(ctx, selectKeyByID, id))
}

// Keys lists the tenant's keys, newest first, those that are not valid any more included.
func (db *DB) Keys(ctx context.Context, tenant payment.Tenant, p payment.Page) (payment.List[*payment.APIKey], error) {
	return list(ctx, db, tenant.Merchant, listKeys, p, scanKey, tenant.Merchant, tenant.Live)
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

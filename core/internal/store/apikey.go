package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	countActiveKeys  = declare("countActiveKeys")
	countStoredKeys  = declare("countStoredKeys")
	deleteEndedKey   = declare("deleteEndedKey")
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

// InsertKey inserts a key under its hash, by which requests find it, and fills in CreatedAt. It
// returns ErrNotFound if there is no such merchant, and ErrDuplicate if the id is taken. It returns
// ErrTooManyKeys if the tenant has payment.MaxKeys active keys, or payment.MaxStoredKeys keys of
// which none has ended.
func (tx *Tx) InsertKey(k *payment.APIKey, hash []byte) error {
	if err := tx.lock("keys", k.Tenant.Merchant); err != nil {
		return err
	}
	row, err := tx.row(countActiveKeys, k.Tenant.Merchant, k.Tenant.Live, toMillis(tx.Now))
	if err != nil {
		return err
	}
	if active, err := scanNumber(row); err != nil {
		return fmt.Errorf("count keys: %w", err)
	} else if active >= payment.MaxKeys {
		return payment.ErrTooManyKeys
	}
	return tx.addKey(k, 0, hash)
}

// addKey is InsertKey without the bound of active keys and without the lock. The key old, which k
// replaces, stays. 0 is for none.
func (tx *Tx) addKey(k *payment.APIKey, old int64, hash []byte) error {
	if err := tx.forgetKey(k.Tenant, old); err != nil {
		return err
	}
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
		k.ID, k.Tenant.Merchant, k.Tenant.Live, k.Kind, k.Name, hash, k.Root, k.Hint, strings.Join(k.Scopes, " "),
		strings.Join(payment.PrefixTexts(k.Addresses), " "), strings.Join(k.Origins, " "),
		toMillis(tx.Now), toMillis(k.ExpiresAt))
}

// forgetKey removes the tenant's oldest ended key, except the key old, if payment.MaxStoredKeys
// keys are stored. The audit records and the events of a removed key remain. It returns
// ErrTooManyKeys if no other key has ended.
func (tx *Tx) forgetKey(tenant payment.Tenant, old int64) error {
	row, err := tx.row(countStoredKeys, tenant.Merchant, tenant.Live, payment.MaxStoredKeys)
	if err != nil {
		return err
	}
	if stored, err := scanNumber(row); err != nil || stored < payment.MaxStoredKeys {
		return err
	}
	err = tx.execOne(deleteEndedKey, tenant.Merchant, tenant.Live, toMillis(tx.Now), old)
	if errors.Is(err, ErrConflict) {
		return payment.ErrTooManyKeys
	}
	return err
}

// RollKey replaces the active key old by next, which requests find by hash. old expires at a time,
// unless it expires earlier. It returns ErrConflict if old is not active, and ErrDuplicate if the
// id of next is taken. It returns ErrTooManyKeys if payment.MaxStoredKeys keys are stored and none
// has ended. Nothing is changed then.
func (tx *Tx) RollKey(old int64, until time.Time, next *payment.APIKey, hash []byte) error {
	return tx.savepoint(func() error {
		err := tx.execOne(replaceKey,
			next.ID, toMillis(until), old, next.Tenant.Merchant, next.Tenant.Live, toMillis(tx.Now))
		if err != nil {
			return err
		}
		// A revocation also locks the row first, by LockedKey. Another order could deadlock.
		if err := tx.lock("keys", next.Tenant.Merchant); err != nil {
			return err
		}
		return tx.addKey(next, old, hash)
	})
}

// RevokeKey revokes a key. Unless forced, it returns ErrConflict for the tenant's last active key
// that can manage keys. A key that was revoked before stays as it is, without an error.
func (tx *Tx) RevokeKey(tenant payment.Tenant, id int64, force bool) error {
	if err := tx.lock("keys", tenant.Merchant); err != nil {
		return err
	}
	return tx.execOne(revokeKey,
		toMillis(tx.Now), id, tenant.Merchant, tenant.Live, force)
}

// TouchKeys stores when keys were last used, by key id. It ignores a time that is earlier than the
// stored one.
func (tx *Tx) TouchKeys(used map[int64]time.Time) error {
	for _, id := range slices.Sorted(maps.Keys(used)) { // a fixed order: two processes cannot deadlock
		err := tx.exec(touchKey, toMillis(used[id]), id)
		if err != nil {
			return err
		}
	}
	return nil
}

// LockedKey reads one key of the tenant and locks its row until the command ends, else ErrNotFound.
func (tx *Tx) LockedKey(tenant payment.Tenant, id int64) (*payment.APIKey, error) {
	row, err := tx.row(lockKey, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanKey(row)
}

// Key reads one key of the tenant as part of the command, else ErrNotFound.
func (tx *Tx) Key(tenant payment.Tenant, id int64) (*payment.APIKey, error) {
	row, err := tx.row(selectKey, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanKey(row)
}

// Key reads one key of the tenant, else ErrNotFound.
func (db *DB) Key(ctx context.Context, tenant payment.Tenant, id int64) (*payment.APIKey, error) {
	return scanKey(db.rowOf(ctx, tenant, selectKey, id, tenant.Merchant, tenant.Live))
}

// KeyByHash returns the key with this hash, else ErrNotFound. last is the key that an earlier call
// returned for the hash, nil for none. All calls without it share one turn, which the networks of
// the clients take in turn. The zero network is for clients whose address is not known.
func (db *DB) KeyByHash(
	ctx context.Context, last *payment.APIKey, network netip.Prefix, hash []byte,
) (*payment.APIKey, error) {
	if last == nil {
		return scanKey(db.unknownKeyOf(ctx, network, selectKeyByHash, hash))
	}
	return scanKey(db.essentialOf(ctx, Caller{Tenant: last.Tenant}, selectKeyByHash, hash))
}

// KeyByID returns the key with this id, of any tenant, else ErrNotFound. It reads at the turn of
// the tenant by, which is zero for operators.
func (db *DB) KeyByID(ctx context.Context, by payment.Tenant, id int64) (*payment.APIKey, error) {
	return scanKey(db.essentialOf(ctx, Caller{Tenant: by}, selectKeyByID, id))
}

// Keys lists the tenant's keys, newest first, including expired and revoked keys.
func (db *DB) Keys(ctx context.Context, tenant payment.Tenant, p payment.Page) (payment.List[*payment.APIKey], error) {
	return list(ctx, db, tenant, listKeys, p, scanKey, tenant.Merchant, tenant.Live)
}

func scanKey(row Scanner) (*payment.APIKey, error) {
	var (
		k                               payment.APIKey
		scopes, addresses, origins      string
		created, expires, revoked, used int64
	)
	err := row.Scan(&k.ID, &k.Tenant.Merchant, &k.Tenant.Live, &k.Kind, &k.Name, &scopes, &addresses, &origins, &k.Hint,
		&k.ReplacedBy, &created, &expires, &revoked, &used, &k.MerchantDisabled)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	k.Scopes, k.Origins = strings.Fields(scopes), strings.Fields(origins)
	if k.Addresses, err = splitPrefixes(addresses); err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	k.CreatedAt, k.ExpiresAt = fromMillis(created), fromMillis(expires)
	k.RevokedAt, k.LastUsedAt = fromMillis(revoked), fromMillis(used)
	return &k, nil
}

// splitPrefixes reads the stored text of networks.
func splitPrefixes(text string) (networks []netip.Prefix, err error) {
	for one := range strings.FieldsSeq(text) {
		n, err := netip.ParsePrefix(one)
		if err != nil {
			return nil, err
		}
		networks = append(networks, n)
	}
	return networks, nil
}

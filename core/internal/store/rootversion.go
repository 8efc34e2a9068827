package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
)

var (
	rehashKey              = declare("rehashKey")
	countRootUses          = declare("countRootUses")
	countUnconfirmedBefore = declare("countUnconfirmedBefore")
	countStoredBetween     = declare("countStoredBetween")
	countValidKeys         = declare("countValidKeys")
	countAllEndpoints      = declare("countAllEndpoints")
)

// Rehash is the hash of an API key under another version of the root secret.
type Rehash struct {
	Hash []byte
	Root int64
}

// RehashKeys writes API keys, by id, under newer versions of the root secret. A key that has such a
// version already stays as it is.
func (tx *Tx) RehashKeys(next map[int64]Rehash) error {
	for _, id := range slices.Sorted(maps.Keys(next)) { // in one order, so that two processes do not wait for each other
		err := tx.exec(rehashKey, next[id].Hash, next[id].Root, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// RootUse is how much still needs a version of the root secret.
type RootUse struct {
	Version int64
	Keys    int64 // API keys that are valid and hashed under it
}

// RootUses counts the valid API keys of each version of the root secret.
func (db *DB) RootUses(ctx context.Context, now time.Time) (uses []RootUse, err error) {
	return collect(ctx, db, countRootUses, func(row Scanner) (u RootUse, err error) {
		if err := row.Scan(&u.Version, &u.Keys); err != nil {
			return u, fmt.Errorf("read root version: %w", err)
		}
		return u, nil
	}, toMillis(now))
}

// UnconfirmedBefore counts the transactions made before a time that still wait for their
// confirmation.
func (db *DB) UnconfirmedBefore(ctx context.Context, made time.Time) (n int64, err error) {
	if err := db.count(ctx, countUnconfirmedBefore, id.At(made)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count unconfirmed transactions: %w", err)
	}
	return n, nil
}

// storedPage is how many idempotency keys one statement of StoredBetween reads.
const storedPage = 5000

// StoredBetween counts the stored responses from first to before end, in the order of their bytes,
// whose idempotency key has not expired. It reads all keys, page by page.
func (db *DB) StoredBetween(ctx context.Context, first, end []byte, now time.Time) (n int64, err error) {
	for after, rows := int64(0), storedPage; rows == storedPage; {
		var found int64
		err := db.count(ctx, countStoredBetween, toMillis(now), first, end, after, storedPage).Scan(&rows, &after, &found)
		if err != nil {
			return 0, fmt.Errorf("count stored responses: %w", err)
		}
		n += found
	}
	return n, nil
}

// SecretCount is how many secrets of a kind the merchants have, and when the oldest was made.
type SecretCount struct {
	Count  int64
	Oldest time.Time // zero if there is none
}

// KeyCount counts the valid API keys of all merchants.
func (db *DB) KeyCount(ctx context.Context, now time.Time) (SecretCount, error) {
	return db.secretCount(ctx, countValidKeys, toMillis(now))
}

// EndpointCount counts the webhook endpoints of all merchants, each with a signing secret.
func (db *DB) EndpointCount(ctx context.Context) (SecretCount, error) {
	return db.secretCount(ctx, countAllEndpoints)
}

func (db *DB) secretCount(ctx context.Context, s *Statement, args ...any) (c SecretCount, err error) {
	var oldest int64
	if err := db.count(ctx, s, args...).Scan(&c.Count, &oldest); err != nil {
		return c, fmt.Errorf("count secrets: %w", err)
	}
	c.Oldest = fromMillis(oldest)
	return c, nil
}

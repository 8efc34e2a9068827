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

// RehashKeys replaces the hashes of API keys, by id, by hashes under newer versions of the root
// secret. A key that has such a version already stays as it is.
func (tx *Tx) RehashKeys(next map[int64]Rehash) error {
	for _, id := range slices.Sorted(maps.Keys(next)) { // a fixed order: two processes cannot deadlock
		err := tx.exec(rehashKey, next[id].Hash, next[id].Root, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// RootUses counts the valid API keys by the version of the root secret under which they are hashed.
func (db *DB) RootUses(ctx context.Context, now time.Time) (map[int64]int64, error) {
	keys := map[int64]int64{}
	err := db.engine.Each(ctx, Background, countRootUses, func() { clear(keys) }, func(row Scanner) error {
		var version, n int64
		if err := row.Scan(&version, &n); err != nil {
			return fmt.Errorf("read root version: %w", err)
		}
		keys[version] = n
		return nil
	}, toMillis(now))
	return keys, err
}

// UnconfirmedBefore counts the transactions made before a time that still wait for their
// confirmation.
func (db *DB) UnconfirmedBefore(ctx context.Context, made time.Time) (n int64, err error) {
	if err := db.backgroundRow(ctx, countUnconfirmedBefore, id.At(made)).Scan(&n); err != nil {
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
		row := db.backgroundRow(ctx, countStoredBetween, toMillis(now), first, end, after, storedPage)
		if err := row.Scan(&rows, &after, &found); err != nil {
			return 0, fmt.Errorf("count stored responses: %w", err)
		}
		n += found
	}
	return n, nil
}

// KeyCount counts the valid API keys of all merchants, and returns when the oldest was made, the
// zero time if there is none.
func (db *DB) KeyCount(ctx context.Context, now time.Time) (n int64, oldest time.Time, err error) {
	return db.secretCount(ctx, countValidKeys, toMillis(now))
}

// EndpointCount counts the webhook endpoints of all merchants, each of which has a signing secret.
// It returns when the oldest was made, the zero time if there is none.
func (db *DB) EndpointCount(ctx context.Context) (n int64, oldest time.Time, err error) {
	return db.secretCount(ctx, countAllEndpoints)
}

func (db *DB) secretCount(ctx context.Context, s *Statement, args ...any) (n int64, oldest time.Time, err error) {
	var at int64
	if err := db.backgroundRow(ctx, s, args...).Scan(&n, &at); err != nil {
		return 0, time.Time{}, fmt.Errorf("count secrets: %w", err)
	}
	return n, fromMillis(at), nil
}

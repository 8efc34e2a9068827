package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
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
		err := tx.exec(`UPDATE api_keys SET hash = ?1, root_version = ?2 WHERE id = ?3 AND root_version < ?2`, next[id].Hash, next[id].Root, id)
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
	s, err := db.query(ctx, `SELECT root_version, COUNT(*) FROM api_keys
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) GROUP BY root_version ORDER BY root_version`)
	if err != nil {
		return nil, err
	}
	err = s.Each(ctx, func(row Scanner) error {
		var u RootUse
		if err := row.Scan(&u.Version, &u.Keys); err != nil {
			return fmt.Errorf("read root version: %w", err)
		}
		uses = append(uses, u)
		return nil
	}, toMillis(now))
	return uses, err
}

// UnconfirmedBefore counts the transactions made before a time that still wait for their
// confirmation.
func (db *DB) UnconfirmedBefore(ctx context.Context, made time.Time) (n int64, err error) {
	s, err := db.query(ctx, `SELECT COUNT(*) FROM transactions WHERE status = 'requires_confirmation' AND id < ?`)
	if err != nil {
		return 0, err
	}
	if err := s.Row(ctx, id.At(made)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count unconfirmed transactions: %w", err)
	}
	return n, nil
}

// StoredBetween counts the stored responses from first to before end, in the order of their bytes,
// whose idempotency key has not expired.
func (db *DB) StoredBetween(ctx context.Context, first, end []byte, now time.Time) (n int64, err error) {
	s, err := db.query(ctx, `SELECT COUNT(*) FROM idempotency_keys WHERE status <> 0 AND expires_at > ? AND answer >= ? AND answer < ?`)
	if err != nil {
		return 0, err
	}
	if err := s.Row(ctx, toMillis(now), first, end).Scan(&n); err != nil {
		return 0, fmt.Errorf("count stored responses: %w", err)
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
	return db.secretCount(ctx, `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM api_keys
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`, toMillis(now))
}

// EndpointCount counts the webhook endpoints of all merchants, each with a signing secret.
func (db *DB) EndpointCount(ctx context.Context) (SecretCount, error) {
	return db.secretCount(ctx, `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM webhook_endpoints`)
}

func (db *DB) secretCount(ctx context.Context, text string, args ...any) (c SecretCount, err error) {
	s, err := db.query(ctx, text)
	if err != nil {
		return c, err
	}
	var oldest int64
	if err := s.Row(ctx, args...).Scan(&c.Count, &oldest); err != nil {
		return c, fmt.Errorf("count secrets: %w", err)
	}
	c.Oldest = fromMillis(oldest)
	return c, nil
}

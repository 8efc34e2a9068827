package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	deleteExpiredKey     = declare("deleteExpiredKey")
	lockIdempotencyKey   = declare("lockIdempotencyKey")
	selectClaim          = declare("selectClaim")
	completeKey          = declare("completeKey")
	releaseKey           = declare("releaseKey")
	selectIdempotencyKey = declare("selectIdempotencyKey")
	claimKey             = declare("claimKey")
)

// KeyLifetime is how long an idempotency key is remembered, by the stored time.
const KeyLifetime = 24 * time.Hour

// behindTolerance is how far the time of a command may be behind the highest confirmed time without
// counting as that of a clock that was set back: a command waits for its commit.
const behindTolerance = time.Minute

// KeyExpiry returns until when an idempotency key is remembered that is written at a time. Its
// lifetime begins at the highest confirmed time if that is later. A key that a clock a day behind
// wrote would otherwise have expired once the clock is right, and the retry would be a second
// payment.
func (db *DB) KeyExpiry(at time.Time) time.Time {
	if highest := db.guard.Highest(); highest.Sub(at) > behindTolerance {
		at = highest
	}
	return at.Add(KeyLifetime)
}

// KeyExpiry is until when a key is remembered that the command writes.
func (tx *Tx) KeyExpiry() time.Time { return tx.db.KeyExpiry(tx.Now) }

// Claim is the result of a request for an idempotency key. Exactly one of these cases holds: the
// request holds the key (Held), a request with another body holds it (!SameRequest), an equal
// request is running (SameRequest, Status 0), or an equal request has a stored response
// (SameRequest, Status and Answer).
type Claim struct {
	ID          int64
	Held        bool
	SameRequest bool
	Status      int // HTTP status of the stored response
	Answer      []byte
}

// KeyLeft is how long a key stays at least once its response is stored: a request that was
// concluded late, hours after its key was claimed, is remembered for another KeyLifetime. Otherwise
// the retry that waits for its outcome would be a first request.
const KeyLeft = KeyLifetime - time.Hour

// ClaimBy has each claim of an idempotency key call trusts with the time of its command, and fail
// with ErrUnavailable if that is false. By a time that is a day ahead each key has expired, and a
// key that is claimed by a time that is a day behind has expired at once: either way the retry of a
// payment would be a second one. Call it before any claim.
func (db *DB) ClaimBy(trusts func(at time.Time) bool) { db.trusts = trusts }

// Trusts reports whether an idempotency key may be claimed by a time.
func (db *DB) Trusts(at time.Time) bool { return db.trusts == nil || db.trusts(at) }

// errClock reports that the clock was off when a command began.
var errClock = errors.New("store: the clock is off the server's")

// ClaimKey claims the key for a request under an API key, or returns the request that holds it. An
// expired key is free. Without a key, "", the claim is Held and has no id. A request that claimed the
// key under one of the other fingerprints counts as the same; the key is never claimed under one of
// them. It returns the errors of UseKey, ErrUnavailable as ClaimBy describes, and ErrBusy if other
// requests claim and release the key meanwhile.
func (tx *Tx) ClaimKey(
	apiKey int64, tenant payment.Tenant, key string, fingerprint []byte, others ...[]byte,
) (Claim, error) {
	if key == "" {
		return Claim{Held: true}, tx.UseKey(apiKey)
	}
	if err := tx.trusted(); err != nil {
		return Claim{}, err
	}
	for range maxClaims {
		c, err := tx.insertKey(apiKey, tenant, key, fingerprint)
		if err != nil || c.Held {
			return c, err
		}
		c, err = tx.freeKey(apiKey, tenant, key, append(others, fingerprint))
		if err != nil || c.ID != 0 {
			return c, err
		}
	}
	return Claim{}, fmt.Errorf("claim idempotency key: %w", ErrBusy)
}

// trusted returns ErrUnavailable if no idempotency key may be claimed by the time of the command.
func (tx *Tx) trusted() error {
	if tx.db.Trusts(tx.Now) {
		return nil
	}
	return fmt.Errorf("claim idempotency key: %w: %w", ErrUnavailable, errClock)
}

// freeKey returns the request that holds a key. It returns the zero Claim if none does, and then
// removes the key if that has expired. It returns the errors of UseKey.
func (tx *Tx) freeKey(apiKey int64, tenant payment.Tenant, key string, fingerprints [][]byte) (Claim, error) {
	if err := tx.UseKey(apiKey); err != nil {
		return Claim{}, err
	}
	c, used, err := tx.holder(tenant, key, fingerprints)
	if err != nil || used || c.ID == 0 {
		return c, err
	}
	return Claim{}, tx.exec(deleteExpiredKey, c.ID)
}

// LookUpKey returns the holder of a key, as ClaimKey does, and claims nothing. It returns
// ErrNotFound if the key is free, and the errors of UseKey.
func (tx *Tx) LookUpKey(apiKey int64, tenant payment.Tenant, key string, fingerprints ...[]byte) (Claim, error) {
	if err := tx.UseKey(apiKey); err != nil {
		return Claim{}, err
	}
	c, used, err := tx.holder(tenant, key, fingerprints)
	if err == nil && !used {
		err = payment.ErrNotFound
	}
	return c, err
}

// holder returns the request that has a key, and whether it still has it: a key that is not there
// or has expired by KeysEnded is free. A request under one of the fingerprints is the same
// request.
func (tx *Tx) holder(tenant payment.Tenant, key string, fingerprints [][]byte) (c Claim, used bool, err error) {
	c, stored, expires, err := tx.claimed(tenant, key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Claim{}, false, nil
	case err != nil:
		return Claim{}, false, fmt.Errorf("read idempotency key: %w", err)
	case c.Status != 0 && expires <= toMillis(tx.db.keysEnded(tx.Now)):
		return c, false, nil
	}
	c.SameRequest = slices.ContainsFunc(fingerprints, func(f []byte) bool { return bytes.Equal(f, stored) })
	return c, true, tx.vouch(c)
}

// vouch locks the key of a stored response that a command returns. A server may show a response that
// no standby has yet. The lock is a write, so the standby confirms the command's commit, which comes
// after the commit of the response.
func (tx *Tx) vouch(c Claim) error {
	if !c.SameRequest || c.Status == 0 {
		return nil
	}
	err := tx.s.LockRow(lockIdempotencyKey, c.ID)
	if errors.Is(err, sql.ErrNoRows) { // purged meanwhile
		return nil
	}
	return err
}

// maxClaims bounds the attempts to claim a key that other requests claim and release meanwhile.
const maxClaims = 4

func (tx *Tx) claimed(tenant payment.Tenant, key string) (c Claim, fingerprint []byte, expires int64, err error) {
	row, err := tx.row(selectClaim, tenant.Merchant, tenant.Live, key)
	if err == nil {
		err = row.Scan(&c.ID, &fingerprint, &c.Status, &c.Answer, &expires)
	}
	return c, fingerprint, expires, err
}

func (tx *Tx) insertKey(apiKey int64, tenant payment.Tenant, key string, fingerprint []byte) (Claim, error) {
	n, err := tx.s.InsertNumbered(claimKey,
		tenant.Merchant, tenant.Live, key, fingerprint, toMillis(tx.Now), toMillis(tx.KeyExpiry()), apiKey)
	if err != nil || n == 0 {
		return Claim{}, err
	}
	return Claim{ID: n, Held: true}, nil
}

// CompleteKey stores the response under a claimed key, in the commit of the request's effect. A claim
// of 0 is none.
func (tx *Tx) CompleteKey(claim int64, status int, answer []byte) error {
	if claim == 0 {
		return nil
	}
	expires := tx.KeyExpiry()
	return tx.change(completeKey, status, answer, toMillis(expires.Add(KeyLeft-KeyLifetime)), toMillis(expires), claim)
}

// ReleaseKey frees a claimed key of a request that had no effect. A claim of 0 is none.
func (tx *Tx) ReleaseKey(claim int64) error {
	if claim == 0 {
		return nil
	}
	return tx.change(releaseKey, claim)
}

// StoredKey is a stored idempotency key.
type StoredKey struct {
	Status    int // HTTP status of the stored response, 0 while the request runs
	Answer    []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// IdempotencyKey reads a key of the tenant, expired or not, else ErrNotFound.
func (db *DB) IdempotencyKey(ctx context.Context, tenant payment.Tenant, key string) (*StoredKey, error) {
	k := &StoredKey{}
	var created, expires int64
	err := db.row(ctx, selectIdempotencyKey, tenant.Merchant, tenant.Live, key).Scan(&k.Status, &k.Answer, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read idempotency key: %w", err)
	}
	if k.Status != 0 { // a server may show a response that no standby has yet
		if err := db.engine.Confirm(ctx); err != nil {
			return nil, err
		}
	}
	k.CreatedAt, k.ExpiresAt = fromMillis(created), fromMillis(expires)
	return k, nil
}

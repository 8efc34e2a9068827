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
	contestKey           = declare("contestKey")
	keepContestedKey     = declare("keepContestedKey")
	selectIdempotencyKey = declare("selectIdempotencyKey")
	claimKey             = declare("claimKey")
)

// KeyLifetime is the time from the claim of an idempotency key to its expiry.
const KeyLifetime = 24 * time.Hour

// KeyExpiry returns when an idempotency key expires that is written at a time. Its lifetime begins
// at the highest confirmed time if that is later. Otherwise a key that a clock a day behind wrote
// would expire once the clock is right. The retry would then be a second payment.
func (db *DB) KeyExpiry(at time.Time) time.Time { return db.notBehind(at).Add(KeyLifetime) }

// KeyExpiry returns when an idempotency key expires that the command writes.
func (tx *Tx) KeyExpiry() time.Time { return tx.db.KeyExpiry(tx.Now) }

// Claim is the result of a request for an idempotency key. Exactly one of these cases holds:
//   - Held: the request holds the key.
//   - SameRequest and Status 0: an equal request holds the key and still runs.
//   - SameRequest and another Status: an equal request has ended, and its response is stored.
//   - Neither: a request with another body holds the key.
type Claim struct {
	ID          int64
	Held        bool
	SameRequest bool
	Status      int    // HTTP status of the stored response
	Body        []byte // body of the stored response
}

// KeyLeft is the least remaining lifetime of a key when its response is stored. A request that ends
// hours after its claim keeps the key for another KeyLifetime. Otherwise a retry that waits for the
// outcome would become a first request.
const KeyLeft = KeyLifetime - time.Hour

// ClaimBy sets the function that decides whether the clock can be trusted. Each claim of an
// idempotency key passes it the time of its command, and fails with ErrUnavailable if it returns
// false. By a time that is a day ahead each key has expired. A key that is claimed by a time a day
// behind expires immediately. Either way the retry of a payment would be a second payment. Call
// ClaimBy before any claim.
func (db *DB) ClaimBy(trusts func(at time.Time) bool) { db.trusts = trusts }

// Trusts reports whether an idempotency key may be claimed at a time.
func (db *DB) Trusts(at time.Time) bool { return db.trusts == nil || db.trusts(at) }

// errClock reports that the clock differed from the server's when a command began.
var errClock = errors.New("store: the clock is off the server's")

// ClaimKey claims the key for a request under an API key, or returns the request that holds it. An
// expired key is free. Without a key, "", the claim is Held and has no id. A holder with one of the
// other fingerprints counts as the same request. The key is never claimed under one of these
// fingerprints. It returns the errors of UseKey, ErrUnavailable as ClaimBy describes, and ErrBusy
// if other requests claim and release the key meanwhile.
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

// trusted returns ErrUnavailable if no idempotency key may be claimed at the time of the command.
func (tx *Tx) trusted() error {
	if tx.db.Trusts(tx.Now) {
		return nil
	}
	return fmt.Errorf("claim idempotency key: %w: %w", ErrUnavailable, errClock)
}

// freeKey returns the request that holds a key, and the zero Claim if there is none. It removes the
// key if that has expired. It returns the errors of UseKey.
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

// LookUpKey returns the holder of a key, as ClaimKey does, but claims nothing. It returns
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

// StoredResponse returns the claim of an equal request whose response is stored under a key. It
// runs no command, so it needs no turn of commands. It returns ErrNotFound if there is no such
// response, and the errors of UseKey.
func (db *DB) StoredResponse(
	ctx context.Context, apiKey int64, tenant payment.Tenant, key string, fingerprints ...[]byte,
) (Claim, error) {
	if err := db.useKey(ctx, tenant, apiKey); err != nil {
		return Claim{}, err
	}
	row := db.rowOf(ctx, tenant, selectClaim, tenant.Merchant, tenant.Live, key)
	c, _, err := scanHolder(row, fingerprints, db.keysEnded(db.clock.Now()))
	switch {
	case err != nil:
		return Claim{}, err
	case !c.SameRequest || c.Status == 0:
		return Claim{}, payment.ErrNotFound
	}
	return c, db.engine.Confirm(ctx) // a server can show a response before its commit is on a standby
}

// holder returns the request that claimed a key, and whether it still holds the key. A key that
// does not exist, or has expired by KeysEnded, is free. A request under one of the fingerprints is
// the same request.
func (tx *Tx) holder(tenant payment.Tenant, key string, fingerprints [][]byte) (c Claim, used bool, err error) {
	row, err := tx.row(selectClaim, tenant.Merchant, tenant.Live, key)
	if err != nil {
		return Claim{}, false, fmt.Errorf("read idempotency key: %w", err)
	}
	c, used, err = scanHolder(row, fingerprints, tx.db.keysEnded(tx.Now))
	if err != nil || !used {
		return c, false, err
	}
	return c, true, tx.confirmResponse(c)
}

// scanHolder returns the result of Tx.holder that the row of a key shows. ended is the time by
// which keys have expired.
func scanHolder(row Scanner, fingerprints [][]byte, ended time.Time) (c Claim, used bool, err error) {
	var stored []byte
	var expires int64
	err = row.Scan(&c.ID, &stored, &c.Status, &c.Body, &expires)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Claim{}, false, nil
	case err != nil:
		return Claim{}, false, fmt.Errorf("read idempotency key: %w", err)
	case c.Status != 0 && expires <= toMillis(ended):
		return c, false, nil
	}
	c.SameRequest = slices.ContainsFunc(fingerprints, func(f []byte) bool { return bytes.Equal(f, stored) })
	return c, true, nil
}

// confirmResponse makes sure that a standby has the stored response that a command returns. A
// server can show a response before its commit is on a standby. The lock of its row is a write, so
// the standby must confirm the command's commit, and with it the earlier commit of the response.
func (tx *Tx) confirmResponse(c Claim) error {
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

func (tx *Tx) insertKey(apiKey int64, tenant payment.Tenant, key string, fingerprint []byte) (Claim, error) {
	n, err := tx.s.InsertNumbered(claimKey,
		tenant.Merchant, tenant.Live, key, fingerprint, toMillis(tx.Now), toMillis(tx.KeyExpiry()), apiKey,
		toMillis(tx.Date()))
	if err != nil || n == 0 {
		return Claim{}, err
	}
	return Claim{ID: n, Held: true}, nil
}

// CompleteKey stores the response under a claimed key, in the commit of the request's effect. A
// claim of 0 is for a request without a key: nothing is stored.
func (tx *Tx) CompleteKey(claim int64, status int, body []byte) error {
	if claim == 0 {
		return nil
	}
	expires := tx.KeyExpiry()
	return tx.execOne(completeKey, status, body, toMillis(expires.Add(KeyLeft-KeyLifetime)), toMillis(expires), claim)
}

// ContestKey stores the body of the response that ReleaseKey completes the key with, instead of
// freeing it. It does nothing if the request has ended, or the key has such a body.
func (tx *Tx) ContestKey(claim int64, body []byte) error { return tx.exec(contestKey, body, claim) }

// contestedStatus is the HTTP status of a response that ContestKey has stored.
const contestedStatus = 422 // Unprocessable Content

// ReleaseKey frees a claimed key of a request that had no effect. If the key is contested, it is
// completed instead. ReleaseKey does nothing if the claim is 0.
func (tx *Tx) ReleaseKey(claim int64) error {
	if claim == 0 {
		return nil
	}
	if n, err := tx.execCount(releaseKey, claim); err != nil || n == 1 {
		return err
	}
	expires := tx.KeyExpiry()
	return tx.execOne(keepContestedKey,
		contestedStatus, toMillis(expires.Add(KeyLeft-KeyLifetime)), toMillis(expires), claim)
}

// StoredKey is a stored idempotency key.
type StoredKey struct {
	Status    int    // HTTP status of the stored response, 0 while the request runs
	Body      []byte // body of the stored response
	CreatedAt time.Time
	ExpiresAt time.Time
}

// IdempotencyKey reads a key of the tenant, expired or not, else ErrNotFound.
func (db *DB) IdempotencyKey(ctx context.Context, tenant payment.Tenant, key string) (*StoredKey, error) {
	k := &StoredKey{}
	var created, expires int64
	row := db.rowOf(ctx, tenant, selectIdempotencyKey, tenant.Merchant, tenant.Live, key)
	err := row.Scan(&k.Status, &k.Body, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read idempotency key: %w", err)
	}
	if k.Status != 0 { // a server can show a response before its commit is on a standby
		if err := db.engine.Confirm(ctx); err != nil {
			return nil, err
		}
	}
	k.CreatedAt, k.ExpiresAt = fromMillis(created), fromMillis(expires)
	return k, nil
}

package keystore

import (
	"context"
	"fmt"
	"time"
)

// Key is a key of the service. The times of events that have not happened are zero.
type Key struct {
	Kid, Tenant, Alg string
	JWK              []byte // the public key
	Sealed           []byte // the encrypted private key; nil after it was wiped

	CreatedAt    time.Time
	NotBefore    time.Time // when a next key becomes current
	RotateAt     time.Time // when a current key is replaced
	ActivatedAt  time.Time
	SupersededAt time.Time
	RetireAt     time.Time // when a replaced key stops decrypting
	RevokedAt    time.Time
	RequestedAt  time.Time // when its merchant requested its replacement; zero if an operator or the schedule replaced it
	DueAt        time.Time // when the schedule must check it

	MAC []byte // of all other fields
}

const keyColumns = `kid, tenant, alg, jwk, sealed, created_at, not_before, rotate_at, activated_at, superseded_at,
	retire_at, revoked_at, requested_at, due_at, mac`

func scanKey(r scanner) (*Key, error) {
	var (
		k                                                                                     Key
		created, notBefore, rotate, activated, superseded, retire, revoked, requested, dueMil int64
	)
	err := r.Scan(
		&k.Kid, &k.Tenant, &k.Alg, &k.JWK, &k.Sealed, &created, &notBefore, &rotate, &activated, &superseded, &retire,
		&revoked, &requested, &dueMil, &k.MAC,
	)
	k.CreatedAt, k.NotBefore, k.RotateAt, k.ActivatedAt = moment(created), moment(notBefore), moment(rotate), moment(
		activated,
	)
	k.SupersededAt, k.RetireAt, k.RevokedAt, k.RequestedAt, k.DueAt = moment(
		superseded,
	), moment(retire), moment(revoked), moment(requested), moment(dueMil)
	return &k, err
}

const keysOf = `SELECT ` + keyColumns + ` FROM mle_keys WHERE tenant = ? ORDER BY created_at, kid`

// Keys lists a tenant's keys, the oldest first, including ended ones.
func (db *DB) Keys(ctx context.Context, tenant string) ([]*Key, error) {
	rows, err := db.read.QueryContext(ctx, db.sql(keysOf), tenant)
	return collect(rows, err, scanKey)
}

// Keys is DB.Keys inside the transaction.
func (tx *Tx) Keys(tenant string) ([]*Key, error) {
	rows, err := tx.tx.QueryContext(tx.ctx, tx.db.sql(keysOf), tenant)
	return collect(rows, err, scanKey)
}

// Key returns one key, or ErrNotFound.
func (db *DB) Key(ctx context.Context, kid string) (*Key, error) {
	return found(scanKey(db.read.QueryRowContext(ctx, db.sql(`SELECT `+keyColumns+` FROM mle_keys WHERE kid = ?`), kid)))
}

// Tenants lists all tenants that have keys.
func (db *DB) Tenants(ctx context.Context) ([]string, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT DISTINCT tenant FROM mle_keys ORDER BY tenant`)
	return collect(rows, err, func(r scanner) (t string, err error) { return t, r.Scan(&t) })
}

// Due lists the tenants with a key that the schedule must check.
func (db *DB) Due(ctx context.Context, now time.Time) ([]string, error) {
	rows, err := db.read.QueryContext(
		ctx, db.sql(`SELECT DISTINCT tenant FROM mle_keys WHERE due_at > 0 AND due_at <= ?`), millis(now),
	)
	return collect(rows, err, func(r scanner) (t string, err error) { return t, r.Scan(&t) })
}

// InsertKey writes a key. It returns ErrConflict if the key exists, or if the tenant already has a
// key in that state.
func (tx *Tx) InsertKey(k *Key) error {
	return tx.one(`INSERT INTO mle_keys (`+keyColumns+`, revision)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		k.Kid, k.Tenant, k.Alg, k.JWK, k.Sealed, millis(k.CreatedAt), millis(k.NotBefore), millis(k.RotateAt),
		millis(k.ActivatedAt),
		millis(k.SupersededAt), millis(k.RetireAt), millis(k.RevokedAt), millis(k.RequestedAt), millis(k.DueAt), k.MAC,
		tx.revision)
}

// UpdateKey writes the mutable columns of a key: its times, the wiped private key, and the MAC.
func (tx *Tx) UpdateKey(k *Key) error {
	return tx.one(`UPDATE mle_keys SET sealed = ?, not_before = ?, rotate_at = ?, activated_at = ?,
		superseded_at = ?, retire_at = ?, revoked_at = ?, requested_at = ?, due_at = ?, mac = ?, revision = ?
		WHERE kid = ? AND tenant = ?`,
		k.Sealed, millis(k.NotBefore), millis(k.RotateAt), millis(k.ActivatedAt), millis(k.SupersededAt), millis(k.RetireAt),
		millis(k.RevokedAt), millis(k.RequestedAt), millis(k.DueAt), k.MAC, tx.revision, k.Kid, k.Tenant)
}

// Purge removes keys that ended before that time and that the schedule need not check. It also
// removes response keys that were deleted before it.
func (db *DB) Purge(ctx context.Context, before time.Time) error {
	at := millis(before)
	_, err := db.write.ExecContext(ctx, db.sql(`DELETE FROM mle_keys WHERE sealed IS NULL AND due_at = 0 AND created_at < ?
		AND (revoked_at > 0 AND revoked_at < ? OR revoked_at = 0 AND retire_at > 0 AND retire_at < ?)`), at, at, at)
	if err == nil {
		_, err = db.write.ExecContext(
			ctx, db.sql(`DELETE FROM mle_response_keys WHERE deleted_at > 0 AND deleted_at < ?`), at,
		)
	}
	if err != nil {
		return fmt.Errorf("keystore: purge: %w", err)
	}
	return nil
}

// FirstRotation returns the earliest time at which a current key must be replaced. That is when its
// next key becomes current, if one is published. It returns zero if there is no current key.
func (db *DB) FirstRotation(ctx context.Context) (time.Time, error) {
	var at int64
	err := db.read.QueryRowContext(ctx, `SELECT COALESCE(MIN(COALESCE(next.not_before, current.rotate_at)), 0)
		FROM mle_keys AS current LEFT JOIN mle_keys AS next ON next.tenant = current.tenant AND next.alg = current.alg
			AND next.activated_at = 0 AND next.revoked_at = 0
		WHERE current.activated_at > 0 AND current.superseded_at = 0 AND current.revoked_at = 0`).Scan(&at)
	return found(moment(at), err)
}

const (
	spareColumns = `kid, alg, jwk, sealed, created_at, mac`
	spareKeys    = `SELECT ` + spareColumns + ` FROM mle_spares ORDER BY created_at, kid`
)

func scanSpare(r scanner) (*Key, error) {
	var k Key
	var created int64
	err := r.Scan(&k.Kid, &k.Alg, &k.JWK, &k.Sealed, &created, &k.MAC)
	k.CreatedAt = moment(created)
	return &k, err
}

// SpareKeys lists the spare keys, the oldest first.
func (db *DB) SpareKeys(ctx context.Context) ([]*Key, error) {
	rows, err := db.read.QueryContext(ctx, spareKeys)
	return collect(rows, err, scanSpare)
}

// SpareKeys is DB.SpareKeys inside the transaction.
func (tx *Tx) SpareKeys() ([]*Key, error) {
	rows, err := tx.tx.QueryContext(tx.ctx, spareKeys)
	return collect(rows, err, scanSpare)
}

// DeleteSpare removes a spare key.
func (tx *Tx) DeleteSpare(kid string) error {
	return tx.one(`DELETE FROM mle_spares WHERE kid = ?`, kid)
}

// Spares counts the spare keys of an algorithm.
func (db *DB) Spares(ctx context.Context, alg string) (n int, err error) {
	err = db.read.QueryRowContext(ctx, db.sql(`SELECT COUNT(*) FROM mle_spares WHERE alg = ?`), alg).Scan(&n)
	return found(n, err)
}

// Spares is DB.Spares inside the transaction.
func (tx *Tx) Spares(alg string) (n int, err error) {
	err = tx.row(`SELECT COUNT(*) FROM mle_spares WHERE alg = ?`, alg).Scan(&n)
	return found(n, err)
}

// InsertSpare writes a key without a tenant.
func (tx *Tx) InsertSpare(k *Key) error {
	return tx.one(
		`INSERT INTO mle_spares (`+spareColumns+`) VALUES (?, ?, ?, ?, ?, ?)`, k.Kid, k.Alg, k.JWK, k.Sealed,
		millis(k.CreatedAt), k.MAC,
	)
}

// TakeSpare removes and returns the oldest spare key, or returns ErrNotFound.
func (tx *Tx) TakeSpare(alg string) (*Key, error) {
	return found(scanSpare(tx.row(`DELETE FROM mle_spares
		WHERE kid = (SELECT kid FROM mle_spares WHERE alg = ? ORDER BY created_at, kid LIMIT 1)
		RETURNING `+spareColumns, alg)))
}

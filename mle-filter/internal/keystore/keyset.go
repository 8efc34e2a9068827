package keystore

import (
	"context"
	"time"
)

// Keyset encrypts the private keys. The key-encryption key encrypts it.
type Keyset struct {
	Sealed     []byte
	Generation int64     // counts the changes of its keys
	RotatedAt  time.Time // creation time of its newest key
	WrappedAt  time.Time // time of its first encryption by the key-encryption key
	HMACKey    []byte    // the encrypted key of the HMACs of rows and of Idempotency-Keys
}

const keysetOf = `SELECT sealed, generation, rotated_at, wrapped_at, hmac_key FROM mle_keyset`

func scanKeyset(r scanner) (Keyset, error) {
	var k Keyset
	var rotated, wrapped int64
	err := r.Scan(&k.Sealed, &k.Generation, &rotated, &wrapped, &k.HMACKey)
	k.RotatedAt, k.WrappedAt = moment(rotated), moment(wrapped)
	return found(k, err)
}

// Keyset returns the keyset, or ErrNotFound.
func (db *DB) Keyset(ctx context.Context) (Keyset, error) {
	return scanKeyset(db.read.QueryRowContext(ctx, keysetOf))
}

// Keyset is DB.Keyset inside the transaction.
func (tx *Tx) Keyset() (Keyset, error) { return scanKeyset(tx.row(keysetOf)) }

// MakeKeyset writes the first keyset, made and wrapped now. It returns ErrConflict if there is one.
func (tx *Tx) MakeKeyset(sealed, hmacKey []byte) error {
	now := millis(tx.Now)
	return tx.one(`INSERT INTO mle_keyset (id, sealed, rotated_at, wrapped_at, hmac_key) VALUES (1, ?, ?, ?, ?)`,
		sealed, now, now, hmacKey)
}

// ReplaceKeyset replaces the keyset that was read. It returns ErrConflict if another one is stored
// now.
func (tx *Tx) ReplaceKeyset(old, k Keyset) error {
	return tx.one(`UPDATE mle_keyset SET sealed = ?, generation = ?, rotated_at = ?, wrapped_at = ?, hmac_key = ?
		WHERE sealed = ?`,
		k.Sealed, k.Generation, millis(k.RotatedAt), millis(k.WrappedAt), k.HMACKey, old.Sealed)
}

// sealed selects all keys with an encrypted private key. Spare keys have no tenant.
const sealed = `(SELECT ` + keyColumns + ` FROM mle_keys WHERE sealed IS NOT NULL
	UNION ALL SELECT kid, '' AS tenant, alg, jwk, sealed, created_at, 0, 0, 0, 0, 0, 0, 0, 0, mac
	FROM mle_spares) AS all_sealed`

// Sealed lists keys with an encrypted private key by id, after the given id. It omits the ones that
// begin with prefix, which identifies the encrypting key.
func (tx *Tx) Sealed(after string, prefix []byte, limit int) ([]*Key, error) {
	rows, err := tx.tx.QueryContext(tx.ctx, tx.db.sql(`SELECT `+keyColumns+` FROM `+sealed+`
		WHERE kid > ? AND substr(sealed, 1, 5) <> ? ORDER BY kid LIMIT ?`), after, prefix, limit)
	return collect(rows, err, scanKey)
}

// CountSealed counts the encrypted private keys, and the ones among them that do not begin with
// prefix.
func (tx *Tx) CountSealed(prefix []byte) (all, others int, err error) {
	err = tx.row(
		`SELECT COUNT(*), COUNT(CASE WHEN substr(sealed, 1, 5) <> ? THEN 1 END) FROM `+sealed, prefix,
	).Scan(&all, &others)
	all, err = found(all, err)
	return all, others, err
}

// Reseal writes a private key that was encrypted again.
func (tx *Tx) Reseal(k *Key) error {
	if k.Tenant == "" {
		return tx.one(`UPDATE mle_spares SET sealed = ?, mac = ? WHERE kid = ?`, k.Sealed, k.MAC, k.Kid)
	}
	return tx.one(`UPDATE mle_keys SET sealed = ?, mac = ?, revision = ? WHERE kid = ?`, k.Sealed, k.MAC, tx.revision,
		k.Kid)
}

package keystore

import (
	"context"
	"time"
)

// ResponseKey is a merchant's public key. It is active after its proof, until it is deleted.
type ResponseKey struct {
	Tenant, Kid, Alg   string
	JWK                []byte
	CreatedAt          time.Time
	ProvenAt           time.Time
	Order              int64 // of two active keys, the newer one has the higher value
	DeletedAt          time.Time
	Challenge          []byte // the hash of the expected proof; nil if none is expected
	ChallengeExpiresAt time.Time
	MAC                []byte // of all other fields; nil once the key is deleted
}

const responseKeyColumns = `tenant, kid, alg, jwk, created_at, proven_at, proven_revision, deleted_at, challenge,
	challenge_expires_at, mac`

func scanResponseKey(r scanner) (*ResponseKey, error) {
	var (
		k                                 ResponseKey
		created, proven, deleted, expires int64
	)
	err := r.Scan(
		&k.Tenant, &k.Kid, &k.Alg, &k.JWK, &created, &proven, &k.Order, &deleted, &k.Challenge, &expires, &k.MAC,
	)
	k.CreatedAt, k.ProvenAt, k.DeletedAt, k.ChallengeExpiresAt = moment(created), moment(proven), moment(deleted), moment(
		expires,
	)
	return &k, err
}

const responseKeysOf = `SELECT ` + responseKeyColumns + ` FROM mle_response_keys WHERE tenant = ? AND deleted_at = 0
	ORDER BY proven_revision DESC, created_at DESC, kid`

// ResponseKeys lists a tenant's response keys that were not deleted, the newest active one first.
func (db *DB) ResponseKeys(ctx context.Context, tenant string) ([]*ResponseKey, error) {
	rows, err := db.read.QueryContext(ctx, db.sql(responseKeysOf), tenant)
	return collect(rows, err, scanResponseKey)
}

// ResponseKeys is DB.ResponseKeys inside the transaction.
func (tx *Tx) ResponseKeys(tenant string) ([]*ResponseKey, error) {
	rows, err := tx.tx.QueryContext(tx.ctx, tx.db.sql(responseKeysOf), tenant)
	return collect(rows, err, scanResponseKey)
}

// ResponseTenants lists all tenants that have active response keys.
func (db *DB) ResponseTenants(ctx context.Context) ([]string, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT DISTINCT tenant FROM mle_response_keys
		WHERE proven_at > 0 AND deleted_at = 0 ORDER BY tenant`)
	return collect(rows, err, func(r scanner) (t string, err error) { return t, r.Scan(&t) })
}

// PutResponseKey writes an unproven response key. It replaces a key with that id that was deleted
// or is unproven.
func (tx *Tx) PutResponseKey(k *ResponseKey) error {
	return tx.one(`INSERT INTO mle_response_keys
		(tenant, kid, alg, jwk, created_at, challenge, challenge_expires_at, mac, revision)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, kid) DO UPDATE SET alg = excluded.alg, jwk = excluded.jwk, created_at = excluded.created_at,
			proven_at = 0, proven_revision = 0, deleted_at = 0, challenge = excluded.challenge,
			challenge_expires_at = excluded.challenge_expires_at, mac = excluded.mac, revision = excluded.revision
		WHERE mle_response_keys.proven_at = 0 OR mle_response_keys.deleted_at > 0`,
		k.Tenant, k.Kid, k.Alg, k.JWK, millis(k.CreatedAt), k.Challenge, millis(k.ChallengeExpiresAt), k.MAC,
		tx.revision)
}

// Prove marks a response key as active, as the newest one. ProveResponseKey writes it.
func (tx *Tx) Prove(k *ResponseKey) {
	k.ProvenAt, k.Order, k.Challenge, k.ChallengeExpiresAt = tx.Now, tx.revision, nil, time.Time{}
}

// ProveResponseKey makes an unproven response key active. It returns ErrConflict if there is no
// such key.
func (tx *Tx) ProveResponseKey(k *ResponseKey) error {
	return tx.one(`UPDATE mle_response_keys
		SET proven_at = ?, proven_revision = ?, challenge = NULL, challenge_expires_at = 0, mac = ?, revision = ?
		WHERE tenant = ? AND kid = ? AND proven_at = 0 AND deleted_at = 0`,
		millis(k.ProvenAt), k.Order, k.MAC, tx.revision, k.Tenant, k.Kid)
}

// DeleteResponseKey deletes a response key. It returns ErrNotFound if there is none.
func (tx *Tx) DeleteResponseKey(tenant, kid string) error {
	n, err := tx.exec(`UPDATE mle_response_keys SET deleted_at = ?, challenge = NULL, mac = NULL, revision = ?
		WHERE tenant = ? AND kid = ? AND deleted_at = 0`,
		millis(tx.Now), tx.revision, tenant, kid)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// ForgetUnproven removes response keys whose challenge expired before that time.
func (tx *Tx) ForgetUnproven(tenant string, before time.Time) error {
	_, err := tx.exec(
		`DELETE FROM mle_response_keys WHERE tenant = ? AND proven_at = 0 AND deleted_at = 0 AND challenge_expires_at < ?`,
		tenant, millis(before),
	)
	return err
}

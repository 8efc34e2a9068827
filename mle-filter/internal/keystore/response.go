package keystore

import (
	"errors"
	"time"
)

// ResponseLifetime is the time for which responses are stored for retries, the same as in v1.
const ResponseLifetime = 24 * time.Hour

// Response is the stored response to a request with an Idempotency-Key.
type Response struct {
	Fingerprint []byte // of the request
	Status      int
	Body        []byte
}

// Response reads the response that is stored under an Idempotency-Key. It returns ErrNotFound if
// there is none, or if it is older than ResponseLifetime.
func (tx *Tx) Response(tenant, key string) (*Response, error) {
	out := &Response{}
	return found(out, tx.row(`SELECT fingerprint, status, body FROM mle_responses
		WHERE tenant = ? AND key = ? AND created_at > ?`,
		tenant, key, millis(tx.Now.Add(-ResponseLifetime))).Scan(&out.Fingerprint, &out.Status, &out.Body))
}

// StoreResponse stores a response, in the transaction of the change that it reports.
func (tx *Tx) StoreResponse(tenant, key string, r Response) error {
	_, err := tx.exec(`DELETE FROM mle_responses WHERE tenant = ? AND key = ?`, tenant, key) // an expired one
	return errors.Join(err, tx.one(`INSERT INTO mle_responses
		(tenant, key, fingerprint, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		tenant, key, r.Fingerprint, r.Status, r.Body, millis(tx.Now)))
}

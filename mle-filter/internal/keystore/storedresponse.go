package keystore

import (
	"errors"
	"time"
)

// ResponseLifetime is the time for which responses are stored for retries, the same as in v1.
const ResponseLifetime = 24 * time.Hour

// StoredResponse is the response to a request with an Idempotency-Key.
type StoredResponse struct {
	Fingerprint []byte // of the request
	Status      int
	Body        []byte
}

// StoredResponse reads the response to a key. It returns ErrNotFound if there is none, or if it is
// older than ResponseLifetime.
func (tx *Tx) StoredResponse(tenant, key string) (*StoredResponse, error) {
	a := &StoredResponse{}
	return found(a, tx.row(`SELECT fingerprint, status, body FROM mle_answers
		WHERE tenant = ? AND key = ? AND created_at > ?`,
		tenant, key, millis(tx.Now.Add(-ResponseLifetime))).Scan(&a.Fingerprint, &a.Status, &a.Body))
}

// StoreResponse stores a response, in the transaction of the change that it shows.
func (tx *Tx) StoreResponse(tenant, key string, a StoredResponse) error {
	_, err := tx.exec(`DELETE FROM mle_answers WHERE tenant = ? AND key = ?`, tenant, key) // an expired one
	return errors.Join(err, tx.one(`INSERT INTO mle_answers
		(tenant, key, fingerprint, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		tenant, key, a.Fingerprint, a.Status, a.Body, millis(tx.Now)))
}

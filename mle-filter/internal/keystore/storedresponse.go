package keystore

import (
	"errors"
	"time"
)

// AnswerLifetime is how long answers are kept for who repeats a request, as v1 keeps them.
const AnswerLifetime = 24 * time.Hour

// Answer is what a request with an Idempotency-Key was answered.
type Answer struct {
	Fingerprint []byte // of the request
	Status      int
	Body        []byte
}

// Answer reads the answer that was given under a key, ErrNotFound when none was or it is too old.
func (tx *Tx) Answer(tenant, key string) (*Answer, error) {
	a := &Answer{}
	return found(a, tx.row(`SELECT fingerprint, status, body FROM mle_answers WHERE tenant = ? AND key = ? AND created_at > ?`,
		tenant, key, millis(tx.Now.Add(-AnswerLifetime))).Scan(&a.Fingerprint, &a.Status, &a.Body))
}

// KeepAnswer keeps an answer, in the write of the effect that it tells.
func (tx *Tx) KeepAnswer(tenant, key string, a Answer) error {
	_, err := tx.exec(`DELETE FROM mle_answers WHERE tenant = ? AND key = ?`, tenant, key) // one that is too old
	return errors.Join(err, tx.one(`INSERT INTO mle_answers (tenant, key, fingerprint, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		tenant, key, a.Fingerprint, a.Status, a.Body, millis(tx.Now)))
}

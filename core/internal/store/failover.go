package store

import "github.com/causeway-pay/causeway/core/internal/payment"

var (
	moveTransaction = declare("moveTransaction")
	insertAttempt   = declare("insertAttempt")
	deleteAttempts  = declare("deleteAttempts")
	tagRelease      = declare("tagRelease")
)

// MoveTransaction moves the authorization of t to the account of next, with the tags of next, and
// records the attempt at the account of t. why is the proof that this attempt has no effect. No
// program reads the record: by SQL it explains a request that the first account's records show. It
// returns ErrConflict if t.Attempt is not processing at the account of t.
func (tx *Tx) MoveTransaction(t, next *payment.Transaction, why payment.NoEffect) error {
	err := tx.execOne(moveTransaction, next.Account, next.Tag, next.VoidTag, t.ID, t.Attempt, t.Account)
	if err != nil {
		return err
	}
	return tx.exec(insertAttempt, t.ID, t.Account, t.Tag, string(why))
}

// NeverSend clears the account of the current attempt of t, so that no account gets it. It returns
// ErrConflict if t.Attempt is not processing at the account of t.
func (tx *Tx) NeverSend(t *payment.Transaction) error {
	return tx.execOne(moveTransaction, 0, "", "", t.ID, t.Attempt, t.Account)
}

// TagRelease stores the tag of the release of an unwanted partial approval before its request. It
// returns ErrConflict if the payment is not open, has such a tag, or t.Attempt is not its current
// attempt.
func (tx *Tx) TagRelease(t *payment.Transaction) error {
	return tx.execOne(tagRelease, t.VoidTag, t.ID, t.Attempt)
}

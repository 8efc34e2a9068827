package store

import (
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Event announces one transition. It is written in the transition's own commit.
type Event struct {
	ID       int64
	Tenant   payment.Tenant
	Type     string // such as transaction.captured
	Object   int64  // the number of the object's id
	Sequence int64  // the object's version after the transition
	Data     []byte // the object as the contract shows it
}

// InsertEvent writes e.
func (tx *Tx) InsertEvent(e *Event) error {
	return tx.insert(`INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ID, e.Tenant.Merchant, e.Tenant.Live, e.Type, e.Object, e.Sequence, string(e.Data), toMillis(tx.Now))
}

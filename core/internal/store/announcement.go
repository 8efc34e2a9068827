package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	selectAnnouncement = declare("selectAnnouncement")
	countAnnouncements = declare("countAnnouncements")
	insertAnnouncement = declare("insertAnnouncement")
)

// Announced returns the event that announced name to the tenant, else ErrNotFound. kind is the type
// of the event. If the event was purged, a placeholder with its id and no data replaces it. The
// command locks the merchant's announcements, so that no other command announces the same name.
func (tx *Tx) Announced(tenant payment.Tenant, kind, name string) (*payment.Event, error) {
	if err := tx.lock("announcements", tenant.Merchant); err != nil {
		return nil, err
	}
	row, err := tx.row(selectAnnouncement,
		tenant.Merchant, tenant.Live, kind, name)
	if err != nil {
		return nil, err
	}
	var event int64
	if err := row.Scan(&event); errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read announcement: %w", err)
	}
	e, err := tx.Event(tenant, event)
	if errors.Is(err, payment.ErrNotFound) { // the event was purged, and its announcement stays
		return &payment.Event{
			ID: event, Tenant: tenant, Type: kind, Object: tenant.Merchant, Data: []byte(`{}`),
			CreatedAt: id.TimeOf(event).UTC(),
		}, nil
	}
	return e, err
}

// Announcements counts the names that events of a type have announced to the tenant.
func (tx *Tx) Announcements(tenant payment.Tenant, kind string) (n int64, err error) {
	row, err := tx.row(countAnnouncements, tenant.Merchant, tenant.Live, kind)
	if err != nil {
		return 0, err
	}
	if err := row.Scan(&n); err != nil {
		return 0, fmt.Errorf("count announcements: %w", err)
	}
	return n, nil
}

// InsertAnnouncement records that the inserted event e announces name to its tenant.
func (tx *Tx) InsertAnnouncement(e *payment.Event, name string) error {
	return tx.insert(insertAnnouncement,
		e.Tenant.Merchant, e.Tenant.Live, e.Type, name, e.ID)
}

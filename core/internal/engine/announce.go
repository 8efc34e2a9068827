package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// Announcement is an event of the platform for one merchant.
type Announcement struct {
	Tenant payment.Tenant
	Type   string
	Name   string // unique among the announcements of its type
	Object []byte // JSON
}

// Announce makes an event of the platform, which the merchant gets by webhooks and the list of
// events. A repeated announcement returns the existing event. It returns payment.ErrNotFound if
// there is no such merchant.
func (e *Engine) Announce(ctx context.Context, r Request, a Announcement) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		if _, err := tx.Merchant(a.Tenant.Merchant); err != nil {
			return nil, err
		}
		before, err := tx.Announced(a.Tenant, a.Type, a.Name)
		if err == nil {
			shown := e.existing(before)
			return &shown, nil
		}
		if !errors.Is(err, payment.ErrNotFound) {
			return nil, err
		}
		made, err := e.announce(tx, a)
		if err != nil {
			return nil, err
		}
		shown := e.created(made)
		done := Action{Name: "events.announce", Object: id.Format(id.Merchant, a.Tenant.Merchant), After: string(shown.Body)}
		return &shown, e.Audit(tx, r, done)
	})
	return value(out), err
}

// announce writes the event. The sequence counts the merchant's events of its type.
func (e *Engine) announce(tx *store.Tx, a Announcement) (*payment.Event, error) {
	n, err := tx.Announcements(a.Tenant, a.Type)
	if err != nil {
		return nil, err
	}
	made := e.event(a.Type, a.Tenant, a.Tenant.Merchant, n+1, a.Object)
	if err := tx.InsertEvent(made); err != nil {
		return nil, err
	}
	return made, tx.InsertAnnouncement(made, a.Name)
}

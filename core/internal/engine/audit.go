package engine

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Action is an operator's action: its name, the id of its object, and the object as JSON before and
// after, without secrets. "" stands for none.
type Action struct{ Name, Object, Before, After string }

// Audit writes the audit record of an action of the request's operator, as the last statement of
// the command that carries it out. For a merchant's own request it does nothing.
func (e *Engine) Audit(tx *store.Tx, r Request, a Action) error {
	if r.Actor.IsZero() {
		return nil
	}
	return tx.AppendAudit(e.AuditKey, r.record(a, audit.Done))
}

// Recorded writes the audit record of an action without a command, or of a refused or failed
// action. outcome is audit.Begun, audit.Done, audit.Failed or the code of the error.
func (e *Engine) Recorded(ctx context.Context, r Request, a Action, outcome string) error {
	if r.Actor.IsZero() {
		return nil
	}
	return e.Store.Update(ctx, func(tx *store.Tx) error { return tx.AppendAudit(e.AuditKey, r.record(a, outcome)) })
}

func (r Request) record(a Action, outcome string) *audit.Record {
	return &audit.Record{
		Actor: r.Actor.Name, ClientAddress: r.Actor.Address, Action: a.Name, Object: a.Object, Before: a.Before, After: a.After,
		Outcome: outcome, RequestID: r.ID,
	}
}

package engine

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// The events of requirements, for every merchant.
const (
	eventRequirementAnnounced = "mle.requirement.announced"
	eventRequirementWithdrawn = "mle.requirement.withdrawn"
)

// AnnounceMLERequirement announces that from a date on, the bodies of requests to endpoints must be
// encrypted. Every merchant gets an event. The error is a payment.MLENoticeError if the date is too
// early.
func (e *Engine) AnnounceMLERequirement(
	ctx context.Context, r Request, endpoints []string, effective time.Time,
) (*payment.MLERequirement, error) {
	var out *payment.MLERequirement
	effective = effective.UTC().Truncate(time.Millisecond) // as the store keeps it
	err := withNewIDs(func() error {
		return e.Store.Update(ctx, func(tx *store.Tx) error {
			made := payment.MLERequirement{ID: e.IDs.Next(), Endpoints: endpoints, EffectiveAt: effective}
			if err := tx.InsertMLERequirement(&made); err != nil {
				return err
			}
			out = &made
			return e.requirementChanged(tx, r, eventRequirementAnnounced, Action{Name: "mle_requirements.announce"}, &made)
		})
	})
	return out, err
}

// WithdrawMLERequirement withdraws a requirement, also one in force. Every merchant gets an event.
// It returns payment.ErrNotFound if there is none.
func (e *Engine) WithdrawMLERequirement(ctx context.Context, r Request, requirement int64) error {
	return e.Store.Update(ctx, func(tx *store.Tx) error {
		before, after, err := tx.WithdrawMLERequirement(requirement)
		if err != nil || !before.WithdrawnAt.IsZero() {
			return err
		}
		done := Action{Name: "mle_requirements.withdraw", Before: string(e.shown(before))}
		return e.requirementChanged(tx, r, eventRequirementWithdrawn, done, after)
	})
}

// requirementChanged writes the broadcast and the audit record of a changed requirement.
func (e *Engine) requirementChanged(
	tx *store.Tx, r Request, event string, done Action, now *payment.MLERequirement,
) error {
	name, shown := id.Format(id.MLERequirement, now.ID), e.shown(now)
	if err := tx.InsertBroadcast(&payment.Broadcast{Type: event, Name: name, Data: shown}); err != nil {
		return err
	}
	done.Object, done.After = name, string(shown)
	return e.Audit(tx, r, done)
}

package sqlite

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// BeginPayment implements store.Engine by a command in the batch of the writer.
func (e *engine) BeginPayment(ctx context.Context, i *store.Intent) (claim store.Claim, err error) {
	err = e.Update(ctx, e.db.Command(ctx, store.Caller{Tenant: i.Transaction.Tenant}, func(tx *store.Tx) (err error) {
		claim, err = tx.BeginPayment(i)
		return err
	}))
	return claim, err
}

// FinishPayment implements store.Engine, like BeginPayment.
func (e *engine) FinishPayment(ctx context.Context, r *store.OutcomeRecord) error {
	ends := store.Caller{Tenant: r.Transaction.Tenant, Ends: true}
	return e.Update(ctx, e.db.Command(ctx, ends, func(tx *store.Tx) error { return tx.FinishPayment(r) }))
}

// BeginPayment implements store.Session.
func (w *writer) BeginPayment(tx *store.Tx, i *store.Intent) (store.Claim, error) {
	t := i.Transaction
	claim, err := tx.ClaimKey(t.Client.APIKey, t.Tenant, i.Key, i.Fingerprint, i.OtherFingerprints...)
	if err != nil || !claim.Held {
		return claim, err
	}
	if i.Redraw != nil {
		i.Redraw()
	}
	t.Claim = claim.ID
	allowed, err := tx.BeginCardAttempt(t, i.Card)
	if err != nil {
		return store.Claim{}, err
	}
	i.Refused = !allowed
	if err := tx.InsertTransaction(t); err != nil {
		return store.Claim{}, err
	}
	if err := tx.InsertTerms(t.Tenant, t.ID, i.Terms); err != nil {
		return store.Claim{}, err
	}
	if err := tx.UseSource(t.Tenant, i.Source, t.ID); err != nil {
		return store.Claim{}, err
	}
	return claim, nil
}

// FinishPayment implements store.Session.
func (w *writer) FinishPayment(tx *store.Tx, r *store.OutcomeRecord) error {
	if r.Redraw != nil {
		r.Redraw()
	}
	t := r.Transaction
	if err := tx.ResolveTransaction(t); err != nil {
		return err
	}
	if t.Attempt > 0 || !t.Result.ExpiresAt.IsZero() { // the wait for a confirmation has ended
		if err := tx.SetExpiry(t.Tenant, t.ID, t.Result.ExpiresAt); err != nil {
			return err
		}
	}
	if r.Capture != 0 {
		if err := tx.InsertCapture(captureOf(r)); err != nil {
			return err
		}
	}
	if err := tx.InsertEvent(&r.Event); err != nil {
		return err
	}
	return tx.CompleteKey(r.Claim, r.Status, r.Body)
}

// captureOf returns the capture of a payment that was captured immediately.
func captureOf(r *store.OutcomeRecord) *payment.Capture {
	t := r.Transaction
	return &payment.Capture{
		ID: r.Capture, Transaction: t.ID, Tenant: t.Tenant, State: payment.StepSucceeded,
		Amount: t.Captured, Currency: t.Currency, Final: true,
		Details: []byte("{}"), Client: t.Authorizer(), Account: t.Account, CreatedAt: t.UpdatedAt, UpdatedAt: t.UpdatedAt,
	}
}

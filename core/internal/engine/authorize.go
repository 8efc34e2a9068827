package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Payment is a validated request to authorize an amount, and with AutoCapture also to capture it.
// An amount of 0 verifies the source, and is not captured.
type Payment struct {
	Amount          int64 // minor units
	Currency        string
	AutoCapture     bool
	Partial         bool   // less than Amount may be approved
	PriorCode       string // of an earlier approval by the issuer; "" for none
	PaymentMethod   string
	acquirer.Source       // lives as long as the call
	Drawn           Drawn // where the source comes from in the store, and whose it is
	Billing         acquirer.Billing
	ThreeDSecure    acquirer.ThreeDSecure
	Initiator       acquirer.Initiator
	Order           acquirer.Order
	Details         []byte        // the merchant's own data and the source, as the transaction shows them
	Terms           payment.Terms // the details by which lists find it
}

// Authorize creates a transaction.
func (e *Engine) Authorize(ctx context.Context, r Request, p Payment) (Result, error) {
	defer e.running.enter(ctx, r)()
	routes, tag, err := e.route(ctx, r.Tenant, p.Currency, p.Source)
	if err != nil {
		return e.unsent(ctx, r, err)
	}
	now := e.Clock.Now().UTC().Truncate(time.Millisecond)
	t := &payment.Transaction{
		Tenant: r.Tenant, Status: payment.Processing, AutoCapture: p.AutoCapture, Partial: p.Partial, Amount: p.Amount,
		Currency: p.Currency, PaymentMethod: p.PaymentMethod, Details: p.Details, Client: r.client(),
		Account: routes[0].ID, Tag: tag, CreatedAt: now, UpdatedAt: now,
	}
	w := e.inFlight.request()
	defer w.end()
	refused, replay, err := e.begin(ctx, r, p, t, w)
	if err != nil || replay != nil {
		return value(replay), err
	}
	a := &authorizationStep{Engine: e, t: t, secrets: p.Drawn.secrets}
	return a.takePayment(ctx, r.ID, !refused, routes, p)
}

// takePayment makes the first attempt at a payment. It is not sent if the rules of the card's
// network do not allow that, and then has no account.
func (s *authorizationStep) takePayment(
	ctx context.Context, requestID string, allowed bool, routes []acquirer.Account, p Payment,
) (Result, error) {
	if !allowed {
		s.t.Account, s.t.Tag = 0, ""
		return s.take(ctx, requestID, s, func(context.Context) (acquirer.Response, error) { return neverSent, nil })
	}
	return s.take(ctx, requestID, s, func(ctx context.Context) (acquirer.Response, error) { return s.send(ctx, routes, p) })
}

// neverSent is the outcome of a payment that was not sent.
var neverSent = acquirer.Response{DeclineCode: string(v1.DeclineCodeRetryNotAllowed)}

// neverSends reports whether a payment is one that no acquirer gets: see store.NeverSend.
func neverSends(t payment.Tenant, account int64, tag string) bool {
	return t.Live && account == 0 && tag == ""
}

// request returns the request of a payment.
func (s *authorizationStep) request(p Payment) acquirer.Authorize {
	t := s.t
	return acquirer.Authorize{
		Reference: authorizationReference(t), Tag: t.Tag, Amount: t.Amount, Currency: t.Currency,
		Capture: t.AutoCapture, Partial: t.Partial, PriorCode: p.PriorCode, Source: p.Source, Billing: p.Billing,
		ThreeDSecure: p.ThreeDSecure, Initiator: p.Initiator, Order: p.Order,
	}
}

// begin commits the intent of a payment, which w holds from then on. It returns the result of a
// request that ends there. refused reports that the payment must not be sent.
func (e *Engine) begin(
	ctx context.Context, r Request, p Payment, t *payment.Transaction, w *flight,
) (refused bool, ends *Result, err error) {
	if p.Drawn.refusal != nil {
		ends, err = e.refuseSource(ctx, r, p.Drawn)
		return false, ends, err
	}
	own, others := r.fingerprints()
	var c store.Claim
	draw := func() {
		t.ID = e.IDs.Next()
		w.of(authorizationStepID(t))
	}
	err = withNewIDs(func() (err error) {
		draw()
		i := &store.Intent{
			Transaction: t, Redraw: draw, Terms: p.Terms, Key: r.Key, Fingerprint: own, OtherFingerprints: others,
			Source: p.Drawn.stored(), Card: limitedCard(t),
		}
		c, err = e.Store.BeginPayment(ctx, i)
		refused = i.Refused
		return err
	})
	if err != nil || c.Held {
		return refused, nil, err
	}
	replay, err := replayOf(c)
	if err != nil {
		return false, nil, e.contest(ctx, r, err)
	}
	ends, err = e.unsealReplay(ctx, r, replay)
	return false, ends, err
}

// refuseSource returns why the payment source cannot be used, unless the idempotency key has a
// stored response. It is not a payment, so it does not call BeginPayment. Its command claims the
// key, which waits for an equal request that is about to commit. The refusal rolls the claim back.
func (e *Engine) refuseSource(ctx context.Context, r Request, source Drawn) (*Result, error) {
	return e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		return nil, e.confirmRefusal(tx, r.Tenant, source)
	})
}

// authorizationStep is the step of a payment, or of the confirmation of one. Only the first attempt
// has the card, so recovery inquires.
type authorizationStep struct {
	*Engine
	t       *payment.Transaction
	secrets vault.Secrets // of the token; zero in recovery
	refused int64         // minor units of an unwanted part that the acquirer refused to release
	partID  string        // the acquirer's id of that part
}

func (s *authorizationStep) about() about {
	return about{
		StepID: authorizationStepID(s.t), tenant: s.t.Tenant, claim: s.t.Claim,
		reference: authorizationReference(s.t), amount: s.t.Amount, currency: s.t.Currency,
		account: s.t.Account, tag: s.t.Tag, details: s.t.Details,
		captured: s.t.AutoCapture, drawn: s.t.ID, method: s.t.PaymentMethod, secrets: s.secrets,
	}
}

// authorizationStepID names the authorization of a transaction's present attempt.
func authorizationStepID(t *payment.Transaction) payment.StepID {
	return payment.StepID{Kind: payment.AuthorizeStep, Transaction: t.ID, Attempt: t.Attempt}
}

func (s *authorizationStep) attempt(ctx context.Context, acq acquirer.Acquirer, _ bool) (acquirer.Response, error) {
	a, err := acq.Inquire(ctx, sentAuthorization(s.t))
	if err == nil && a.Released && !unwantedPart(s.t, a) {
		err = acquirer.ErrNotFound
	}
	return a, err
}

// cancel removes the intent as if the request had not come. A confirmation leaves the payment
// waiting for the next one, so the acquirer must certainly not have received it.
func (s *authorizationStep) cancel(tx *store.Tx) error {
	if err := tx.WithdrawCardAttempt(s.t, limitedCard(s.t)); err != nil {
		return err
	}
	if s.t.Attempt > 0 {
		return tx.WithdrawConfirmation(s.t)
	}
	return tx.RemoveTransaction(s.t.ID)
}

// missing closes a payment that the acquirer does not have. Its commit also writes a pending
// reversal, which releases a late approval.
func (s *authorizationStep) missing(ctx context.Context) error {
	t, o, end := s.t, s.about(), s.cancel
	// A payment that no response has shown is removed, and a retry under its key is a first request.
	// Any other payment has failed, and its token stays used. A confirmation has failed, too: after
	// another one, both could take the money.
	if !s.removable() {
		end, o.method = s.fail, ""
	}
	undo := func() error {
		return s.undo(ctx, o, func(tx *store.Tx) error {
			if err := end(tx); err != nil {
				return err
			}
			return tx.InsertReversal(o.reversal(tx.Now))
		})
	}
	err := undo()
	for errors.Is(err, store.ErrConflict) && s.changed(ctx) {
		err = undo()
	}
	if errors.Is(err, store.ErrConflict) {
		return nil // the step has ended meanwhile
	}
	if err == nil {
		s.Log.WarnContext(ctx, "recovery: no effect at the acquirer of the payment", slog.String("transaction", authorizationReference(t)),
			slog.String("status", string(t.Status)), slog.Bool("keyed", t.Claim != 0))
	}
	return err
}

// changed reports whether the open payment has another version or status than s.t. The merchant has
// then changed it, or its first attempt has left it unknown. s.t is then the present one.
func (s *authorizationStep) changed(ctx context.Context) bool {
	t, err := s.Store.Transaction(context.WithoutCancel(ctx), s.t.Tenant, s.t.ID)
	if err != nil || !t.Status.Open() || t.Attempt != s.t.Attempt || t.Version == s.t.Version && t.Status == s.t.Status {
		return false
	}
	s.t = t
	return true
}

// removable reports whether recovery removes the payment if the acquirer does not have it.
func (s *authorizationStep) removable() bool {
	return s.t.Attempt == 0 && s.t.Status == payment.Processing && s.t.Claim != 0
}

// fail writes a payment that moved nothing as failed.
func (s *authorizationStep) fail(tx *store.Tx) error {
	if err := tx.WithdrawCardAttempt(s.t, limitedCard(s.t)); err != nil {
		return err
	}
	t := *s.t
	next, err := t.Status.Next(payment.Fail)
	if err != nil {
		return err
	}
	t.Status, t.Version, t.UpdatedAt = next, t.Version+1, tx.Now
	t.Result = payment.Result{
		FailureCode: notProcessed, FailureMessage: "No money was moved: the acquirer never processed this payment, or reversed it.",
	}
	if err := tx.ResolveTransaction(&t); err != nil {
		return err
	}
	return tx.InsertEvent(s.event("transaction.failed", t.Tenant, t.ID, t.Version, s.shown(&t)))
}

// leave marks the payment as unknown. Recovery claims an unknown payment immediately. A payment
// that could not be marked is claimed after this request has returned. The response does not show
// it if recovery may remove it.
func (s *authorizationStep) leave(ctx context.Context) *payment.Transaction {
	if s.t.Status == payment.Unknown {
		return s.t
	}
	shown := s.t
	err := s.Store.Finish(ctx, s.t.Tenant, func(tx *store.Tx) error { return tx.LoseTransaction(s.t) })
	if err != nil {
		s.Log.ErrorContext(ctx, "authorize: the store did not mark the payment as unknown; recovery claims it later",
			slog.String("transaction", authorizationReference(s.t)), slog.Any("error", err))
		if s.removable() {
			shown = nil
		}
	}
	s.t.Status = payment.Unknown
	return shown
}

// correct never records an authorization: a late approval of a closed payment is released. A
// payment is closed if it has ended without money, or waits to be confirmed again. A part that was
// already released needs no correction.
func (s *authorizationStep) correct(
	tx *store.Tx, a acquirer.Response, _ *payment.Reversal,
) (Result, correction, error) {
	if unwantedPart(s.t, a) && s.refused == 0 {
		return Result{}, notClosed, nil
	}
	now, err := tx.Transaction(s.t.Tenant, s.t.ID)
	if errors.Is(err, payment.ErrNotFound) {
		return Result{}, notRecordable, nil
	}
	if err != nil {
		return Result{}, "", err
	}
	withoutMoney := []payment.Status{payment.Failed, payment.Declined, payment.RequiresConfirmation, payment.Canceled}
	switch {
	case now.Attempt == s.t.Attempt && !slices.Contains(withoutMoney, now.Status):
		return Result{}, notClosed, nil
	case unwantedPart(s.t, a) && declinedFor(now, s.t.Attempt, a):
		return Result{}, samePart, nil
	}
	return Result{}, notRecordable, nil
}

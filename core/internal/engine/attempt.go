package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// ErrAcquirerUnavailable reports that the acquirer could not be reached. The request had no effect
// and has no response to store.
var ErrAcquirerUnavailable = errors.New("engine: acquirer unavailable")

// attemptTimeout bounds the total time of the acquirer calls of one attempt at a step, by a request
// or by recovery. Without a response by then, the step is unknown.
const attemptTimeout = 20 * time.Second

// Patience is how old an unfinished step of another core must be before recovery claims it while
// that core still runs. It is longer than any attempt lasts: an attempt has attemptTimeout for all
// its acquirer calls. The age is the difference of two clocks. The leader's is off by
// clockTolerance at most, and the other core's by RequestTolerance. The rest is for commits.
const Patience = attemptTimeout + RequestTolerance + clockTolerance + 5*time.Second

// attemptContext returns the context of all acquirer calls and reads of one attempt at a step. It
// ends after attemptTimeout, and does not end with ctx: a client that hangs up does not stop a
// payment half-way. Its reads go before the tenant's other reads.
func attemptContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(store.ForStep(context.WithoutCancel(ctx)), attemptTimeout)
}

// take makes the first attempt at a step and concludes it.
func (e *Engine) take(
	ctx context.Context, requestID string, s step, send func(context.Context) (acquirer.Response, error),
) (Result, error) {
	from := origin{request: requestID}
	ctx, cancel := attemptContext(ctx)
	defer cancel()
	a, err := send(ctx)
	if !errors.Is(err, acquirer.ErrUnavailable) {
		return e.conclude(ctx, from, s, a, err), nil
	}
	unavailable := fmt.Errorf("%w: %s: %s", ErrAcquirerUnavailable, cmp.Or(accountName(s.about().account), "test mode"), acquirer.Cause(err))
	if err := e.cancelFirst(ctx, s); err != nil {
		return e.keepOpen(ctx, from, s, err), nil
	}
	return Result{}, unavailable
}

// takeFirst sends the first request of a capture, void or refund. Recovery later sends the same
// request with Follow.Again.
func (e *Engine) takeFirst(ctx context.Context, requestID string, s step, acq acquirer.Acquirer) (Result, error) {
	return e.take(ctx, requestID, s, func(ctx context.Context) (acquirer.Response, error) { return s.attempt(ctx, acq, false) })
}

// unread returns the error of an attempt whose step could not be read. The first attempt has sent
// nothing then. Recovery could perhaps never prove that: some acquirers only search for a repeated
// request.
func unread(err error, repeated bool) error {
	if repeated {
		return err
	}
	return errors.Join(acquirer.ErrUnavailable, err)
}

// resume makes recovery's attempt at an unfinished step: it marks the step, sends it again and
// concludes it. It returns errStillOpen if the attempt failed.
func (e *Engine) resume(ctx context.Context, s step, reclaimed bool) error {
	o := s.about()
	if o.Kind == payment.AuthorizeStep && neverSends(o.tenant, o.account, o.tag) {
		return leftOpen(e.conclude(ctx, origin{request: e.requestID(), recovery: true}, s, neverSent, nil))
	}
	acq, err := e.account(ctx, o.tenant, o.account)
	if err != nil {
		return err
	}
	if !reclaimed {
		err := e.Store.Update(ctx, func(tx *store.Tx) error { return tx.ReclaimStep(o.StepID, o.account) })
		if errors.Is(err, store.ErrConflict) {
			return nil // it has ended or moved, or another recovery has it
		}
		if err != nil {
			return err
		}
	}
	a, err := s.attempt(ctx, acq, true)
	switch {
	case errors.Is(err, acquirer.ErrNotFound):
		return s.missing(ctx)
	case err != nil: // also ErrUnavailable, which proves nothing about earlier attempts
		return fmt.Errorf("%w: %w", errStillOpen, err)
	}
	return leftOpen(e.conclude(ctx, origin{request: e.requestID(), recovery: true}, s, a, nil))
}

// errStillOpen: the acquirer did not respond; the step stays open.
var errStillOpen = errors.New("engine: still open")

// leftOpen returns errStillOpen for a step that was claimed and stays open.
func leftOpen(a Result) error {
	if a.Kind == Unknown {
		return errors.Join(errStillOpen, a.cause)
	}
	return nil
}

// conclude commits the acquirer's result of a step. Without a result the step stays open, and
// recovery continues it. An error response could mean that the step had no effect, so conclude
// returns none.
func (e *Engine) conclude(ctx context.Context, from origin, s step, a acquirer.Response, err error) Result {
	if err == nil {
		err = e.check(s.about(), a)
	}
	if err != nil {
		return e.keepOpen(ctx, from, s, err)
	}
	out, err := s.commit(ctx, from, a)
	if err == nil {
		return out
	}
	if a.Approved && errors.Is(err, store.ErrConflict) {
		if _, late := e.late(ctx, s, a, nil); late != nil {
			err = errors.Join(err, late)
		}
	}
	return e.keepOpen(ctx, from, s, err)
}

// check refuses an approval of an amount that was not requested. Such an outcome must not be
// recorded.
func (e *Engine) check(o about, a acquirer.Response) error {
	fits := a.Amount == o.amount
	if o.Kind == payment.AuthorizeStep { // possibly a part
		fits = min(1, o.amount) <= a.Amount && a.Amount <= o.amount
	}
	if !a.Approved || fits || o.Kind == payment.VoidStep {
		return nil
	}
	e.Observer.AcquirerContradicted(o.Kind, OtherAmount)
	return fmt.Errorf("engine: the acquirer approved %d of %s, want %d", a.Amount, o.reference, o.amount)
}

// keepOpen returns the response to a step whose outcome is unknown or not committed. Recovery
// continues the step.
func (e *Engine) keepOpen(ctx context.Context, from origin, s step, cause error) Result {
	e.Log.ErrorContext(ctx, "step: the outcome is unknown; recovery finds it at the acquirer, or reverses the request", slog.String("reference", s.about().reference), slog.Any("error", cause))
	return e.unknown(from.request, s.leave(ctx), cause)
}

// cancelFirst closes a step because its first attempt certainly had no effect, and frees its key
// and token. It returns store.ErrConflict if recovery has reclaimed the step.
func (e *Engine) cancelFirst(ctx context.Context, s step) error {
	o := s.about()
	return e.undo(ctx, o, func(tx *store.Tx) error {
		if err := tx.LockUnreclaimed(o.StepID, o.account); err != nil {
			return err
		}
		return s.cancel(tx)
	})
}

// undo commits the end of a step that had no effect, with its key freed and its token returned.
func (e *Engine) undo(ctx context.Context, o about, end func(tx *store.Tx) error) error {
	t := &payment.Transaction{Tenant: o.tenant, PaymentMethod: o.method}
	return e.returned(ctx, t, o.secrets, func(token int64, sealed payment.Sealed) error {
		return e.Store.Finish(ctx, o.tenant, func(tx *store.Tx) error {
			if err := end(tx); err != nil {
				return err
			}
			if token != 0 {
				if err := tx.ReturnToken(token, o.drawn, sealed); err != nil {
					return err
				}
			}
			return tx.ReleaseKey(o.claim)
		})
	})
}

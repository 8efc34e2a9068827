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

// firstAttempt is an attempt at a payment that certainly has no effect.
type firstAttempt struct {
	response acquirer.Response
	err      error
	proof    payment.NoEffect
}

// noEffect returns the proof that an attempt has no effect, "" for none. An unknown outcome never
// has one. A decline after the issuer's approval has none: the issuer may hold the money.
func noEffect(a acquirer.Response, err error) payment.NoEffect {
	switch {
	case errors.Is(err, acquirer.ErrUnavailable):
		return payment.NotTaken
	case err != nil:
		return ""
	case a.Approved && a.Released:
		return payment.Reversed
	case !a.Approved && a.Retryable && a.Code == "":
		return payment.Retryable
	}
	return ""
}

// send makes the first attempt at a payment, at the account of its intent. If that attempt
// certainly has no effect, the next account gets the payment, once. An approval of less than the
// payment accepts has none if the acquirer acknowledges its release.
func (s *authorizationStep) send(
	ctx context.Context, routes []acquirer.Account, p Payment,
) (acquirer.Response, error) {
	a, err := routes[0].Authorize(ctx, s.request(p))
	if len(routes) == 1 {
		return a, err
	}
	if err == nil && unwantedPart(s.t, a) {
		if s.refused, err = s.releasePart(ctx, s.t, a, false); err != nil { // also an ErrUnavailable of the release
			return acquirer.Response{}, fmt.Errorf("%w: %s", acquirer.ErrUnknown, err.Error())
		}
		a.Released = s.refused == 0
	}
	proof := noEffect(a, err)
	if proof == "" {
		return a, err
	}
	return s.failOver(ctx, routes[1], p, firstAttempt{a, err, proof})
}

// failOver makes the attempt at the next account. That account gets the same reference, which it
// has never received. The first attempt decides about the payment if the network's rules allow no
// other one, or if the next account does not take it either.
func (s *authorizationStep) failOver(
	ctx context.Context, next acquirer.Account, p Payment, first firstAttempt,
) (acquirer.Response, error) {
	tag, err := prepare(ctx, next.Acquirer)
	if err != nil {
		return first.response, first.err
	}
	there, here := *s.t, *s.t
	there.Account, there.Tag, there.VoidTag = next.ID, tag, ""
	err = s.moveTo(ctx, &there, first, func(tx *store.Tx) error {
		if err := s.endCardAttempt(tx, withoutPart(first.response)); err != nil {
			return err
		}
		allowed, err := tx.BeginCardAttempt(&there, limitedCard(&there))
		if err == nil && !allowed {
			err = errNotRetried
		}
		return err
	})
	if err != nil { // the next account has nothing, so the proof stands; its commit checks the account
		return first.response, first.err
	}
	a, err := next.Authorize(ctx, s.request(p))
	if first.err != nil || !errors.Is(err, acquirer.ErrUnavailable) {
		return a, err
	}
	err = s.moveTo(ctx, &here, firstAttempt{err: err, proof: payment.NotTaken}, func(tx *store.Tx) error {
		return tx.WithdrawCardAttempt(s.t, limitedCard(s.t))
	})
	if !errors.Is(err, store.ErrConflict) {
		err = nil // neither account has anything
	}
	return first.response, err
}

// movePause is the pause between two questions to a store that cannot be reached.
const movePause = 200 * time.Millisecond

// errNotRetried: the rules of the card's network allow no further attempt.
var errNotRetried = errors.New("engine: the network's rules allow no further attempt")

// withoutPart returns the outcome of an attempt whose approval, if any, was released.
func withoutPart(a acquirer.Response) acquirer.Response {
	if a.Approved {
		return tooLittle(a)
	}
	return a
}

// moveTo commits that the payment is at another account, before that gets a request. cards counts
// the attempts at the card. It returns store.ErrConflict if recovery has reclaimed the payment.
func (s *authorizationStep) moveTo(
	ctx context.Context, next *payment.Transaction, last firstAttempt, cards func(*store.Tx) error,
) error {
	err := s.Store.Finish(ctx, s.t.Tenant, func(tx *store.Tx) error {
		if err := tx.LockUnreclaimed(authorizationStepID(s.t), s.t.Account); err != nil {
			return err
		}
		if err := cards(tx); err != nil {
			return err
		}
		return tx.MoveTransaction(s.t, next, last.proof)
	})
	if err != nil && (errors.Is(err, errNotRetried) || !s.movedTo(ctx, next)) {
		return err
	}
	s.Log.WarnContext(ctx, "authorize: the attempt at an account has no effect; the payment goes to another one",
		slog.String("transaction", authorizationReference(s.t)), slog.String("from", accountName(s.t.Account)),
		slog.String("to", accountName(next.Account)), slog.String("proof", string(last.proof)), slog.String("cause", last.cause()))
	s.t.Account, s.t.Tag, s.t.VoidTag = next.Account, next.Tag, next.VoidTag
	return nil
}

// movedTo reports whether a move stands although its commit has failed: only the confirmation of
// the commit may be missing. It is false if recovery has reclaimed the payment. A store that cannot
// be reached may have the move, so movedTo waits for it until ctx ends.
func (s *authorizationStep) movedTo(ctx context.Context, next *payment.Transaction) bool {
	for {
		err := s.Store.Update(ctx, func(tx *store.Tx) error {
			return tx.LockUnreclaimed(authorizationStepID(s.t), next.Account)
		})
		if err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrClosed) {
			return err == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(movePause):
		}
	}
}

// cause returns the reason of an attempt without effect in few words.
func (f firstAttempt) cause() string {
	if f.err != nil {
		return acquirer.Cause(f.err)
	}
	return cmp.Or(f.response.OwnCode, f.response.ResponseCode)
}

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// The refusals of requests by their idempotency key. The requests had no effect and have no
// response to store.
var (
	// ErrKeyInUse: a request with the same idempotency key is still running.
	ErrKeyInUse = errors.New("engine: idempotency key in use")
	// ErrKeyReused: the idempotency key was used with another request.
	ErrKeyReused = errors.New("engine: idempotency key reused")
)

// intent claims the request's key and runs fn in the same commit. If fn returns a result, the
// request ends there, and the response is stored under the key. Without a result the key stays
// claimed. An error of fn rolls everything back, including the key. If an id that fn drew is taken,
// fn runs again.
func (e *Engine) intent(
	ctx context.Context, r Request, fn func(tx *store.Tx, claim int64) (*Result, error),
) (*Result, error) {
	return e.intentOf(ctx, r.caller(), r, fn)
}

// intentOf is intent in the turn of the given caller.
func (e *Engine) intentOf(
	ctx context.Context, c store.Caller, r Request, fn func(tx *store.Tx, claim int64) (*Result, error),
) (*Result, error) {
	var out *Result
	err := withNewIDs(func() (err error) { out, err = e.intentOnce(ctx, c, r, fn); return err })
	return out, err
}

// intentOnce is intentOf, but does not run again if an id is taken. The caller runs it again, and
// seals a number for the next id.
func (e *Engine) intentOnce(
	ctx context.Context, c store.Caller, r Request, fn func(tx *store.Tx, claim int64) (*Result, error),
) (*Result, error) {
	var out *Result
	err := e.Store.UpdateOf(ctx, c, func(tx *store.Tx) error {
		claim, replay, err := claimKey(tx, r)
		if err != nil || replay != nil {
			out = replay
			return err
		}
		if out, err = fn(tx, claim); err != nil || out == nil {
			return err
		}
		return tx.CompleteKey(claim, out.Status, e.stored(r, out))
	})
	var busy *busyError
	if errors.As(err, &busy) {
		return &busy.result, nil
	}
	if err != nil {
		return nil, e.contest(ctx, r, err)
	}
	return e.unsealReplay(ctx, r, out)
}

// contest makes a running request keep its key that another request has sent, even if it turns out
// to have no effect. The other client may have gone on to another key because this one was in use.
// If the key were free again, a third client would not find that other key.
func (e *Engine) contest(ctx context.Context, r Request, err error) error {
	reused, ok := errors.AsType[*reusedError](err)
	if !ok {
		return err
	}
	out := e.refused(r.ID, &payment.Refusal{
		Code: keyReused, Message: "Another request was sent with this Idempotency-Key. " +
			"This request turned out to have no effect. Send it again with another key.",
	}, nil)
	failed := e.Store.UpdateOf(ctx, r.caller(), func(tx *store.Tx) error { return tx.ContestKey(reused.running, out.Body) })
	return cmp.Or(failed, err)
}

// reusedError is ErrKeyReused with the claim of the running request that has the key.
type reusedError struct{ running int64 }

func (*reusedError) Error() string { return ErrKeyReused.Error() }

// Is makes it ErrKeyReused.
func (*reusedError) Is(target error) bool { return target == ErrKeyReused }

// Reservation is an idempotency key that a client has reserved.
type Reservation struct {
	Purpose              string
	CreatedAt, ExpiresAt time.Time
}

// ReserveKey stores a reservation under the request's key, and does nothing else. A repeated
// request gets the same response. It returns ErrKeyReused if another request has the key.
func (e *Engine) ReserveKey(ctx context.Context, r Request, purpose string) (Result, error) {
	return e.onlyStore(ctx, r, func(tx *store.Tx) Result {
		return e.created(&Reservation{Purpose: purpose, CreatedAt: tx.Date(), ExpiresAt: tx.KeyExpiry()})
	})
}

// KeepRefusal stores a refusal under the request's key, as ReserveKey stores a reservation.
func (e *Engine) KeepRefusal(ctx context.Context, r Request, why *payment.Refusal) (Result, error) {
	return e.onlyStore(ctx, r, func(*store.Tx) Result { return e.refused(r.ID, why, nil) })
}

// onlyStore stores the result of fn under the request's key.
func (e *Engine) onlyStore(ctx context.Context, r Request, fn func(*store.Tx) Result) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		result := fn(tx)
		return &result, nil
	})
	return value(out), err
}

// stored returns the body of a response as the store keeps it: encrypted if it shows a credential.
func (e *Engine) stored(r Request, out *Result) []byte {
	if out.Credential.IsZero() {
		return out.Body
	}
	return e.Sealer.Seal(out.Body, sealContext(r.Tenant, r.Key))
}

// unsealReplay decrypts the body of a replay, and returns every other result unchanged. A result
// can be nil.
func (e *Engine) unsealReplay(ctx context.Context, r Request, out *Result) (*Result, error) {
	if out == nil || !out.Replayed {
		return out, nil
	}
	body, err := e.unseal(ctx, r, out.Body)
	if err != nil {
		return nil, err
	}
	out.Body = body
	return out, nil
}

// unseal decrypts the body of a response as the store keeps it. It may read the root secret from a
// file or from the store, so no command may call it: a command must not block.
func (e *Engine) unseal(ctx context.Context, r Request, body []byte) ([]byte, error) {
	if !seal.Sealed(body) {
		return body, nil
	}
	out, err := e.Sealer.Open(ctx, body, sealContext(r.Tenant, r.Key))
	if err != nil {
		return nil, fmt.Errorf("stored response: %w", err)
	}
	return out, nil
}

// sealContext binds an encrypted response to its key, so that a writer of the database cannot move
// it to another key.
func sealContext(t payment.Tenant, key string) []byte {
	return fmt.Appendf(nil, "idempotency|%d|%t|%s", t.Merchant, t.Live, key)
}

// busyError has the result of a step that must wait for another step. It is an error, so that no
// response is stored under the key: the same request can succeed a moment later.
type busyError struct{ result Result }

func (*busyError) Error() string { return "engine: another operation is in progress" }

func claimKey(tx *store.Tx, r Request) (claim int64, replay *Result, err error) {
	if err := tx.UseOperator(r.Actor.Token); err != nil {
		return 0, nil, err
	}
	own, others := r.fingerprints()
	c, err := tx.ClaimKey(r.APIKey, r.Tenant, r.Key, own, others...)
	if err != nil || c.Held {
		return c.ID, nil, err
	}
	replay, err = replayOf(c)
	return 0, replay, err
}

// replayOf returns the stored response of the request that has a key.
func replayOf(c store.Claim) (*Result, error) {
	switch {
	case !c.SameRequest && c.Status == 0:
		return nil, &reusedError{c.ID}
	case !c.SameRequest:
		return nil, ErrKeyReused
	case c.Status == 0:
		return nil, ErrKeyInUse
	default:
		return &Result{Response: Response{Status: c.Status, Body: c.Body}, Replayed: true}, nil
	}
}

// StoredResponseInTurn returns the response that is stored under the request's key, for a request
// that would be refused otherwise. It returns payment.ErrNotFound if the key is free, ErrKeyInUse
// if an equal request is running, and ErrKeyReused if another request has the key. It waits for its
// turn among the writes, so it sees the key of an equal request that was queued earlier.
func (e *Engine) StoredResponseInTurn(ctx context.Context, r Request) (Result, error) {
	var out *Result
	err := e.Store.UpdateOf(ctx, r.caller(), func(tx *store.Tx) error {
		if err := tx.UseOperator(r.Actor.Token); err != nil {
			return err
		}
		own, others := r.fingerprints()
		c, err := tx.LookUpKey(r.APIKey, r.Tenant, r.Key, append(others, own)...)
		if err != nil {
			return err
		}
		out, err = replayOf(c)
		return err
	})
	if err == nil {
		out, err = e.unsealReplay(ctx, r, out)
	}
	if err != nil {
		return Result{}, err
	}
	return *out, nil
}

// StoredResponse returns the response that is stored under the request's key, for a request that
// had no turn among the writes. It returns payment.ErrNotFound if none is stored: the key may be
// free, or another request may have it.
func (e *Engine) StoredResponse(ctx context.Context, r Request) (Result, error) {
	if r.Key == "" {
		return Result{}, payment.ErrNotFound
	}
	if err := e.Store.UseOperator(ctx, r.Actor.Token); err != nil {
		return Result{}, err
	}
	own, others := r.fingerprints()
	c, err := e.Store.StoredResponse(ctx, r.APIKey, r.Tenant, r.Key, append(others, own)...)
	if err != nil {
		return Result{}, err
	}
	out := Result{Response: Response{Status: c.Status, Body: c.Body}, Replayed: true}
	out.Body, err = e.unseal(ctx, r, out.Body)
	return out, err
}

// refuse returns the result of a step that the transaction does not allow, with the reason from
// package payment.
func (e *Engine) refuse(
	tx *store.Tx, r Request, transaction int64, why func(*payment.Transaction) *payment.Refusal,
) (*Result, error) {
	t, err := tx.Transaction(r.Tenant, transaction)
	if err != nil {
		return nil, err
	}
	refusal := why(t)
	if refusal == nil {
		return nil, fmt.Errorf("the store refused a step that the rules allow: %w", store.ErrChanged)
	}
	a := e.refused(r.ID, refusal, t)
	if refusal.Code == payment.OperationInProgress {
		return nil, &busyError{a}
	}
	return &a, nil
}

// withNewIDs runs write, which draws ids. It runs write again if another process has drawn the same
// ids.
func withNewIDs(write func() error) error {
	for attempt := 0; ; attempt++ {
		err := write()
		if !errors.Is(err, store.ErrDuplicate) || attempt == 3 {
			return err
		}
	}
}

// IdempotencyKey returns an idempotency key with its response decrypted. It returns
// payment.ErrNotFound if the key was not used or has expired by store.DB.KeysEnded.
func (e *Engine) IdempotencyKey(ctx context.Context, t payment.Tenant, key string) (*store.StoredKey, error) {
	k, err := e.Store.IdempotencyKey(ctx, t, key)
	if err != nil {
		return nil, err
	}
	if k.Status != 0 && !k.ExpiresAt.After(e.Store.KeysEnded()) {
		return nil, payment.ErrNotFound
	}
	k.Body, err = e.unseal(ctx, Request{Tenant: t, Key: key}, k.Body)
	return k, err
}

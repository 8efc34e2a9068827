package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// keyWait is how long a request waits for an equal one that is running here before it is told so.
const keyWait = time.Second

// running knows the keys of the requests that run in this process, so that an equal request can wait for the answer instead of being
// turned away. It is a courtesy: what decides is the store.
type running struct {
	mu   sync.Mutex
	keys map[runningKey]chan struct{} // closed and removed when the request ends
}

type runningKey struct {
	tenant payment.Tenant
	key    string
}

// enter waits for an equal key that is running, at most keyWait, and returns what to call at the end.
func (e *Engine) enter(ctx context.Context, r Request) (leave func()) {
	if r.Key == "" {
		return func() {}
	}
	k := runningKey{r.Tenant, r.Key}
	deadline := time.NewTimer(keyWait)
	defer deadline.Stop()
	for {
		e.running.mu.Lock()
		other, busy := e.running.keys[k]
		if !busy {
			mine := make(chan struct{})
			e.running.keys[k] = mine
			e.running.mu.Unlock()
			return func() { e.leave(k, mine) }
		}
		e.running.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return func() {}
		case <-deadline.C:
			return func() {}
		}
	}
}

func (e *Engine) leave(k runningKey, mine chan struct{}) {
	e.running.mu.Lock()
	delete(e.running.keys, k)
	e.running.mu.Unlock()
	close(mine)
}

// intent claims the request's key and runs fn in the same commit. fn returns an answer when the request ends right there, and that is
// stored under the key; a nil answer leaves the key claimed. An error of fn leaves nothing, the key included.
func (e *Engine) intent(ctx context.Context, r Request, fn func(tx *store.Tx, claim int64) (*Answer, error)) (*Answer, error) {
	var out *Answer
	err := e.Store.Update(ctx, func(tx *store.Tx) error {
		claim, replay, err := claimKey(tx, r)
		if err == nil && replay != nil {
			err = e.unseal(ctx, r, replay)
		}
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
		return &busy.answer, nil
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ReserveKey stores the request's key with the response that show returns, and does nothing else. A
// repeated request gets the same response; ErrKeyReused if another request has the key.
func (e *Engine) ReserveKey(ctx context.Context, r Request, show func(created, expires time.Time) Answer) (Answer, error) {
	defer e.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Answer, error) {
		answer := show(tx.Now, tx.KeyExpiry())
		return &answer, nil
	})
	return value(out), err
}

// stored is the answer's body as the store keeps it.
func (e *Engine) stored(r Request, a *Answer) []byte {
	if !a.Secret {
		return a.Body
	}
	return e.Sealer.Seal(a.Body, sealContext(r.Tenant, r.Key))
}

// unseal makes the answer of a replay readable again.
func (e *Engine) unseal(ctx context.Context, r Request, a *Answer) error {
	if !seal.Sealed(a.Body) {
		return nil
	}
	body, err := e.Sealer.Open(ctx, a.Body, sealContext(r.Tenant, r.Key))
	if err != nil {
		return fmt.Errorf("stored answer: %w", err)
	}
	a.Body, a.Secret = body, true
	return nil
}

// sealContext ties a sealed answer to its place, so that nobody who can write the database can move it to a key of his own.
func sealContext(t payment.Tenant, key string) []byte {
	return fmt.Appendf(nil, "idempotency|%d|%t|%s", t.Merchant, t.Live, key)
}

// busyError carries the answer to a step that must wait for another one. It is an error so that nothing is kept of it, least of all
// under the key: the same request can succeed a moment later.
type busyError struct{ answer Answer }

func (*busyError) Error() string { return "engine: another operation is in progress" }

func claimKey(tx *store.Tx, r Request) (claim int64, replay *Answer, err error) {
	if r.Key == "" {
		return 0, nil, tx.UseKey(r.APIKey)
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
func replayOf(c store.Claim) (*Answer, error) {
	switch {
	case !c.SameRequest:
		return nil, ErrKeyReused
	case c.Status == 0:
		return nil, ErrKeyInUse
	default:
		return &Answer{Status: c.Status, Body: c.Answer, Replayed: true}, nil
	}
}

// Kept returns the response that is stored under the request's key, for a request that would be
// refused otherwise. It returns store.ErrNotFound if the key is free, ErrKeyInUse if an equal
// request is running, and ErrKeyReused if another request has the key. It waits its turn among the
// writes, so an equal request that is queued to claim the key is seen.
func (e *Engine) Kept(ctx context.Context, r Request) (Answer, error) {
	var out *Answer
	err := e.Store.Update(ctx, func(tx *store.Tx) error {
		own, others := r.fingerprints()
		c, err := tx.LookUpKey(r.APIKey, r.Tenant, r.Key, append(others, own)...)
		if err != nil {
			return err
		}
		if out, err = replayOf(c); err != nil {
			return err
		}
		return e.unseal(ctx, r, out)
	})
	if err != nil {
		return Answer{}, err
	}
	return *out, nil
}

// sealedMark ends the stored fingerprint of a request that demands an encrypted response.
const sealedMark = 1

// fingerprints returns the fingerprint under which a request claims its key, and those of other
// requests that count as the same. A response stored for an encrypted demand is replayed only to an
// encrypted demand: an intermediary may have removed the demand. A response stored in the clear is
// replayed to an encrypted demand, encrypted.
func (r Request) fingerprints() (own []byte, others [][]byte) {
	own = r.Fingerprint
	if r.Scopes != nil {
		own = scopedFingerprint(own, r.Scopes)
	}
	if !r.Sealed {
		return own, nil
	}
	return append(slices.Clone(own), sealedMark), [][]byte{own}
}

// refuse answers a step that the transaction did not allow, by the pure rule that says why.
func (e *Engine) refuse(tx *store.Tx, r Request, transaction int64, why func(*payment.Transaction) *payment.Refusal) (*Answer, error) {
	t, err := tx.Transaction(r.Tenant, transaction)
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	refusal := why(t)
	if refusal == nil {
		return nil, fmt.Errorf("the store refused a step that the rules allow: %w", store.ErrChanged)
	}
	a := e.Present.Refused(r.ID, refusal, t)
	if refusal.Code == payment.OperationInProgress {
		return nil, &busyError{a}
	}
	return &a, nil
}

// insertNew inserts with a fresh id, and draws again in the rare case that another process drew the same.
func (e *Engine) insertNew(insert func(id int64) error) error {
	for attempt := 0; ; attempt++ {
		err := insert(e.IDs.Next())
		if !errors.Is(err, store.ErrDuplicate) || attempt == 3 {
			return err
		}
	}
}

// IdempotencyKey returns an idempotency key with its response decrypted. It returns ErrNotFound if
// the key was not used or has expired by store.DB.KeysEnded.
func (e *Engine) IdempotencyKey(ctx context.Context, t payment.Tenant, key string) (*store.StoredKey, error) {
	k, err := e.Store.IdempotencyKey(ctx, t, key)
	if err != nil {
		return nil, err
	}
	if k.Status != 0 && !k.ExpiresAt.After(e.Store.KeysEnded()) {
		return nil, ErrNotFound
	}
	a := &Answer{Body: k.Answer}
	if err := e.unseal(ctx, Request{Tenant: t, Key: key}, a); err != nil {
		return nil, err
	}
	k.Answer = a.Body
	return k, nil
}

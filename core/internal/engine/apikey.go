package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// MaxOverlap is how long a rolled key may stay valid.
const MaxOverlap = 24 * time.Hour

// ErrLastKey reports that the tenant would be left without a key that can manage keys. The request
// had no effect and has no response to store.
var ErrLastKey = errors.New("engine: last key with keys:write")

// MissingScopeError reports that a key cannot create, roll or revoke a key with a scope that it
// lacks.
type MissingScopeError struct{ Scope string }

func (e *MissingScopeError) Error() string { return "engine: the key of the request lacks " + e.Scope }

// NewKey describes a key to make.
type NewKey struct {
	Kind      apikey.Kind
	Scopes    []string // nil: all that both the kind and the creating key may have
	Name      string
	Addresses []netip.Prefix // of payment.APIKey
	Origins   []string       // of payment.APIKey
	ExpiresAt time.Time      // zero: never
}

// Roll describes how to roll a key.
type Roll struct {
	Overlap   time.Duration  // for which the old key stays valid
	Addresses []netip.Prefix // of the new key; nil for the ones of the old key
	Origins   []string       // of the new key; nil for the ones of the old key
}

// after returns the description of the key that replaces old.
func (l Roll) after(old *payment.APIKey) NewKey {
	n := NewKey{
		Kind: apikey.Kind(old.Kind), Scopes: old.Scopes, Name: old.Name, Addresses: old.Addresses, Origins: old.Origins,
		ExpiresAt: old.ExpiresAt,
	}
	if l.Addresses != nil {
		n.Addresses = l.Addresses
	}
	if l.Origins != nil {
		n.Origins = l.Origins
	}
	return n
}

// Creator is the key, or the operator, that makes a key.
type Creator struct {
	Scopes    []string       // a key that it makes has no others
	Addresses []netip.Prefix // of payment.APIKey: a secret key that it makes works from no others
	ExpiresAt time.Time      // of payment.APIKey, when it was read: for Rights. creatorsEnd reads the present one
}

// Rights returns the scopes, the addresses and the end as texts.
func (c Creator) Rights() []string {
	rights := append(payment.PrefixTexts(c.Addresses), c.Scopes...)
	if !c.ExpiresAt.IsZero() {
		rights = append(rights, c.ExpiresAt.UTC().Format(time.RFC3339Nano))
	}
	return rights
}

// Unlimited returns the creator of the keys that an operator makes.
func Unlimited() Creator { return Creator{Scopes: apikey.AllScopes()} }

// ErrAddresses reports that a secret key would work from addresses that its creator may not use.
var ErrAddresses = errors.New("engine: addresses that the key of the request lacks")

// ErrExpiry reports that a key would be valid for longer than the key that makes it.
var ErrExpiry = errors.New("engine: the key would outlast the key of the request")

// creatorsEnd returns when the key of a request ends, zero for an operator or a key without an end.
// It reads the store, because the key can have been rolled at another core.
func creatorsEnd(tx *store.Tx, t payment.Tenant, r Request) (time.Time, error) {
	if r.APIKey == 0 {
		return time.Time{}, nil
	}
	k, err := tx.Key(t, r.APIKey)
	if err != nil {
		return time.Time{}, err
	}
	return k.ExpiresAt, nil
}

// outlasts reports whether a key until a time is valid for longer than another one. Zero is never.
func outlasts(until, other time.Time) bool {
	return !other.IsZero() && (until.IsZero() || until.After(other))
}

// covers reports whether a key that c makes may have the addresses.
func (c Creator) covers(kind apikey.Kind, addresses []netip.Prefix) bool {
	if len(c.Addresses) == 0 || kind != apikey.Secret {
		return true
	}
	return len(addresses) > 0 && !slices.ContainsFunc(addresses, func(n netip.Prefix) bool {
		return !slices.ContainsFunc(c.Addresses, func(own netip.Prefix) bool {
			return own.Bits() <= n.Bits() && own.Contains(n.Addr())
		})
	})
}

// CreateKey makes a key of a tenant. It returns a MissingScopeError if the new key would have a
// scope that its creator lacks. It returns ErrAddresses if the key would work from other addresses,
// and ErrExpiry if it would end later. Without addresses, a secret key gets the creator's. Without
// an end, a key gets the creator's end.
func (e *Engine) CreateKey(ctx context.Context, r Request, t payment.Tenant, by Creator, n NewKey) (Result, error) {
	if n.Scopes == nil {
		n.Scopes = slices.DeleteFunc(apikey.DefaultScopes(n.Kind), func(s string) bool { return !slices.Contains(by.Scopes, s) })
	}
	if err := within(by.Scopes, n.Scopes); err != nil {
		return Result{}, err
	}
	if n.Kind == apikey.Secret && len(n.Addresses) == 0 {
		n.Addresses = by.Addresses
	}
	if !by.covers(n.Kind, n.Addresses) {
		return Result{}, ErrAddresses
	}
	m, err := e.mint(t, n)
	if err != nil {
		return Result{}, err
	}
	r.Rights = by.Rights()
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		end, err := creatorsEnd(tx, t, r)
		if err != nil {
			return nil, err
		}
		if n.ExpiresAt.IsZero() {
			m.Key.ExpiresAt = end
		} else if outlasts(n.ExpiresAt, end) {
			return nil, ErrExpiry
		}
		m.Key.ID = e.IDs.Next()
		if err := tx.InsertKey(m.Key, m.Hash); err != nil {
			return nil, err
		}
		a := e.minted(tx, m)
		if err := e.keyEvent(tx, "api_key.created", m.Key, sequenceCreated); err != nil {
			return nil, err
		}
		return &a, e.Audit(tx, r, Action{Name: "api_keys.create", Object: keyID(m.Key.ID), After: e.shownKey(tx, m.Key)})
	})
	return value(done), err
}

// RollKey replaces the key id of a tenant by a new one, which by makes. It returns a
// MissingScopeError if the rolled key has a scope that by lacks. It returns ErrAddresses if the new
// key would work from other addresses, and ErrExpiry if it would end later than the request's key.
func (e *Engine) RollKey(ctx context.Context, r Request, t payment.Tenant, by Creator, id int64, how Roll) (Result, error) {
	if how.Overlap < 0 || how.Overlap > MaxOverlap {
		return Result{}, fmt.Errorf("engine: a rolled key cannot stay valid for %s", how.Overlap)
	}
	r.Rights = by.Rights()
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		old, err := tx.Key(t, id)
		if err != nil {
			return nil, err
		}
		if err := within(by.Scopes, old.Scopes); err != nil {
			return nil, err
		}
		next := how.after(old)
		if !by.covers(next.Kind, next.Addresses) {
			return nil, ErrAddresses
		}
		if end, err := creatorsEnd(tx, t, r); err != nil || outlasts(next.ExpiresAt, end) {
			return nil, cmp.Or(err, ErrExpiry)
		}
		m, err := e.mint(t, next)
		if err != nil {
			return nil, err
		}
		m.Key.ID = e.IDs.Next()
		err = tx.RollKey(old.ID, tx.Now.Add(how.Overlap), m.Key, m.Hash)
		if errors.Is(err, store.ErrConflict) {
			a := e.refused(r.ID, notRollable(old, tx.Now), nil)
			return &a, nil
		}
		if err != nil {
			return nil, err
		}
		a := e.minted(tx, m)
		if err := e.rolled(tx, old.ID, m.Key); err != nil {
			return nil, err
		}
		return &a, e.Audit(tx, r, Action{
			Name: "api_keys.roll", Object: keyID(old.ID), Before: e.shownKey(tx, old), After: e.shownKey(tx, m.Key),
		})
	})
	return value(done), err
}

// rolled writes the events of a rolled key: the old key's roll and the new key's creation.
func (e *Engine) rolled(tx *store.Tx, old int64, next *payment.APIKey) error {
	k, err := tx.Key(next.Tenant, old)
	if err != nil {
		return err
	}
	if err := e.keyEvent(tx, "api_key.rolled", k, sequenceRolled); err != nil {
		return err
	}
	return e.keyEvent(tx, "api_key.created", next, sequenceCreated)
}

// The sequences of a key's events: each event occurs at most once for a key, in this order. If a
// key is revoked without a roll, the sequence has no gap.
const (
	sequenceCreated = 1
	sequenceRolled  = 2
)

func sequenceRevoked(k *payment.APIKey) int64 {
	if k.ReplacedBy != 0 {
		return sequenceRolled + 1
	}
	return sequenceCreated + 1
}

// keyEvent writes an event that shows a key as it is now, without its secret.
func (e *Engine) keyEvent(tx *store.Tx, kind string, k *payment.APIKey, sequence int64) error {
	return tx.InsertEvent(e.event(kind, k.Tenant, k.ID, sequence, []byte(e.shownKey(tx, k))))
}

// shownKey returns a key as the contract shows it, without its secret.
func (e *Engine) shownKey(tx *store.Tx, k *payment.APIKey) string {
	return string(e.rendered(Result{Kind: Existing, Object: k, At: tx.Now}).Body)
}

// minted returns the result of a request that made a key, with its secret.
func (e *Engine) minted(tx *store.Tx, m auth.Minted) Result {
	return e.rendered(Result{Kind: Created, Object: m.Key, At: tx.Now, Credential: m.Secret})
}

func notRollable(k *payment.APIKey, now time.Time) *payment.Refusal {
	return &payment.Refusal{
		Code: keyNotRollable, Message: "The key is " + string(k.Status(now)) + ". Only an active key can be rolled.",
	}
}

func keyID(n int64) string { return id.Format(id.APIKey, n) }

// RevokeKey ends a key immediately and returns it. by are the scopes of the revoking key, nil for
// an operator. It returns a MissingScopeError if the revoked key has another scope, and
// payment.ErrNotFound if the tenant has no such key. Unless forced, it returns ErrLastKey if no key
// that can manage keys would remain.
func (e *Engine) RevokeKey(
	ctx context.Context, r Request, t payment.Tenant, by []string, key int64, force bool,
) (*payment.APIKey, error) {
	var k *payment.APIKey
	err := e.Store.UpdateOf(ctx, r.caller(), func(tx *store.Tx) (err error) {
		if err := tx.UseKey(r.APIKey); err != nil {
			return err
		}
		if err := tx.UseOperator(r.Actor.Token); err != nil {
			return err
		}
		before, err := tx.LockedKey(t, key)
		if err != nil {
			return err
		}
		if by != nil {
			if err := within(by, before.Scopes); err != nil {
				return err
			}
		}
		refused := tx.RevokeKey(t, key, force)
		if refused != nil && !errors.Is(refused, store.ErrConflict) {
			return refused
		}
		if k, err = tx.Key(t, key); err != nil {
			return err
		}
		if refused != nil {
			return ErrLastKey
		}
		if before.RevokedAt.IsZero() {
			if err := e.keyEvent(tx, "api_key.revoked", k, sequenceRevoked(k)); err != nil {
				return err
			}
		}
		return e.Audit(tx, r, Action{Name: "api_keys.revoke", Object: keyID(key), Before: e.shownKey(tx, before), After: e.shownKey(tx, k)})
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (e *Engine) mint(t payment.Tenant, n NewKey) (auth.Minted, error) {
	return auth.Mint(e.Roots, rand.Reader, auth.KeySpec{
		Merchant: t.Merchant, Live: t.Live, Kind: n.Kind, Scopes: n.Scopes, Name: n.Name,
		Addresses: n.Addresses, Origins: n.Origins, ExpiresAt: n.ExpiresAt,
	})
}

// within returns a MissingScopeError for the first scope that is not in by.
func within(by, scopes []string) error {
	for _, s := range scopes {
		if !slices.Contains(by, s) {
			return &MissingScopeError{s}
		}
	}
	return nil
}

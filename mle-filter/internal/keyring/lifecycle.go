package keyring

import (
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// State is the state of a key.
type State string

// The states. A key is next, current, previous and retired, in this order. It can be revoked in
// each of them.
const (
	Next     State = "next"     // published; decrypts
	Current  State = "current"  // clients encrypt to it
	Previous State = "previous" // decrypts until the end of the overlap
	Retired  State = "retired"  // refused
	Revoked  State = "revoked"  // refused
)

// Decrypts reports whether a key in this state decrypts requests.
func (s State) Decrypts() bool { return s == Next || s == Current || s == Previous }

// Schedule holds the lifetimes of keys.
type Schedule struct {
	RotateEvery  time.Duration // time for which a key is current; 90 days
	PublishAhead time.Duration // time for which a key is published before it becomes current; 14 days
	KeepPrevious time.Duration // time for which a replaced key still decrypts; 30 days
}

const day = 24 * time.Hour

// stateOf returns the state of a stored key. Only the end of the overlap needs no write.
func stateOf(k *keystore.Key, now time.Time) State {
	switch {
	case !k.RevokedAt.IsZero():
		return Revoked
	case k.ActivatedAt.IsZero():
		return Next
	case k.SupersededAt.IsZero():
		return Current
	case now.Before(k.RetireAt):
		return Previous
	}
	return Retired
}

// find returns the key of an algorithm in state Next or Current. There is at most one.
func find(keys []*keystore.Key, alg engine.Alg, s State, now time.Time) *keystore.Key {
	for _, k := range keys {
		if k.Alg == string(alg) && stateOf(k, now) == s {
			return k
		}
	}
	return nil
}

// activate makes k current.
func (s Schedule) activate(k *keystore.Key, now time.Time) {
	k.ActivatedAt, k.RotateAt = now, now.Add(s.RotateEvery)
	k.DueAt = k.RotateAt.Add(-s.PublishAhead)
}

// supersede ends k as the current key. It still decrypts for the time keep.
func supersede(k *keystore.Key, now time.Time, keep time.Duration) {
	k.SupersededAt, k.RetireAt = now, now.Add(keep)
	k.DueAt = k.RetireAt
	if keep <= 0 {
		wipe(k)
	}
}

// wipe deletes the private key permanently. The schedule has no more work with it.
func wipe(k *keystore.Key) { k.Sealed, k.DueAt = nil, time.Time{} }

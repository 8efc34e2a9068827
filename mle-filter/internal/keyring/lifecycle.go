package keyring

import (
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// State is where a key stands in its life.
type State string

// The states. A key is next, current, previous and retired in this order; it can be revoked from any of them.
const (
	Next     State = "next"     // published; decrypts
	Current  State = "current"  // the one to encrypt to
	Previous State = "previous" // decrypts until its time is over
	Retired  State = "retired"  // refused
	Revoked  State = "revoked"  // refused
)

// Decrypts reports whether a key in this state is good for anything.
func (s State) Decrypts() bool { return s == Next || s == Current || s == Previous }

// Schedule is how long keys live.
type Schedule struct {
	RotateEvery  time.Duration // how long a key is current; 90 days
	PublishAhead time.Duration // how long a key can be seen before it becomes current; 14 days
	KeepPrevious time.Duration // how long a superseded key decrypts; 30 days
}

const day = 24 * time.Hour

// stateOf is the state of a stored key at that time. Of all its changes only the end of the overlap happens by itself.
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

// find returns the key of an algorithm in a state, of which there is one at most: next or current.
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

// supersede ends k as the current key and has it decrypt for keep.
func supersede(k *keystore.Key, now time.Time, keep time.Duration) {
	k.SupersededAt, k.RetireAt = now, now.Add(keep)
	k.DueAt = k.RetireAt
	if keep <= 0 {
		wipe(k)
	}
}

// wipe forgets the private key for good. Nobody has to look at the key again.
func wipe(k *keystore.Key) { k.Sealed, k.DueAt = nil, time.Time{} }

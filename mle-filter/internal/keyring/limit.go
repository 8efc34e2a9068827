package keyring

import (
	"errors"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

const (
	// MaxLive is the largest number of keys of one algorithm that decrypt, if the tenant rotates.
	MaxLive = 10
	// MaxRotations is the number of rotations per algorithm that a tenant may request within
	// RotationWindow.
	MaxRotations = 10
	// RotationWindow is the period in which rotations are counted.
	RotationWindow = day
	// spareWindow is a time after a tenant took a spare RSA key. In it the tenant may not take another
	// one if only half of the spares are left.
	spareWindow = time.Hour
)

// The reasons in a LimitError.
var (
	ErrTooManyKeys = errors.New("keyring: too many keys that decrypt")
	ErrTooOften    = errors.New("keyring: rotated too often")
)

// LimitError reports that a tenant may not rotate now, and the time after which it may.
type LimitError struct {
	Reason error
	After  time.Duration
}

func (e *LimitError) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *LimitError) Unwrap() error { return e.Reason }

// allow rejects a rotation beyond the limits of a tenant. Rotations by the schedule or an operator
// are not limited, and do not count.
func (r *Keyring) allow(tx *keystore.Tx, in Rotate, keys []*keystore.Key, keep time.Duration) error {
	mine := slices.DeleteFunc(slices.Clone(keys), func(k *keystore.Key) bool { return k.Alg != string(in.Alg) })
	if err := tooOften(mine, tx.Now); err != nil {
		return err
	}
	fresh := find(mine, in.Alg, Next, tx.Now) == nil
	if err := tooMany(mine, tx.Now, fresh, keep > 0); err != nil {
		return err
	}
	took := slices.ContainsFunc(mine, func(k *keystore.Key) bool { return k.CreatedAt.After(tx.Now.Add(-spareWindow)) })
	if in.Alg != engine.RSAOAEP256 || !fresh || !took {
		return nil
	}
	if n, err := tx.Spares(string(in.Alg)); err != nil || n > r.cfg.Spares/2 {
		return err
	}
	r.fillSoon()
	return ErrNotReady
}

func tooOften(keys []*keystore.Key, now time.Time) error {
	var at []time.Time
	for _, k := range keys {
		if k.RequestedAt.After(now.Add(-RotationWindow)) {
			at = append(at, k.RequestedAt)
		}
	}
	if len(at) < MaxRotations {
		return nil
	}
	slices.SortFunc(at, func(a, b time.Time) int { return b.Compare(a) })
	return &LimitError{ErrTooOften, at[MaxRotations-1].Add(RotationWindow).Sub(now)}
}

// tooMany rejects a rotation that would exceed MaxLive. Only a rotation that makes a fresh key and
// keeps the old one can.
func tooMany(keys []*keystore.Key, now time.Time, fresh, kept bool) error {
	live, first := 0, time.Time{}
	for _, k := range keys {
		s := stateOf(k, now)
		if s.Decrypts() {
			live++
		}
		if s == Previous && (first.IsZero() || k.RetireAt.Before(first)) {
			first = k.RetireAt
		}
	}
	if !fresh || !kept || live < MaxLive {
		return nil
	}
	return &LimitError{ErrTooManyKeys, first.Sub(now)}
}

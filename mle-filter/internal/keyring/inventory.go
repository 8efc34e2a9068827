package keyring

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Secret is one entry of the inventory. It holds nothing that is secret.
type Secret struct {
	Name   string    // such as "key-encryption key"
	Alg    string    // "AES-256-GCM"
	ID     string    // its key id, "" without one
	Tenant string    // its owner, "" for the service itself
	Use    string    // its purpose
	Since  time.Time // start of its use; zero if not recorded
	Next   time.Time // when the schedule replaces or ends it; zero if only an operator does
}

// The names in the inventory.
const (
	nameKEK         = "key-encryption key"
	nameKeyset      = "keyset key"
	nameHMAC        = "HMAC key"
	nameSpare       = "spare key"
	nameResponseKey = "response key"
)

// Inventory lists every key in use in the store. They are keys of the service, keys of merchants,
// and public keys for responses.
func (r *Keyring) Inventory(ctx context.Context) ([]Secret, error) {
	stored, err := r.db.Keyset(ctx)
	if err != nil {
		return nil, err
	}
	by, err := r.sealer.follow(stored, nil)
	if err != nil {
		return nil, err
	}
	out := []Secret{
		{Name: nameKEK, Alg: "AES-256-GCM", Use: "encrypts the keyset and the HMAC key", Since: stored.WrappedAt},
		{Name: nameHMAC, Alg: "HMAC-SHA-256", Use: "authenticates rows, and hides stored Idempotency-Keys"},
	}
	newest := by.handle.KeysetInfo().GetPrimaryKeyId()
	out = append(out, Secret{
		Name: nameKeyset, Alg: "AES-256-GCM", ID: strconv.FormatUint(uint64(newest), 10), Use: "encrypts private keys",
		Since: stored.RotatedAt,
	})
	for _, n := range by.older() {
		out = append(out, Secret{
			Name: nameKeyset, Alg: "AES-256-GCM", ID: strconv.FormatUint(uint64(n), 10), Use: "decrypts private keys",
		})
	}
	spares, err := r.db.SpareKeys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range spares {
		if !by.wrote(k) {
			continue // Fill removes it
		}
		out = append(out, Secret{Name: nameSpare, Alg: k.Alg, ID: k.Kid, Use: "becomes a merchant's key", Since: k.CreatedAt})
	}
	return r.appendTenants(ctx, out)
}

// appendTenants appends the keys of all tenants.
func (r *Keyring) appendTenants(ctx context.Context, out []Secret) ([]Secret, error) {
	keys, err := r.List(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if !k.State.Decrypts() {
			continue
		}
		s := Secret{
			Name: string(k.State) + " key", Alg: string(k.Alg), ID: k.Kid, Tenant: k.Tenant, Use: "decrypts requests",
			Since: k.NotBefore, Next: k.RotateAfter,
		}
		if k.State == Previous {
			s.Next = k.ExpiresAt
		}
		out = append(out, s)
	}
	tenants, err := r.db.ResponseTenants(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tenants {
		response, err := r.ResponseKeys(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("keyring: response keys of %s: %w", t, err)
		}
		for _, k := range response {
			if k.Active {
				out = append(out, Secret{
					Name: nameResponseKey, Alg: string(k.Alg), ID: k.Kid, Tenant: t, Use: "encrypts responses", Since: k.ActiveAt,
				})
			}
		}
	}
	return out, nil
}

// Ages are the ages of the keys, for an alert. They are zero until Maintain has read the times.
type Ages struct {
	Overdue time.Duration // time since the schedule should have replaced a current key, 0 if none is late
	Keyset  time.Duration // of the newest key of the keyset
	KEK     time.Duration // time since the key-encryption key first encrypted the keyset
}

// since holds the start times of Ages.
type since struct {
	rotateAt, keyset, kek time.Time
}

// lookAtAges reads the start times of Ages from the store.
func (r *Keyring) lookAtAges(ctx context.Context) error {
	rotateAt, err := r.db.FirstRotation(ctx)
	if err != nil {
		return err
	}
	stored, err := r.db.Keyset(ctx)
	if err != nil {
		return err
	}
	r.ages.Store(&since{rotateAt, stored.RotatedAt, stored.WrappedAt})
	return nil
}

// Ages returns the ages of the keys.
func (r *Keyring) Ages() Ages {
	s := r.ages.Load()
	if s == nil {
		return Ages{}
	}
	now := r.clock.Now()
	age := func(t time.Time) time.Duration {
		if t.IsZero() {
			return 0
		}
		return max(0, now.Sub(t))
	}
	return Ages{Overdue: age(s.rotateAt), Keyset: age(s.keyset), KEK: age(s.kek)}
}

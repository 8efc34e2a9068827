package keyring

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/rowmac"
)

// errChanged reports a row that another program made or changed.
var errChanged = errors.New(changedRow)

const changedRow = "keyring: another program changed the row of a key, so the key is refused: " +
	"restore the store, or delete the row"

// A program that can write the store could otherwise make clients, or the filter, encrypt to a key
// of that program. Therefore each row of a key has an HMAC, and a row with a wrong HMAC is refused.

// keyMAC returns the HMAC of a key of the service, or of a spare key, which has no tenant and no
// times but its creation.
func (o *openKeyset) keyMAC(k *keystore.Key) []byte {
	return rowmac.Of(o.hmacKey, "causeway mle key 1", k.Tenant, k.Kid, k.Alg, string(k.JWK), string(k.Sealed),
		millis(k.CreatedAt), millis(k.NotBefore), millis(k.RotateAt), millis(k.ActivatedAt), millis(k.SupersededAt),
		millis(k.RetireAt), millis(k.RevokedAt), millis(k.RequestedAt), millis(k.DueAt))
}

// responseKeyMAC returns the HMAC of a response key.
func (o *openKeyset) responseKeyMAC(k *keystore.ResponseKey) []byte {
	return rowmac.Of(o.hmacKey, "causeway mle response key 1", k.Tenant, k.Kid, k.Alg, string(k.JWK),
		millis(k.CreatedAt), millis(k.ProvenAt), strconv.FormatInt(k.Order, 10), millis(k.DeletedAt),
		string(k.Challenge), millis(k.ChallengeExpiresAt))
}

// millis returns a time as the store has it: in milliseconds, "" for none.
func millis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// wrote reports whether a filter wrote the row of a key.
func (o *openKeyset) wrote(k *keystore.Key) bool { return hmac.Equal(k.MAC, o.keyMAC(k)) }

// rows returns the HMACs of rows. Neither a rotation of the keyset nor a rewrap changes their key,
// so every keyset that was read serves.
func (r *Keyring) rows() *openKeyset { return r.sealer.last.Load() }

// insert and update write a key with its HMAC. A conflict means that a refused row has the place of
// the key: transactions are serialized, and only refused rows are hidden from them.
func (r *Keyring) insert(tx *keystore.Tx, k *keystore.Key) error { return r.write(tx.InsertKey, k) }

func (r *Keyring) update(tx *keystore.Tx, k *keystore.Key) error { return r.write(tx.UpdateKey, k) }

func (r *Keyring) write(write func(*keystore.Key) error, k *keystore.Key) error {
	k.MAC = r.rows().keyMAC(k)
	err := write(k)
	if errors.Is(err, keystore.ErrConflict) {
		return fmt.Errorf("%w: of %s", errChanged, k.Tenant)
	}
	return err
}

// genuine returns the keys that filters wrote, and the ids of the others, which it refuses.
func (r *Keyring) genuine(ctx context.Context, keys []*keystore.Key) (out []*keystore.Key, refused []string) {
	for _, k := range keys {
		if r.rows().wrote(k) {
			out = append(out, k)
			continue
		}
		refused = append(refused, k.Kid)
		r.refuse(ctx, row{k.Tenant, k.Kid})
	}
	return out, refused
}

// genuineResponse is genuine for response keys.
func (r *Keyring) genuineResponse(
	ctx context.Context, keys []*keystore.ResponseKey,
) (out []*keystore.ResponseKey, refused []string) {
	for _, k := range keys {
		if hmac.Equal(k.MAC, r.rows().responseKeyMAC(k)) {
			out = append(out, k)
			continue
		}
		refused = append(refused, k.Kid)
		r.refuse(ctx, row{k.Tenant, k.Kid})
	}
	return out, refused
}

// keys returns the keys of a tenant that filters wrote.
func (r *Keyring) keys(ctx context.Context, tx *keystore.Tx, tenant string) ([]*keystore.Key, error) {
	all, err := tx.Keys(tenant)
	if err != nil {
		return nil, err
	}
	out, _ := r.genuine(ctx, all)
	return out, nil
}

// row identifies the row of a key, or of a response key.
type row struct{ tenant, kid string }

// refuse reports a row that another program changed.
func (r *Keyring) refuse(ctx context.Context, k row) {
	r.mu.Lock()
	known := r.changed[k]
	r.changed[k] = true
	r.mu.Unlock()
	if !known {
		r.log.ErrorContext(ctx, changedRow, slog.String("merchant", k.tenant), slog.String("kid", k.kid))
	}
}

// repaired forgets the refused rows of a tenant other than these.
func (r *Keyring) repaired(tenant string, refused ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.changed, func(k row, _ bool) bool {
		return k.tenant == tenant && !slices.Contains(refused, k.kid)
	})
}

// Changed returns the number of rows that are refused because another program changed them.
func (r *Keyring) Changed() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.changed)
}

// Unchanged returns an error if rows are refused because another program changed them.
func (r *Keyring) Unchanged(context.Context) error {
	if n := r.Changed(); n > 0 {
		return fmt.Errorf("%w: %d rows", errChanged, n)
	}
	return nil
}

// lookAtChanged reads the tenants with refused rows again, and forgets the rows that were repaired.
func (r *Keyring) lookAtChanged(ctx context.Context) error {
	r.mu.RLock()
	tenants := map[string]bool{}
	for k := range r.changed {
		tenants[k.tenant] = true
	}
	r.mu.RUnlock()
	var faults []error
	for t := range tenants {
		_, err := r.readNow(ctx, t)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

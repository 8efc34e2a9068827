package keyring

import (
	"crypto/subtle"
	"errors"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// Once identifies a request that is executed once, however often it is sent. With an empty Key it
// is executed each time.
type Once struct {
	Key         string // its Idempotency-Key
	Fingerprint []byte
}

// Response is the response to a request. Replayed reports that it was stored, for a retry.
type Response struct {
	Status   int
	Body     []byte
	Replayed bool
}

// once executes a request. If it is a retry, it returns the stored response.
func (r *Keyring) once(
	tx *keystore.Tx, tenant string, o Once, do func() (Response, error),
) (Response, error) {
	if o.Key == "" {
		return do()
	}
	key, fingerprint := r.sealer.last.Load().hmacs(o)
	before, err := tx.Response(tenant, key)
	switch {
	case err == nil && subtle.ConstantTimeCompare(before.Fingerprint, fingerprint) != 1:
		return Response{}, ErrKeyReused
	case err == nil:
		return Response{Status: before.Status, Body: before.Body, Replayed: true}, nil
	case !errors.Is(err, keystore.ErrNotFound):
		return Response{}, err
	}
	out, err := do()
	if err != nil {
		return Response{}, err
	}
	return out, tx.StoreResponse(
		tenant, key, keystore.Response{Fingerprint: fingerprint, Status: out.Status, Body: out.Body},
	)
}

package engine

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Request has the common fields of every changing request.
type Request struct {
	Tenant payment.Tenant
	APIKey int64 // the key of the request, 0 for none; it must be valid when the request takes effect
	// Payer reports whether the key is publishable. Such requests have separate turns.
	Payer bool
	// ClientAddress is "203.0.113.7", "2001:db8::1", or "" if unknown. The rows of the request
	// record it.
	ClientAddress     string
	ID                string // request id, shown in errors
	Key               string // idempotency key, "" for none
	Fingerprint       []byte // of method, path and body; only with a Key
	EncryptedResponse bool   // the filter in front encrypts the response, as the client demanded
	// Rights are the rights of a Creator, if the response shows the secret of a new key. Two such
	// requests are equal only if the rights are. Nil for all other requests.
	Rights []string
	// Actor is the operator of an audited request; zero for a merchant's own.
	Actor audit.Actor
}

// caller returns the sender of the request, by which its commands get their turns.
func (r *Request) caller() store.Caller { return store.Caller{Tenant: r.Tenant, Payer: r.Payer} }

// client returns the sender of the request as rows record it.
func (r *Request) client() payment.Client {
	return payment.Client{APIKey: r.APIKey, Address: r.ClientAddress}
}

// encryptedMark ends the stored fingerprint of a request that demands an encrypted response.
const encryptedMark = 1

// fingerprints returns the fingerprint under which a request claims its key, and the fingerprints
// of other requests that count as the same. A response stored for an encrypted demand is replayed
// only to an encrypted demand: an intermediary may have removed the demand. A response stored in
// the clear is replayed to an encrypted demand, encrypted.
func (r Request) fingerprints() (own []byte, others [][]byte) {
	own = r.Fingerprint
	if r.Rights != nil {
		own = rightsFingerprint(own, r.Rights)
	}
	if !r.EncryptedResponse {
		return own, nil
	}
	return append(slices.Clone(own), encryptedMark), [][]byte{own}
}

// rightsFingerprint makes a request by a key with other rights another request. Otherwise a key
// with fewer rights could repeat the request and get the stored secret.
func rightsFingerprint(fingerprint []byte, by []string) []byte {
	if fingerprint == nil {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %s", fingerprint, slices.Sorted(slices.Values(by))))
	return sum[:]
}

package providera

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"io"
	"strings"

	"github.com/causeway-pay/causeway/shared/secret"
)

// transHash computes the transHashSha2 of a response, by which clients with a signature key
// verify it. The zero value has no key.
type transHash struct {
	key           secret.String // decoded
	login, amount string
}

// transHash returns the hash for the response to the request. Its amount is the one in the
// request, or "0.00" without one.
func (d *decoder) transHash() transHash {
	amount := "0"
	if n := d.txn.Child("amount"); n.Has() {
		amount = canonical(n.Get())
	}
	return transHash{key: d.basis.signatureKey, login: d.login, amount: decimals(amount, 2)}
}

// of returns the hash of a response with that transId, or "" without a key.
func (h transHash) of(transID string) string {
	if h.key.IsZero() {
		return ""
	}
	mac := hmac.New(sha512.New, []byte(h.key.Reveal()))
	_, _ = io.WriteString(mac, "^"+h.login+"^"+transID+"^"+h.amount+"^") // it never fails
	return strings.ToUpper(hex.EncodeToString(mac.Sum(nil)))
}

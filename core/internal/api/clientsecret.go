package api

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// clientSecret is what a payer's device proves with that the merchant gave it this transaction to confirm. It follows from the id, so that
// nothing secret is stored: not in the transaction, nor in an event, nor under an idempotency key. It is under the version of the root secret
// that was in use when the transaction was made, so that a retry is shown the same one after a rotation.
func (a *API) clientSecret(t payment.Tenant, n int64) secret.String {
	return clientSecretUnder(a.Roots.KeyAt(root.ClientSecrets, id.TimeOf(n)), t, n)
}

// isClientSecret reports whether given is the client secret of a transaction, under any version of the root secret: a core that learned of a
// rotation late has used the older one.
func (a *API) isClientSecret(ctx context.Context, given secret.String, t payment.Tenant, n int64) bool {
	return a.isClientSecretNow(given, t, n) || a.Roots.Missed(ctx) && a.isClientSecretNow(given, t, n)
}

func (a *API) isClientSecretNow(given secret.String, t payment.Tenant, n int64) (is bool) {
	for _, key := range a.Roots.Keys(root.ClientSecrets) {
		is = hmac.Equal([]byte(given.Reveal()), []byte(clientSecretUnder(key, t, n).Reveal())) || is
	}
	return is
}

func clientSecretUnder(key root.Key, t payment.Tenant, n int64) secret.String {
	mac := hmac.New(sha256.New, key.Bytes)
	mac.Write(strconv.AppendInt(nil, t.Merchant, 10))
	mac.Write(strconv.AppendBool([]byte{'|'}, t.Live))
	mac.Write(strconv.AppendInt([]byte{'|'}, n, 10))
	return secret.New(id.Format(id.Transaction, n) + "_secret_" + hex.EncodeToString(mac.Sum(nil)[:24]))
}

// withClientSecret adds the secret to the answer that created a transaction, the stored one as well as the first.
func (a *API) withClientSecret(t payment.Tenant, body []byte) []byte {
	var created struct {
		ID string `json:"id"`
	}
	decodeDetails(body, &created)
	n, err := id.Parse(id.Transaction, created.ID)
	if err != nil {
		panic("api: internal error: a created transaction has no id")
	}
	open := bytes.TrimSuffix(body, []byte("}"))
	return slices.Concat(open, []byte(`,"client_secret":"`+a.clientSecret(t, n).Reveal()+`"}`))
}

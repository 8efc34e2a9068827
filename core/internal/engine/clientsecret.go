package engine

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// clientSecret returns the value by which a payer's device proves that the merchant gave it this
// transaction to confirm. It is derived from the id and the newest version of the root secret in
// use, so neither the transaction nor an event contains it. Only the response that creates the
// transaction shows it.
func (e *Engine) clientSecret(t payment.Tenant, n int64) secret.String {
	return clientSecretUnder(e.Roots.Keys(root.ClientSecrets)[0], t, n)
}

// IsClientSecret reports whether given is the client secret of a transaction, under any version of
// the root secret. A core that has not read a rotation yet uses the older version.
func (e *Engine) IsClientSecret(ctx context.Context, given secret.String, t payment.Tenant, n int64) bool {
	return e.isClientSecretNow(given, t, n) || e.Roots.Missed(ctx) && e.isClientSecretNow(given, t, n)
}

func (e *Engine) isClientSecretNow(given secret.String, t payment.Tenant, n int64) (is bool) {
	for _, key := range e.Roots.Keys(root.ClientSecrets) {
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

package api

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// clientSecret returns the value by which a payer's device proves that the merchant gave it this
// transaction to confirm. It follows from the id and the newest version of the root secret in use,
// so that neither the transaction nor an event holds it. Only the response that creates the
// transaction shows it.
func (a *API) clientSecret(t payment.Tenant, n int64) secret.String {
	return clientSecretUnder(a.Roots.Keys(root.ClientSecrets)[0], t, n)
}

// isClientSecret reports whether given is the client secret of a transaction, under any version of
// the root secret: a core that learned of a rotation late has used the older one.
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

// withClientSecret adds the client secret to the response that creates a transaction. The response
// is stored encrypted, so a repeated request gets the same bytes whatever versions of the root
// secret are in use then.
func (a *API) withClientSecret(created engine.Answer, t *payment.Transaction) engine.Answer {
	open := bytes.TrimSuffix(created.Body, []byte("}"))
	created.Body = slices.Concat(open, []byte(`,"client_secret":"`+a.clientSecret(t.Tenant, t.ID).Reveal()+`"}`))
	created.Secret = true
	return created
}

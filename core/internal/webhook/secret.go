package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// secretPrefix marks a signing secret.
const secretPrefix = "whsec_"

// Secrets derives the signing secrets of endpoints, so that an endpoint's row holds none. Only the
// stored response of an idempotency key contains a secret, encrypted. The zero value must not be
// used.
type Secrets struct{ key secret.String }

// NewSecrets derives from key, 32 random bytes that stay the same for the life of the store.
func NewSecrets(key []byte) Secrets { return Secrets{secret.New(string(key))} }

// Of returns the secret of an endpoint in its generation, in the form that its owner gets.
func (s Secrets) Of(endpoint, generation int64) secret.String {
	return secret.New(secretPrefix + base64.StdEncoding.EncodeToString(s.bytes(endpoint, generation)))
}

// bytes returns the signing key.
func (s Secrets) bytes(endpoint, generation int64) []byte {
	return sum([]byte(s.key.Reveal()), id.Format(id.WebhookEndpoint, endpoint), ".", strconv.FormatInt(generation, 10))
}

// sign returns the webhook-signature of a message that is sent at a unix time. It has one signature
// by the endpoint's secret, and during an overlap a second one by the previous secret.
func (s Secrets) sign(e *payment.Endpoint, message string, at int64, body []byte) string {
	content := []string{message, ".", strconv.FormatInt(at, 10), ".", string(body)}
	out := signature(s.bytes(e.ID, e.Generation), content)
	if e.Generation > 1 && at < e.OverlapUntil.Unix() {
		out += " " + signature(s.bytes(e.ID, e.Generation-1), content)
	}
	return out
}

func signature(key []byte, content []string) string {
	return "v1," + base64.StdEncoding.EncodeToString(sum(key, content...))
}

func sum(key []byte, content ...string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range content {
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}

package providerb

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/envelope"
)

// decrypted returns the body, decrypted if the client encrypted it. It returns false if the body
// cannot be decrypted, or the login does not allow encryption. The refusal is the same for both.
func (h *Handler) decrypted(ctx context.Context, caller auth.Caller, body []byte) ([]byte, bool) {
	compact, wrapped := envelope.Wrapped(body)
	if !wrapped {
		return body, true
	}
	if !caller.MayEncrypt || h.cfg.DecryptionKeys == nil {
		return nil, false
	}
	text, err := envelope.Decrypt(ctx, h.cfg.DecryptionKeys, compact)
	return text, err == nil
}

// encrypted encrypts a response to its client, if the client requested that with a registered key.
// A client that is not authenticated gets a plain response.
func encrypted(out response, caller auth.Caller, now time.Time) response {
	if caller.ResponseKey == nil || out.status == http.StatusUnauthorized {
		return out
	}
	out.encrypt = func(text []byte) ([]byte, error) {
		return envelope.Encrypt(text, caller.ResponseKID, caller.ResponseKey, now)
	}
	return out
}

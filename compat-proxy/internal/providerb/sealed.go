package providerb

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/envelope"
)

// opened returns the body, decrypted if the client encrypted it. It returns false if the body
// cannot be decrypted, or the login does not allow encryption. The refusal is the same for both.
func (h *Handler) opened(ctx context.Context, caller auth.Caller, body []byte) ([]byte, bool) {
	compact, wrapped := envelope.Wrapped(body)
	if !wrapped {
		return body, true
	}
	if !caller.MayEncrypt || h.cfg.Openers == nil {
		return nil, false
	}
	text, err := envelope.Open(ctx, h.cfg.Openers, compact)
	return text, err == nil
}

// sealed encrypts a response to its client, if the client requested that with a registered key. A
// client that is not authenticated gets a plain response.
func sealed(out answer, caller auth.Caller, now time.Time) answer {
	if caller.SealKey == nil || out.status == http.StatusUnauthorized {
		return out
	}
	out.seal = func(text []byte) ([]byte, error) { return envelope.Seal(text, caller.SealKID, caller.SealKey, now) }
	return out
}

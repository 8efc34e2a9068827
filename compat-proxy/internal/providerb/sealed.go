package providerb

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/envelope"
)

// opened is a body as it was before its client encrypted it, if it did. False when it cannot be opened, or came with a login that does not go
// with encryption; the refusal is the same for all.
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

// sealed is an answer encrypted to its client, if the client asked for that with a key that we know. Whoever is not let in gets a plain one.
func sealed(out answer, caller auth.Caller, now time.Time) answer {
	if caller.SealKey == nil || out.status == http.StatusUnauthorized {
		return out
	}
	out.seal = func(text []byte) ([]byte, error) { return envelope.Seal(text, caller.SealKID, caller.SealKey, now) }
	return out
}

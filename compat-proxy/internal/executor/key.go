package executor

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// identifyTimeout bounds the identification of an API key. It leaves time for the command that
// follows.
const identifyTimeout = 8 * time.Second

// Identify returns the API key with its scopes, and counts the legacy request towards the merchant
// of the key. The record is up to five seconds old if the key works from all addresses. If v1
// refuses the key, it returns the zero APIKey and the refusal, otherwise Done. A refusal that does
// not concern the key is Unavailable. It returns Unavailable with status 429 if too many requests
// of the merchant are pending.
func (x *Executor) Identify(ctx context.Context, key secret.String) (v1.APIKey, command.Result) {
	info, r := x.apiKey(ctx, key)
	if r.Outcome != command.Done {
		return info, r
	}
	err := admission.Identify(ctx, admission.Identity{
		Key: info.ID, Merchant: info.Merchant + "/" + string(info.Mode), Live: info.Mode == v1.ModeLive,
		Public: info.Kind == v1.APIKeyKindPublishable,
	})
	if err != nil {
		return info, command.Result{Outcome: command.Unavailable, Status: http.StatusTooManyRequests}
	}
	return info, r
}

func (x *Executor) apiKey(ctx context.Context, key secret.String) (v1.APIKey, command.Result) {
	ctx, end := x.detached(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	info, resp, ok := x.client.APIKey(ctx, key)
	if !ok {
		r := command.Unread(resp)
		if !v1client.ConcernsKey(r.Code) { // such as a 404 that is not v1's
			r.Outcome = command.Unavailable
		}
		return v1.APIKey{}, r
	}
	return info, command.Result{Outcome: command.Done, Status: resp.Status}
}

// tenant returns the merchant and mode of a key. They never change, so a remembered key needs no
// call. If v1 does not identify the key, it returns the result to give.
func (x *Executor) tenant(ctx context.Context, key secret.String) (deduplication.Tenant, *command.Result) {
	info, seen := x.client.SeenAPIKey(key)
	if !seen {
		var r command.Result
		if info, r = x.Identify(ctx, key); r.Outcome != command.Done {
			return deduplication.Tenant{}, &r
		}
	}
	return deduplication.Tenant{Merchant: info.Merchant, Mode: string(info.Mode)}, nil
}

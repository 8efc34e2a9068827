package deduplication

import (
	"bytes"
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Reserve reserves an Idempotency-Key at v1 for a purpose. It returns false if the key has another
// purpose, or belongs to another request. A reservation moves no money, so after a lost response
// the result is Unavailable, and the client can retry.
func (s Request) Reserve(ctx context.Context, key, purpose string) (bool, *command.Result) {
	body, err := v1.MarshalRevealed(v1.IdempotencyKeyReserve{Purpose: purpose})
	if err != nil {
		r := command.Unencodable()
		return false, &r
	}
	params := v1.ReserveIdempotencyKeyParams{IdempotencyKey: key}
	// Wait after a rate limit: a key that is not reserved would leave a gap in the chain of keys.
	resp := s.d.cfg.Client.CallAfter(ctx, &v1client.Earlier{}, v1.CodeRateLimited,
		func(ctx context.Context) (*http.Response, error) {
			return s.d.cfg.Client.API.ReserveIdempotencyKeyWithBody(
				ctx, &params, v1client.ContentType, bytes.NewReader(body), s.WithKey)
		})
	switch {
	case resp.Status == http.StatusCreated, resp.Err.Code == v1.CodeKeyReused:
		return resp.Status == http.StatusCreated, nil
	}
	r := command.ResultOf(resp)
	if resp.Err.Code != v1.CodeKeyInUse && (r.Outcome == command.Uncertain || r.Outcome == command.NotFound) {
		r.Outcome = command.Unavailable
	}
	return false, &r
}

// identify completes the use of a key that the caller may not read. It tries the reservation for
// each purpose: v1 replays the one that exists.
func (s Request) identify(ctx context.Context, key string, u Use, purposes ...string) (Use, *command.Result) {
	if u.Denied == nil {
		return u, nil
	}
	for _, purpose := range purposes {
		held, failed := s.Reserve(ctx, key, purpose)
		switch {
		case failed != nil:
			return Use{}, failed
		case held:
			u.Purpose, u.Effect = purpose, false
			return u, nil
		}
	}
	return u, nil
}

// RefusedPurpose is the purpose of the reservations that make a refusal final. They are of the
// name's key, if v1 stores nothing under it, and of the evidence.
const RefusedPurpose = "refused"

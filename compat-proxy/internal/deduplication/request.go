package deduplication

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Config holds the settings of a Deduplicator. All but SecretOther are required.
type Config struct {
	Client *v1client.Client
	// Secret, at least 32 bytes, is the key from which names of requests are derived. Proxies with the
	// same secret share names.
	Secret secret.String
	// SecretOther is the previous or next secret during a rotation: requests have names under both.
	// Zero means none.
	SecretOther secret.String
	// Pause is the wait before a key in use is read again. It doubles three times.
	Pause time.Duration
	// NewKey returns a new unique Idempotency-Key.
	NewKey func() string
}

// Deduplicator finds equal requests by their Idempotency-Keys at v1. It is safe for concurrent use.
// Its only state is a short-lived memory of the ends of chains, which saves calls.
type Deduplicator struct {
	cfg  Config
	ends chainEnds
}

// New returns a Deduplicator. It calls nothing. It returns an error for missing or short
// secrets.
func New(cfg Config) (*Deduplicator, error) {
	if err := checkSecrets(cfg.Secret, cfg.SecretOther); err != nil {
		return nil, err
	}
	return &Deduplicator{cfg: cfg, ends: chainEnds{ends: map[chain]*takenKeys{}}}, nil
}

// Request is a legacy request at v1: the caller's API key, and the Idempotency-Key for all its
// attempts.
type Request struct {
	d *Deduplicator

	APIKey         secret.String
	IdempotencyKey string
	// Nonce, if set, makes the request to v1 differ from any other; see runWithoutWindow.
	Nonce string
	// names derives the request's names at v1, and otherNames derives them under the other secret; nil
	// without one.
	names      Names
	otherNames *Names
}

// Request returns a request without an Idempotency-Key and without names.
func (d *Deduplicator) Request(apiKey secret.String) Request { return Request{d: d, APIKey: apiKey} }

// For returns the request with the names of a tenant.
func (s Request) For(of Tenant) Request {
	s.names, s.otherNames = Names{s.d.cfg.Secret, of}, nil
	if other := s.d.cfg.SecretOther; !other.IsZero() {
		s.otherNames = &Names{other, of}
	}
	return s
}

// Now returns the present time of v1, or the result to give if v1 does not return it.
func (s Request) Now(ctx context.Context) (time.Time, *command.Result) {
	now, resp := s.d.cfg.Client.Now(ctx, s.APIKey)
	if resp == nil {
		return now, nil
	}
	r := command.ResultOf(*resp)
	if r.Outcome == command.NotFound || r.Outcome == command.Uncertain { // a read has no effect
		r.Outcome = command.Unavailable
	}
	return time.Time{}, &r
}

// WithKey sets the API key on a call to v1, and the fields that trusted hops forward.
func (s Request) WithKey(ctx context.Context, r *http.Request) error {
	return s.d.cfg.Client.As(s.APIKey)(ctx, r)
}

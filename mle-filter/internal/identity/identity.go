package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/singleflight"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	// MaxAge is the longest time for which a response of core is cached.
	MaxAge = 30 * time.Second

	maxHeld       = 20_000
	maxResponse   = 64 << 10
	maxCredential = 1 << 10
	askTimeout    = 5 * time.Second

	// identifyField marks the requests of mle-filter itself, and holds the filter token.
	identifyField = "X-Svc-Int-Asks"
)

// Identity is the merchant, the mode and the scopes of an API key.
type Identity struct {
	Key         string // key_…, the id of the API key
	Merchant    string // mer_…
	Mode        v1.Mode
	Publishable bool // the key is public
	Scopes      []string
}

// Tenant returns the merchant in one mode, such as mer_…/live. engine.Keys calls it a merchant.
func (i Identity) Tenant() string { return i.Merchant + "/" + string(i.Mode) }

// Has reports whether the key has a scope.
func (i Identity) Has(scope string) bool { return slices.Contains(i.Scopes, scope) }

// Config locates core.
type Config struct {
	V1     string // the address of core's v1, http://127.0.0.1:8080
	Client *http.Client
	Clock  clock.Clock
	// Token is core's filter token: without it core does not reveal the merchant of a publishable
	// key. Zero for none.
	Token  secret.String
	MaxAge time.Duration // at most MaxAge, the default
}

// Resolver resolves API keys at core. It is safe for concurrent use.
type Resolver struct {
	cfg    Config
	flight singleflight.Group

	mu   sync.Mutex
	held map[[sha256.Size]byte]entry // guarded by mu; by the hash of the credential
}

type entry struct {
	Identity
	until time.Time
}

// New returns a resolver.
func New(cfg Config) *Resolver {
	cfg.MaxAge = min(cmp.Or(cfg.MaxAge, MaxAge), MaxAge)
	cfg.V1 = strings.TrimSuffix(cfg.V1, "/")
	if cfg.Client == nil {
		cfg.Client = &http.Client{}
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	return &Resolver{cfg: cfg, held: map[[sha256.Size]byte]entry{}}
}

// Resolve returns the identity of a request with this header, or the problem with which core would
// reject it.
func (r *Resolver) Resolve(ctx context.Context, h http.Header) (Identity, *engine.Problem) {
	credential, problem := credentialOf(h)
	if problem != nil {
		return Identity{}, problem
	}
	name := sha256.Sum256([]byte(credential))
	now := r.cfg.Clock.Now()
	r.mu.Lock()
	e, ok := r.held[name]
	r.mu.Unlock()
	if ok && now.Before(e.until) {
		return e.Identity, nil
	}
	// Only callers of one client address share a call. Core counts the call for that address. If
	// callers of other addresses shared it, a client over its rate limit would get them refused.
	v, err, _ := r.flight.Do(string(name[:])+httpx.ClientAddressFrom(ctx), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		return r.current(ctx, credential, nil, now) // core receives the request's Origin later
	})
	return identityOf(v, err, func(e entry) { r.keep(name, e) })
}

// Fresh is Resolve without the cache. It is for requests that do not reach core afterwards, because
// an ended key must have no effect. Core receives their Origin too, so it rejects a secret key from
// a web page.
func (r *Resolver) Fresh(ctx context.Context, h http.Header) (Identity, *engine.Problem) {
	credential, problem := credentialOf(h)
	if problem != nil {
		return Identity{}, problem
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	e, err := r.current(ctx, credential, h["Origin"], r.cfg.Clock.Now())
	return identityOf(e, err, func(entry) {})
}

func identityOf(v any, err error, keep func(entry)) (Identity, *engine.Problem) {
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		return Identity{}, refused.problem
	case err != nil:
		return Identity{}, &engine.Problem{
			Status: http.StatusServiceUnavailable, Type: v1.ErrorTypeAPIError, Code: "overloaded", RetryAfter: 1,
			Reason: "no_identity", Cause: err,
			Message: v1.MessageUnreachable,
		}
	}
	e := v.(entry)
	keep(e)
	return e.Identity, nil
}

func (r *Resolver) keep(name [sha256.Size]byte, e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) >= maxHeld {
		for other := range r.held { // an arbitrary one
			delete(r.held, other)
			break
		}
	}
	r.held[name] = e
}

// credentialOf returns the only Authorization line of a request. Core validates its content.
func credentialOf(h http.Header) (string, *engine.Problem) {
	lines := h["Authorization"]
	if len(lines) != 1 || lines[0] == "" || len(lines[0]) > maxCredential {
		return "", invalidKey()
	}
	return lines[0], nil
}

// invalidKey returns core's response to a request without a key.
func invalidKey() *engine.Problem {
	return &engine.Problem{
		Status: http.StatusUnauthorized, Type: v1.ErrorTypeAuthenticationError, Code: "invalid_api_key", Reason: "no_key",
		Message: v1.MessageInvalidAPIKey,
	}
}

// refusedError is a rejection by core.
type refusedError struct{ problem *engine.Problem }

func (e *refusedError) Error() string { return "identity: core refuses: " + e.problem.Code }

func (r *Resolver) current(ctx context.Context, credential string, origin []string, now time.Time) (entry, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.cfg.V1+"/v1/api_keys/current", nil)
	if err != nil {
		return entry{}, fmt.Errorf("identity: %w", err)
	}
	req.Header.Set("Authorization", credential)
	if len(origin) > 0 {
		req.Header["Origin"] = origin
	}
	if !r.cfg.Token.IsZero() {
		req.Header.Set(identifyField, r.cfg.Token.Reveal())
	}
	resp, err := r.cfg.Client.Do(req)
	if err != nil {
		return entry{}, fmt.Errorf("identity: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // its body was read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return entry{}, fmt.Errorf("identity: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return entry{}, r.refusal(resp, body)
	}
	var key v1.APIKey
	if err := json.Unmarshal(body, &key); err != nil || key.Merchant == "" || !key.Mode.Valid() {
		return entry{}, errors.New("identity: core's response is not an API key")
	}
	e := entry{
		Identity{key.ID, key.Merchant, key.Mode, key.Kind == v1.APIKeyKindPublishable, key.Scopes},
		now.Add(r.cfg.MaxAge),
	}
	if key.ExpiresAt != nil && key.ExpiresAt.Before(e.until) {
		e.until = key.ExpiresAt.Time
	}
	return e, nil
}

// codePublishable is the code of core's refusal to identify a publishable key.
const codePublishable = "publishable_key_not_allowed"

// refusal returns core's rejection of the key as a *refusedError, or another error for a fault on
// our side.
func (r *Resolver) refusal(resp *http.Response, body []byte) error {
	var failure v1.ErrorBody
	if err := json.Unmarshal(body, &failure); err != nil || failure.Error.Code == "" {
		return fmt.Errorf("identity: core responded %d", resp.StatusCode)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return fmt.Errorf("identity: core responded %d %s", resp.StatusCode, failure.Error.Code)
	}
	if failure.Error.Code == codePublishable {
		if !r.cfg.Token.IsZero() {
			return errors.New("identity: core rejected the filter token: set the same one on core")
		}
		failure.Error.Message = "Publishable keys cannot be used with encryption here: the operator has set no filter " +
			"token. Send the request without encryption."
	}
	p := &engine.Problem{
		Status: resp.StatusCode, Type: failure.Error.Type, Code: failure.Error.Code,
		Message: failure.Error.Message, Reason: "refused",
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = seconds
	}
	return &refusedError{p}
}

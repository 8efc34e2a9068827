package engine

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/turns"
)

// Policy decides which bodies must be encrypted. *policy.Table implements it.
type Policy interface {
	Rule(method, path, merchant string) policy.Rule
	// ByMerchant reports whether a rule can depend on the merchant.
	ByMerchant() bool
}

// Announced reports whether an announced requirement is in force for a request: its body must be
// encrypted.
type Announced func(method, path string, now time.Time) bool

// Caller returns the merchant of a request. The engine calls it only if the merchant matters, and
// at most once for an exchange. A problem, such as an invalid API key, goes to the client
// unchanged.
type Caller func(ctx context.Context) (merchant string, problem *Problem)

// Config holds the parts of an engine. Settings may be the zero value.
type Config struct {
	Settings
	Keys   Keys
	Policy Policy
	Clock  clock.Clock
	// Secret proves to core that the request passed this filter. Zero sends no proof.
	Secret secret.String
	// Announced may be nil.
	Announced Announced
	// Hop authenticates the client address that core receives. Zero forwards no address.
	Hop secret.String
}

// Engine makes the decisions. It is safe for concurrent use.
type Engine struct {
	settings Settings
	keys     Keys
	policy   Policy
	clock    clock.Clock
	slots    map[Alg]*turns.Turns[client] // by client
	due      Announced
	proof    HeaderOp
	hop      secret.String
}

// New returns an engine, or an error if a setting is invalid or a part is missing.
func New(cfg Config) (*Engine, error) {
	settings, err := cfg.Complete()
	if err != nil {
		return nil, err
	}
	if cfg.Keys == nil || cfg.Policy == nil || cfg.Clock == nil {
		return nil, errors.New("mle: an engine needs keys, a policy and a clock")
	}
	proof := Del(FieldProof)
	if !cfg.Secret.IsZero() {
		proof = Set(FieldProof, cfg.Secret.Reveal())
	}
	return &Engine{
		due:   cfg.Announced,
		proof: proof, hop: cfg.Hop, settings: settings, keys: cfg.Keys, policy: cfg.Policy, clock: cfg.Clock,
		slots: map[Alg]*turns.Turns[client]{
			ECDHESA256KW: newSlots(settings.Concurrency, settings.Queue),
			RSAOAEP256:   newSlots(max(1, settings.Concurrency/rsaShare), settings.Queue),
		},
	}, nil
}

// announced reports whether an announced requirement is in force for a request.
func (e *Engine) announced(method, path string) bool {
	return e.due != nil && e.due(method, path, e.clock.Now())
}

// Settings returns the engine's settings with the defaults filled in. A shell reads no body beyond
// their limits.
func (e *Engine) Settings() Settings { return e.settings }

// Exchange is one request and its response. Only one goroutine at a time may use it.
type Exchange struct {
	engine      *Engine
	head        RequestHead
	types       []string // the media types of bodies on a path of compat-proxy; nil for v1
	demand      demand
	merchant    string
	ops         []HeaderOp
	responseKey responseKey // nil if the response goes in the clear, or before Unwrap derives it
	responseKID string      // of a registered response key; "" for a derived one
	response    ResponseHead
	kid         string
	alg         Alg
	contentType string // of the decrypted body
}

// responseKey encrypts a response.
type responseKey interface {
	Encrypt(plaintext []byte, contentType string, now time.Time) ([]byte, error)
}

// NeedsBody reports whether the request's body is a JWE. If so, the shell reads all of it and calls
// Unwrap.
func (x *Exchange) NeedsBody() bool { return x.demand.jose }

// Ops returns the changes to the header fields of a request whose body is not decrypted.
func (x *Exchange) Ops() []HeaderOp { return x.ops }

// Merchant returns the merchant of the request, or "" if the engine did not need it.
func (x *Exchange) Merchant() string { return x.merchant }

// Key returns the key that the request was encrypted for, or "" before Unwrap.
func (x *Exchange) Key() (kid string, alg Alg) { return x.kid, x.alg }

// WrapsResponse reports whether the client demanded an encrypted response.
func (x *Exchange) WrapsResponse() bool { return x.demand.response }

// HasResponseKey reports whether a response can be encrypted. It is false before Unwrap if the key
// is derived from the body of the request.
func (x *Exchange) HasResponseKey() bool { return x.responseKey != nil }

// rsaShare divides the slots for decryption with RSA keys. By default they use at most half of the
// processors, and the other half stays free for all else. An RSA operation takes milliseconds even
// if the body is garbage.
const rsaShare = 4

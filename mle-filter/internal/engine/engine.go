package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/turns"
)

// Policy says what must be encrypted. *policy.Table is one.
type Policy interface {
	Rule(method, path, merchant string) policy.Rule
	// ByMerchant reports whether a rule can depend on the merchant.
	ByMerchant() bool
}

// Caller finds out whose request it is. It is called only where that matters, and at most once for an exchange. A problem, when the request
// is nobody's or that cannot be found out, goes to the client as it is.
type Caller func(ctx context.Context) (merchant string, problem *Problem)

// Config is what an engine is made of. Settings may be the zero value.
type Config struct {
	Settings
	Keys   Keys
	Policy Policy
	Clock  clock.Clock
	// Secret goes with every request, for a core that takes none without it: what came by another way was not judged. Zero for none.
	Secret secret.String
	// Hop authenticates the client address that core receives. Zero forwards no address.
	Hop secret.String
}

// Engine decides. It is safe for concurrent use.
type Engine struct {
	settings Settings
	keys     Keys
	policy   Policy
	clock    clock.Clock
	slots    map[Alg]*turns.Turns[string] // by client
	proof    HeaderOp
	hop      secret.String
}

// New makes an engine.
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
		proof: proof, hop: cfg.Hop, settings: settings, keys: cfg.Keys, policy: cfg.Policy, clock: cfg.Clock,
		slots: map[Alg]*turns.Turns[string]{
			ECDHESA256KW: newSlots(settings.Concurrency, settings.Queue),
			RSAOAEP256:   newSlots(max(1, settings.Concurrency/rsaShare), settings.Queue),
		},
	}, nil
}

// Settings are what the engine goes by, defaults filled in. A shell reads no more of a body than they say.
func (e *Engine) Settings() Settings { return e.settings }

// Exchange is one request on its way through. It belongs to one goroutine at a time.
type Exchange struct {
	engine   *Engine
	head     RequestHead
	ask      ask
	merchant string
	ops      []HeaderOp
	reply    *jwe.Recipient // nil when the answer goes in the clear
	answer   ResponseHead
	kid      string
	alg      Alg
}

// NeedsBody reports whether the request's body is a JWE: the shell then reads all of it, and calls Unwrap.
func (x *Exchange) NeedsBody() bool { return x.ask.jose }

// Ops are the changes to the request's header fields when it is not unwrapped.
func (x *Exchange) Ops() []HeaderOp { return x.ops }

// Merchant is whose request it is, "" when that did not matter.
func (x *Exchange) Merchant() string { return x.merchant }

// Key is which key the request was encrypted for, "" until it is unwrapped.
func (x *Exchange) Key() (kid string, alg Alg) { return x.kid, x.alg }

// WrapsResponse reports whether the answer was asked for encrypted.
func (x *Exchange) WrapsResponse() bool { return x.reply != nil }

// rsaShare is how many times fewer bodies are decrypted at a time with RSA keys than with others:
// half of the processors, by default. An RSA operation takes milliseconds whatever was sent. The
// other half is for all else.
const rsaShare = 4

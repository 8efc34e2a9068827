package auth

import (
	"context"
	"crypto/rsa"
	"errors"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ErrUnauthenticated is the only error: clients learn nothing of why. Errors wrap it with the reason, for the log.
var ErrUnauthenticated = errors.New("provider-b: not authenticated")

// The reasons. None repeats anything of the request.
var (
	errNoForm   = errors.New("no Authorization and no Signature header")
	errForm     = errors.New("the signature is not written as it should be")
	errList     = errors.New("the signature does not cover what it must")
	errRepeated = errors.New("a header that counts is there more than once, or not at all")
	errUnknown  = errors.New("no such key")
	errMAC      = errors.New("the signature is not of this request")
	errDigest   = errors.New("the digest is not of this body")
	errDate     = errors.New("the date is missing, cannot be read or is too far from now")
	errMerchant = errors.New("the key may not act for this merchant")
)

// Request is what is judged, as it was received.
type Request struct {
	Method string
	// Host is the Host header, which is often that of the provider.
	Host string
	// Target is the escaped path with its query, Prefix what our mount has before the provider's own path; "" at the root.
	Target, Prefix string
	Header         http.Header
	Body           []byte
}

// Caller is who asks.
type Caller struct {
	// Merchant is the legacy merchant id; empty for one that came with a v1 API key.
	Merchant string
	Grant    credentials.Grant
	// Login is the id of the login whose key signed the request: Merchant, or a portfolio that acts
	// for it.
	Login string
	// Evidence is the same for two sendings of one request: the nonce of a JWT, or all that was
	// signed, with the body itself but for its security codes in place of the body's digest. Empty
	// when the way of logging in has none.
	Evidence string
	// Pathless reports that the login covers the body but no path: the same bytes are valid at any
	// path.
	Pathless bool
	// Witness is the API key under which Evidence is bound to Merchant if Merchant is not signed:
	// another merchant of the same portfolio could be put in its place. Zero if Merchant is signed.
	Witness secret.String
	// MayEncrypt reports that the request may be an encrypted one: it came with a JWT.
	MayEncrypt bool
	// SealKID and SealKey are what the answer is to be encrypted to; nil for a plain one.
	SealKID string
	SealKey *rsa.PublicKey
}

// Direct reports whether the request came with a v1 API key.
func (c Caller) Direct() bool { return c.Merchant == "" }

// Keys tells which keys clients sign with.
type Keys interface {
	// ProviderBKey returns the key of an id, a shared secret's or a certificate's.
	ProviderBKey(ctx context.Context, id string) (credentials.KeyB, bool)
	// ProviderBCertificate returns the key of a certificate, DER, that somebody registered.
	ProviderBCertificate(ctx context.Context, der []byte) (credentials.KeyB, bool)
}

// Config is what a Verifier needs.
type Config struct {
	Keys  Keys
	Clock clock.Clock
	// Age is how far from now the date of a signature may be, either way, unless its login has
	// another age. Zero means any.
	Age time.Duration
	// Hosts are names that clients sign in place of that of the Host header, which may have been another on their side.
	Hosts []string
}

// Verifier judges requests. It is safe for concurrent use.
type Verifier struct {
	cfg Config
}

// New returns a verifier.
func New(cfg Config) *Verifier { return &Verifier{cfg: cfg} }

// Verify returns who asks. The error wraps ErrUnauthenticated.
func (v *Verifier) Verify(ctx context.Context, r Request) (Caller, error) {
	if len(r.Header.Values("Authorization")) > 1 || len(r.Header.Values("Signature")) > 1 {
		return Caller{}, refuse(errRepeated)
	}
	c, err := Caller{}, errNoForm
	if carried, bearer := bearerOf(r.Header); bearer {
		c, err = v.bearer(ctx, r, carried)
	} else if r.Header.Get("Signature") != "" {
		c, err = v.signed(ctx, r)
	}
	if err != nil {
		return Caller{}, refuse(err)
	}
	return c, nil
}

// refusal is ErrUnauthenticated with its reason.
type refusal struct{ reason error }

func (r *refusal) Error() string   { return ErrUnauthenticated.Error() + ": " + r.reason.Error() }
func (r *refusal) Unwrap() []error { return []error{ErrUnauthenticated, r.reason} }

func refuse(reason error) error { return &refusal{reason} }

// Reason tells in words why Verify let nobody in, for the log. It repeats nothing of the request.
func Reason(err error) string {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.reason.Error()
	}
	return ""
}

// bearer judges what an Authorization header carries: a v1 API key, or a JWT.
func (v *Verifier) bearer(ctx context.Context, r Request, carried string) (Caller, error) {
	if key := secret.New(carried); credentials.IsAPIKey(key) {
		return Caller{Grant: credentials.Grant{APIKey: key, UnlinkedRefunds: true}}, nil
	}
	return v.token(ctx, r, carried)
}

// actsFor returns the merchant of a request that key has signed, and what the key's login stands for when it acts for that merchant.
// signed reports whether the request's signature covers the merchant.
func actsFor(key credentials.KeyB, merchant string, signed bool) (Caller, error) {
	granted, ok := key.Login.Grant(merchant)
	if !ok {
		return Caller{}, errMerchant
	}
	c := Caller{Merchant: merchant, Grant: granted, Login: key.Login.ID}
	if !signed {
		c.Witness = key.Login.Witness()
	}
	return c, nil
}

// ageOf returns how far from now the dates of a login's requests may be; zero means any.
func (v *Verifier) ageOf(l *credentials.LoginB) time.Duration {
	switch {
	case l.AnyDate:
		return 0
	case l.Age > 0 && v.cfg.Age > 0:
		return l.Age
	}
	return v.cfg.Age
}

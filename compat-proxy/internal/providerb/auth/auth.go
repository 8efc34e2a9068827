package auth

import (
	"context"
	"crypto/rsa"
	"errors"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ErrUnauthenticated is the only error, so that clients do not get the reason. Errors wrap it with
// the reason, for the log.
var ErrUnauthenticated = errors.New("provider-b: not authenticated")

// The reasons. None repeats any text of the request.
var (
	errNoForm   = errors.New("no Authorization and no Signature header")
	errForm     = errors.New("malformed signature or token")
	errList     = errors.New("the signature does not cover all required headers")
	errRepeated = errors.New("a required header is missing or repeated")
	errUnknown  = errors.New("unknown key")
	errMAC      = errors.New("the signature does not match the request")
	errDigest   = errors.New("the digest does not match the body")
	errDate     = errors.New("the date is missing, invalid or too far from the current time")
	errMerchant = errors.New("the key may not act for this merchant")
)

// Request is a request as it was received.
type Request struct {
	Method string
	// Host is the Host header, which is often the provider's.
	Host string
	// Target is the escaped path with its query. Prefix is the mount path before the provider's path;
	// "" at the root.
	Target, Prefix string
	Header         http.Header
	Body           []byte
}

// Caller is the authenticated sender of a request.
type Caller struct {
	// Merchant is the legacy merchant id; empty with a v1 API key.
	Merchant string
	Grant    credentials.Grant
	// Login is the id of the login whose key signed the request: Merchant, or a portfolio that acts
	// for it.
	Login string
	// Evidence is the same if one request is sent twice. It is the nonce of a JWT, or else the signed
	// content. In the signed content, the body without its security codes replaces the body's digest.
	// Empty for an API key.
	Evidence string
	// Pathless reports that the login covers the body but no path: the same bytes are valid at any
	// path.
	Pathless bool
	// SeveralIDs reports that the client may have signed equal logins for several ids. Clients without
	// path and nonce make equal tokens for equal bodies of one second. It is false if the login has no
	// end: v1 keeps the operation of a login for 24 hours only.
	SeveralIDs bool
	// EvidenceKey is the API key under which Evidence is bound to Merchant if Merchant is not signed.
	// It prevents a recorded request from naming another merchant of the portfolio. Zero if Merchant
	// is signed.
	EvidenceKey secret.String
	// MayEncrypt reports that the request may be encrypted, because it came with a JWT.
	MayEncrypt bool
	// ResponseKID and ResponseKey encrypt the response; nil for a plain one.
	ResponseKID string
	ResponseKey *rsa.PublicKey
}

// Direct reports whether the request came with a v1 API key.
func (c Caller) Direct() bool { return c.Merchant == "" }

// Keys finds the keys with which clients sign.
type Keys interface {
	// ProviderBKey returns the key with that id, of a shared secret or a certificate.
	ProviderBKey(ctx context.Context, id string) (credentials.KeyB, bool)
	// ProviderBCertificate returns the key of a registered certificate, given in DER.
	ProviderBCertificate(ctx context.Context, der []byte) (credentials.KeyB, bool)
}

// Config holds the settings of a Verifier.
type Config struct {
	Keys  Keys
	Clock clock.Clock
	// Age bounds the difference between the date of a signature and now, either way, unless the login
	// has another age. Zero means no bound.
	Age time.Duration
	// Hosts are names that clients may have signed instead of the Host header, which a hop can change.
	Hosts []string
}

// Verifier authenticates requests. It is safe for concurrent use.
type Verifier struct {
	cfg Config
}

// New returns a verifier.
func New(cfg Config) *Verifier { return &Verifier{cfg: cfg} }

// Verify returns the caller. The error wraps ErrUnauthenticated.
func (v *Verifier) Verify(ctx context.Context, r Request) (Caller, error) {
	lines := r.Header.Values("Authorization")
	if len(lines) > 1 || len(r.Header.Values("Signature")) > 1 {
		return Caller{}, refuse(errRepeated)
	}
	c, err := Caller{}, errNoForm
	if carried, bearer := httpx.Bearer(lines); bearer {
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

// Reason returns why Verify rejected a request, for the log. It repeats no text of the request.
func Reason(err error) string {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.reason.Error()
	}
	return ""
}

// bearer authenticates by the value of an Authorization header: a v1 API key, or a JWT.
func (v *Verifier) bearer(ctx context.Context, r Request, carried string) (Caller, error) {
	if key := secret.New(carried); credentials.IsAPIKey(key) {
		return Caller{Grant: credentials.Grant{APIKey: key, UnlinkedRefunds: true}}, nil
	}
	return v.token(ctx, r, carried)
}

// actsFor returns the merchant of a request that key has signed, with the grant of the key's login
// for that merchant. signed reports whether the request's signature covers the merchant.
func actsFor(key credentials.KeyB, merchant string, signed bool) (Caller, error) {
	granted, ok := key.Login.Grant(merchant)
	if !ok {
		return Caller{}, errMerchant
	}
	c := Caller{Merchant: merchant, Grant: granted, Login: key.Login.ID}
	if !signed {
		c.EvidenceKey = key.Login.EvidenceKey()
	}
	return c, nil
}

// ageOf returns the bound on the difference between the dates of a login's requests and now; zero
// means no bound.
func (v *Verifier) ageOf(l *credentials.LoginB) time.Duration {
	switch {
	case l.AnyDate:
		return 0
	case l.Age > 0 && v.cfg.Age > 0:
		return l.Age
	}
	return v.cfg.Age
}

package engine

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// The refusals of requests that had no effect and have no response to store.
var (
	// ErrNotFound: no such object for this tenant.
	ErrNotFound = errors.New("engine: not found")
	// ErrCaptureNotFound: the transaction has no such capture.
	ErrCaptureNotFound = errors.New("engine: capture not found")
	// ErrKeyInUse: a request with the same idempotency key is still running.
	ErrKeyInUse = errors.New("engine: idempotency key in use")
	// ErrKeyReused: the idempotency key was used with another request.
	ErrKeyReused = errors.New("engine: idempotency key reused")
	// ErrNoAcquirer: no acquirer is configured for this tenant's mode.
	ErrNoAcquirer = errors.New("engine: no acquirer configured")
	// ErrLastKey: the tenant would be left without a key that can manage keys.
	ErrLastKey = errors.New("engine: last key with keys:write")
	// ErrAcquirerUnavailable: the acquirer could not be reached.
	ErrAcquirerUnavailable = errors.New("engine: acquirer unavailable")
)

// IsBusy reports whether the store accepts no further command, because too many wait or because it
// closes. The request had no effect.
func IsBusy(err error) bool { return errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrClosed) }

// IsUnavailable reports whether the store could not be read or written. A retry may succeed.
func IsUnavailable(err error) bool { return errors.Is(err, store.ErrUnavailable) }

// attemptTimeout bounds all acquirer calls of one attempt at a step together, of a request or of
// recovery. A step without a response by then is unknown.
const attemptTimeout = 20 * time.Second

// Request has the common fields of every changing request.
type Request struct {
	Tenant payment.Tenant
	APIKey int64 // under which it came, 0 for none: it must be good when the request takes place
	// ClientAddress is "203.0.113.7", "2001:db8::1", or "" if unknown. The rows of the request
	// record it.
	ClientAddress string
	ID            string // request id, shown in errors
	Key           string // idempotency key, "" for none
	Fingerprint   []byte // of method, path and body; only with a Key
	Sealed        bool   // the filter in front encrypts the response, as the client demanded
	// Scopes of the API key. Two requests whose response shows a new key's secret are equal only if
	// the scopes are. Nil for all other requests.
	Scopes []string
	// Actor is the operator of an audited request; zero for a merchant's own.
	Actor audit.Actor
}

// client is the sender of the request as rows record it.
func (r *Request) client() payment.Client {
	return payment.Client{APIKey: r.APIKey, Address: r.ClientAddress}
}

// Config configures an Engine. All fields are required but Live, Tracer, Observer and Peers.
type Config struct {
	Store *store.DB
	Vault *vault.Vault
	Clock clock.Clock
	IDs   *id.Generator
	// Render returns the response to a result, as the idempotency record stores it. The body without a
	// credential is also the object as events and audit records show it.
	Render func(Result) Response
	// Erase returns the data of an event of a customer or payment method without personal data.
	Erase    func(kind string, data []byte) []byte
	Log      *slog.Logger
	Tracer   *telemetry.Tracer // nil for no spans
	Roots    *root.Ring        // API keys are hashed under it
	Sealer   *seal.Sealer      // for stored responses that show a secret
	AuditKey []byte            // signs the audit records of operators' actions
	Test     acquirer.Acquirer // serves test mode
	Live     acquirer.Acquirer // serves live mode; nil refuses it

	Observer Observer // nil for none
	Peers    *Peers   // nil: no other process uses the store
}

// Engine carries out use-cases. It is safe for concurrent use.
type Engine struct {
	Config
	running  running
	codeKeys *codeKeys
	inFlight inFlight

	broadcasts chan struct{} // of one place
}

// New returns an Engine. Let its Recovery catch up before it serves.
func New(c Config) *Engine {
	if c.Observer == nil {
		c.Observer = nobody{}
	}
	return &Engine{
		Config: c, running: running{keys: map[runningKey]chan struct{}{}}, codeKeys: newCodeKeys(),
		inFlight: inFlight{steps: map[stepKey]struct{}{}}, broadcasts: make(chan struct{}, 1),
	}
}

// acquirer returns the acquirer of the tenant. Live keys never reach the simulator.
func (e *Engine) acquirer(t payment.Tenant) (acquirer.Acquirer, error) {
	a := e.Test
	if t.Live {
		a = e.Live
	}
	if a == nil {
		return nil, ErrNoAcquirer
	}
	return a, nil
}

// follower returns the acquirer for a step on a transaction. Without an acquirer, a transaction
// that does not exist is ErrNotFound nevertheless.
func (e *Engine) follower(ctx context.Context, t payment.Tenant, transaction int64) (acquirer.Acquirer, error) {
	a, err := e.acquirer(t)
	if err == nil {
		return a, nil
	}
	if _, found := e.Store.Transaction(ctx, t, transaction); errors.Is(found, payment.ErrNotFound) {
		return nil, ErrNotFound
	}
	return nil, err
}

// attempt returns the context of all acquirer calls of one attempt at a step. It ends after
// attemptTimeout, and does not end with ctx: a client that hangs up does not stop a payment
// half-way.
func attempt(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
}

// requestID names recovery's own requests.
func (e *Engine) requestID() string { return id.Random(id.Request) }

// event builds the announcement of an object's transition.
func (e *Engine) event(kind string, t payment.Tenant, object, sequence int64, data []byte) *payment.Event {
	return &payment.Event{ID: e.IDs.Next(), Tenant: t, Type: kind, Object: object, Sequence: sequence, Data: data}
}

// authorizationReference is the acquirer's reference of an authorization. A confirmation that
// failed was reversed, so the next one has another reference.
func authorizationReference(t *payment.Transaction) string {
	name := id.Format(id.Transaction, t.ID)
	if t.Attempt <= 1 {
		return name
	}
	return name + "_" + strconv.FormatInt(t.Attempt, 10)
}

// authorizationOf returns the reference of the authorization that a step on a transaction follows.
// Only the store has the number of its attempt.
func (e *Engine) authorizationOf(ctx context.Context, tenant payment.Tenant, transaction int64) (string, error) {
	t, err := e.Store.Transaction(ctx, tenant, transaction)
	if err != nil {
		return "", err
	}
	return authorizationReference(t), nil
}

// The acquirer's references of other requests.
func captureReference(c *payment.Capture) string { return id.Format(id.Capture, c.ID) }
func refundReference(r *payment.Refund) string   { return id.Format(id.Refund, r.ID) }

// voidReference names a void by its transaction and its number. No row keeps the number unique: two
// cores can draw the same for voids of two transactions.
func voidReference(t *payment.Transaction) string {
	return "void_" + id.Format(id.Transaction, t.ID)[4:] + "_" + id.Format(id.Transaction, t.OperationID)[4:]
}

// partReference names the reversal of an authorization of less than its payment may be taken for.
func partReference(t *payment.Transaction) string {
	return "part_" + authorizationReference(t)[4:]
}

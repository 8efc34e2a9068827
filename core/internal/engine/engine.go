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
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Why a request was refused without an answer to store. The request had no effect.
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
	// ErrAcquirerUnavailable: the acquirer could not be asked.
	ErrAcquirerUnavailable = errors.New("engine: acquirer unavailable")
)

// attemptTimeout bounds all acquirer calls of one attempt at a step together, be it a request's or
// recovery's. A step without a response by then is unknown.
const attemptTimeout = 20 * time.Second

// Request is what every changing request carries beside its own parameters.
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
	// Scopes of the API key, where they are part of what makes two requests equal: where the response
	// shows a new key's secret. Nil elsewhere.
	Scopes []string
	// Actor is the operator of an audited request; zero for a merchant's own.
	Actor audit.Actor
}

// client is the sender of the request as rows record it.
func (r *Request) client() payment.Client {
	return payment.Client{APIKey: r.APIKey, Address: r.ClientAddress}
}

// Answer is what a request is told, and under an idempotency key told again.
type Answer struct {
	Status     int // HTTP status
	Body       []byte
	RetryAfter int    // seconds to wait before asking again, 0 for no such hint
	Outcome    string // one word for the log: the object's status, or the error code
	Replayed   bool
	Secret     bool  // it shows a secret, so it is stored encrypted
	open       bool  // the outcome is not known yet
	why        error // why it is not known
}

// Presenter turns outcomes into the contract's words. The engine stores those with the change they speak of.
type Presenter interface {
	// Created answers a create with what became of it: the transaction, a decline, or that its outcome is unknown.
	Created(requestID string, t *payment.Transaction) Answer
	// Transaction, Capture and Refund answer a step that went through with the object it left or made.
	Transaction(t *payment.Transaction) Answer
	Capture(c *payment.Capture) Answer
	Refund(r *payment.Refund) Answer
	// Token is the response to the creation of a token, the only one that shows its value.
	Token(t *payment.Token, value secret.String) Answer
	// CustomerCreated and CustomerDeleted answer the making and the end of a customer, Customer what lies between.
	CustomerCreated(c *payment.Customer) Answer
	Customer(c *payment.Customer) Answer
	CustomerDeleted(c *payment.Customer) Answer
	// Erased is the data of an event of a customer or payment method without what tells of a person, a card or an account.
	Erased(kind string, data []byte) []byte
	// Impersonal is the data of a transaction, capture or refund, or of an event of one by its
	// type, without personal data.
	Impersonal(kind string, data []byte) []byte
	// MethodAttached and MethodDetached answer the making and the end of a payment method; Method shows it.
	MethodAttached(m *payment.Method) Answer
	Method(m *payment.Method) Answer
	MethodDetached(m *payment.Method) Answer
	// Announced answers an announcement with its event, which was made by it or was there before.
	Announced(e *store.Event, created bool) Answer
	// Broadcast shows what all merchants are told, which was just accepted or was there before.
	Broadcast(b *store.Broadcast, created bool) Answer
	// Refused answers a step that the object's state or the acquirer does not allow, with the transaction unless that is nil.
	Refused(requestID string, r *payment.Refusal, t *payment.Transaction) Answer
	// Lost answers a step whose outcome is not known yet, with the transaction unless that is nil.
	Lost(requestID string, t *payment.Transaction) Answer
	// APIKey answers with a key, and its secret when that is not empty.
	APIKey(k *store.Key, now time.Time, key secret.String) Answer
	// NotRollable answers the roll of a key that is not active.
	NotRollable(requestID string, k *store.Key, now time.Time) Answer
	// Endpoint and EndpointDeleted are the responses to a step on a webhook endpoint and to its end.
	Endpoint(w *store.Endpoint) Answer
	EndpointDeleted(w *store.Endpoint) Answer
	// Unfinished shows an unfinished step, with the resolution that has ended it unless that is nil.
	Unfinished(u *store.Unfinished, d *Resolution) Answer
	// Merchant shows a merchant, which was just created or was there before.
	Merchant(m store.Merchant, created bool) Answer
	// Operator shows an operator token, and the token itself if it is not empty.
	Operator(o *store.OperatorToken, now time.Time, token secret.String) Answer
	// Deliveries answers a redelivery with what it made.
	Deliveries(made []*store.Delivery) Answer
}

// Config is what an Engine is made of. All fields are required but Live, Tracer and Observer.
type Config struct {
	Store    *store.DB
	Vault    *vault.Vault
	Clock    clock.Clock
	IDs      *id.Generator
	Present  Presenter
	Log      *slog.Logger
	Tracer   *telemetry.Tracer // nil for no spans
	Roots    *root.Ring        // API keys are hashed under it
	Sealer   *seal.Sealer      // for stored responses that show a secret
	AuditKey []byte            // signs the audit records of operators' actions
	Test     acquirer.Acquirer // serves test mode
	Live     acquirer.Acquirer // serves live mode; nil refuses it

	Observer Observer // nil: nobody is told
	Peers    *Peers   // nil: no other process works on what is in the store
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

// acquirer returns who moves the tenant's money. Live keys never reach the simulator.
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

// follower returns who is asked for a step on a transaction. Where nobody is, what does not exist is still not there.
func (e *Engine) follower(ctx context.Context, t payment.Tenant, transaction int64) (acquirer.Acquirer, error) {
	a, err := e.acquirer(t)
	if err == nil {
		return a, nil
	}
	if _, found := e.Store.Transaction(ctx, t, transaction); errors.Is(found, store.ErrNotFound) {
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

// lostAnswer tells that the outcome of a request on t is not known yet.
func (e *Engine) lostAnswer(requestID string, t *payment.Transaction) Answer {
	a := e.Present.Lost(requestID, t)
	a.open = true
	return a
}

// requestID names recovery's own requests.
func (e *Engine) requestID() string { return id.Random(id.Request) }

// event builds the announcement of an object's transition.
func (e *Engine) event(kind string, t payment.Tenant, object, sequence int64, data []byte) *store.Event {
	return &store.Event{ID: e.IDs.Next(), Tenant: t, Type: kind, Object: object, Sequence: sequence, Data: data}
}

// authorizationReference is the name that acquirers know an authorization by. An attempt to confirm that came to nothing was reversed, so
// the next one has another.
func authorizationReference(t *payment.Transaction) string {
	name := id.Format(id.Transaction, t.ID)
	if t.Attempt <= 1 {
		return name
	}
	return name + "_" + strconv.FormatInt(t.Attempt, 10)
}

// authorizationOf reads what a step on a transaction follows: which attempt took it stands in the store alone.
func (e *Engine) authorizationOf(ctx context.Context, tenant payment.Tenant, transaction int64) (string, error) {
	t, err := e.Store.Transaction(ctx, tenant, transaction)
	if err != nil {
		return "", err
	}
	return authorizationReference(t), nil
}

// The names that acquirers know other requests by.
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

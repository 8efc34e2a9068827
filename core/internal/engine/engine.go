package engine

import (
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// ErrNoAcquirer reports that the merchant has no acquirer for the request: no account of live mode.
// The request had no effect and has no response to store.
var ErrNoAcquirer = errors.New("engine: no acquirer configured")

// IsBusy reports whether the store accepts no further command, because too many wait or because it
// closes. The request had no effect.
func IsBusy(err error) bool { return errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrClosed) }

// IsUnavailable reports whether the store could not be read or written. A retry may succeed.
func IsUnavailable(err error) bool { return errors.Is(err, store.ErrUnavailable) }

// Config configures an Engine. All fields except Live, Tracer, Observer and Cluster are required.
type Config struct {
	Store *store.DB
	Vault *vault.Vault
	Clock clock.Clock
	IDs   *id.Generator
	// Render returns the response to a result, as the idempotency record stores it. Events and audit
	// records contain the same body without a credential.
	Render func(Result) Response
	// Erase returns the data of an event of a customer or payment method without personal data.
	Erase    func(kind string, data []byte) []byte
	Log      *slog.Logger
	Tracer   *telemetry.Tracer // nil for no spans
	Roots    *root.Ring        // API keys are hashed under it
	Sealer   *seal.Sealer      // for stored responses that show a secret
	AuditKey []byte            // signs the audit records of operators' actions
	Test     acquirer.Acquirer // serves test mode, and only that
	Live     acquirer.Accounts // serves live mode, and only that; nil refuses it

	Observer Observer // nil for none
	Cluster  *Cluster // nil: no other process uses the store
}

// Engine carries out use-cases. It is safe for concurrent use.
type Engine struct {
	Config
	running  *running
	codes    *codes
	inFlight inFlight

	broadcasts chan struct{} // of one place
}

// New returns an Engine. Let its Recovery catch up before it serves.
func New(c Config) *Engine {
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	return &Engine{
		Config: c, running: newRunning(), codes: newCodes(c.Store, c.Vault, c.Clock, c.IDs),
		inFlight: inFlight{steps: map[stepKey]struct{}{}}, broadcasts: make(chan struct{}, 1),
	}
}

// requestID names recovery's own requests.
func (e *Engine) requestID() string { return id.Random(id.Request) }

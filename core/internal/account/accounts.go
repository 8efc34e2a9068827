package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	// cacheTime is how long a row that was read is used. A change by another process takes effect
	// after that time at the latest, as a change of an API key does.
	cacheTime = time.Second
	// cacheSize bounds the cached rows of each kind.
	cacheSize = 4096
)

var (
	// errBroken reports stored credentials that are not the text that was sealed.
	errBroken = errors.New("account: the stored credentials are broken")
	// errAltered reports an account that is not the one for which its credentials were sealed, or a
	// payment with the account of another merchant.
	errAltered = errors.New("account: the stored account or payment was changed outside core")
)

// Store has the accounts.
type Store interface {
	Account(ctx context.Context, id int64) (*payment.Account, error)
	EnabledAccounts(ctx context.Context, merchant int64) ([]*payment.Account, error)
	Merchant(ctx context.Context, id int64) (payment.Merchant, error)
	AllAccounts(ctx context.Context) ([]*payment.Account, error)
	AccountSteps(ctx context.Context, since time.Time) (map[int64]int64, error)
	acquirer.Missing
}

// Call is a call of an account that has ended.
type Call struct {
	Account   string // acct_…
	Kind      string
	Operation string // by acquirer.Operations, or acquirer.ReportOperation
	Outcome   string // by acquirer.Outcomes, or acquirer.ReportOutcomes
	Took      time.Duration
}

// Config configures Accounts. All fields are required, except Tracer and Called.
type Config struct {
	Store  Store
	Vault  *vault.Vault
	Clock  clock.Clock
	Kinds  Kinds
	Tracer *telemetry.Tracer // nil for no traces
	// Called is called after each call of an account; nil for none.
	Called func(Call)
}

// Accounts finds and opens the accounts of live mode. It is safe for concurrent use.
type Accounts struct {
	Config

	checks chan struct{} // a slot for each check that runs

	mu      sync.RWMutex // guards the fields below
	changes int          // counts Forget
	// The enabled accounts by merchant, and accounts by id, as they were read.
	enabled map[int64]read[[]*payment.Account]
	byID    map[int64]read[*payment.Account]
	all     map[int64]read[[]*payment.Account] // all accounts, by the key 0
	steps   map[int64]read[map[int64]int64]    // the unfinished steps by account, by the key 0
	opened  map[int64]opened

	recent recent
}

var _ acquirer.Accounts = (*Accounts)(nil)

// read is a value as it was read at a time.
type read[T any] struct {
	value T
	at    time.Time
}

// opened is the connector of one version of an account.
type opened struct {
	version   int64
	fixed     fixed
	connector Connector
	account   acquirer.Account
}

// New returns the accounts of a store.
func New(c Config) *Accounts {
	if c.Called == nil {
		c.Called = func(Call) {}
	}
	return &Accounts{
		Config: c, checks: make(chan struct{}, checksAtOnce),
		enabled: map[int64]read[[]*payment.Account]{}, byID: map[int64]read[*payment.Account]{},
		all: map[int64]read[[]*payment.Account]{}, steps: map[int64]read[map[int64]int64]{},
		opened: map[int64]opened{}, recent: recent{accounts: map[int64]*calls{}},
	}
}

// ForPayment implements acquirer.Accounts. An account that does not open is left out, and counts as
// a call without effect.
func (a *Accounts) ForPayment(
	ctx context.Context, merchant int64, currency string, method acquirer.Method,
) ([]acquirer.Account, error) {
	rows, err := cached(a, a.enabled, merchant, func() ([]*payment.Account, error) {
		return a.Store.EnabledAccounts(ctx, merchant)
	})
	if err != nil {
		return nil, fmt.Errorf("account: read the accounts of the merchant: %w", err)
	}
	var out []acquirer.Account
	var failed error
	for _, row := range rows {
		if row.Currency != currency || row.Method != string(method) {
			continue
		}
		o, err := a.open(ctx, row)
		if err != nil { // nothing was sent, so the payment may go to the other account
			failed = errors.Join(failed, err)
			a.recent.of(row.ID).add("unavailable", 0, a.Clock.Now(), acquirer.Cause(err))
			a.Called(Call{
				Account: id.Format(id.Account, row.ID), Kind: row.Kind, Operation: "authorize", Outcome: "unavailable",
			})
			continue
		}
		out = append(out, o.account)
	}
	switch {
	case len(out) > 0:
		return out, nil
	case failed != nil:
		return nil, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, failed)
	}
	return nil, acquirer.ErrNoAccount
}

// Account implements acquirer.Accounts.
func (a *Accounts) Account(ctx context.Context, merchant, n int64) (acquirer.Account, error) {
	row, err := cached(a, a.byID, n, func() (*payment.Account, error) { return a.Store.Account(ctx, n) })
	if errors.Is(err, payment.ErrNotFound) {
		return acquirer.Account{}, acquirer.ErrNoAccount
	}
	if err != nil {
		return acquirer.Account{}, fmt.Errorf("account: read %s: %w", id.Format(id.Account, n), err)
	}
	if row.Merchant != merchant {
		return acquirer.Account{}, fmt.Errorf("account: use %s: %w", id.Format(id.Account, n), errAltered)
	}
	o, err := a.open(ctx, row)
	return o.account, err
}

// Forget makes the next use of each account read the store. Call it when a change of an account is
// committed, before the response.
func (a *Accounts) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes++
	clear(a.enabled)
	clear(a.byID)
	clear(a.all)
}

// cached returns the value of a key in a cache of a, and reads it if it is older than cacheTime. A
// value that was read before a Forget is not cached. If the cache is full, the value replaces any
// other.
func cached[T any](a *Accounts, cache map[int64]read[T], key int64, fetch func() (T, error)) (T, error) {
	now := a.Clock.Now()
	a.mu.RLock()
	last, ok := cache[key]
	changes := a.changes
	a.mu.RUnlock()
	if age := now.Sub(last.at); ok && age >= 0 && age < cacheTime {
		return last.value, nil
	}
	value, err := fetch()
	if err != nil {
		return value, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if changes != a.changes {
		return value, nil
	}
	if !ok && len(cache) >= cacheSize {
		for other := range cache {
			delete(cache, other)
			break
		}
	}
	cache[key] = read[T]{value, now}
	return value, nil
}

// open returns the connector of an account, and opens it unless this version is open already. It
// reads the account again: a rotation of the vault may have dropped the key of a cached row.
func (a *Accounts) open(ctx context.Context, row *payment.Account) (opened, error) {
	a.mu.RLock()
	o, ok := a.opened[row.ID]
	a.mu.RUnlock()
	if ok && o.version >= row.Version && o.fixed == fixedOf(row) {
		return o, nil
	}
	name := id.Format(id.Account, row.ID)
	fresh, err := a.Store.Account(ctx, row.ID)
	if err != nil {
		return opened{}, fmt.Errorf("account: read %s: %w", name, err)
	}
	connector, s, err := a.connect(fresh)
	if err != nil {
		return opened{}, fmt.Errorf("account: open %s: %w", name, err)
	}
	calls := a.recent.of(fresh.ID)
	observe := func(operation, outcome string, took time.Duration, err error) {
		cause := ""
		if outcome == "unavailable" || outcome == "unknown" {
			cause = s.redact(acquirer.Cause(err))
		}
		if !acquirer.Waits(operation, outcome) {
			calls.add(outcome, took, a.Clock.Now(), cause)
		}
		a.Called(Call{Account: name, Kind: fresh.Kind, Operation: operation, Outcome: outcome, Took: took})
	}
	next := opened{fresh.Version, fixedOf(fresh), connector, acquirer.Account{
		ID: fresh.ID, CapturesOnce: a.Kinds[fresh.Kind].CapturesOnce, Reporter: a.reporter(connector, fresh),
		Acquirer: acquirer.Observed(acquirer.Discreet(connector), a.Tracer, a.Clock, observe),
	}}
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.opened[row.ID]; ok && o.version >= next.version {
		return o, nil
	}
	a.opened[row.ID] = next
	return next, nil
}

// reporter returns the reports of an account. They are not part of its Activity, which is about
// payments.
func (a *Accounts) reporter(connector Connector, row *payment.Account) acquirer.Reporter {
	return acquirer.ObservedReporter(connector, a.Tracer, a.Clock, func(outcome string, took time.Duration) {
		a.Called(Call{
			Account: id.Format(id.Account, row.ID), Kind: row.Kind, Operation: acquirer.ReportOperation, Outcome: outcome,
			Took: took,
		})
	})
}

// connect opens the connector of an account as it is stored.
func (a *Accounts) connect(row *payment.Account) (Connector, Settings, error) {
	s, err := a.settings(row)
	if err != nil {
		return nil, Settings{}, err
	}
	connector, err := a.connector(row.Kind, s)
	return connector, s, err
}

// settings returns the settings of an account as it is stored. It returns errAltered if the row was
// changed since a command wrote it.
func (a *Accounts) settings(row *payment.Account) (Settings, error) {
	text, err := a.Vault.OpenCredentials(vault.AccountObject(row), row.VaultKey, row.Credentials)
	if errors.Is(err, vault.ErrNotHere) {
		err = errAltered
	}
	if err != nil {
		return Settings{}, err
	}
	return unseal(row, text)
}

// connector opens a connector of a kind. The error is an operator.FieldError if the operator can
// correct it.
func (a *Accounts) connector(kind string, s Settings) (Connector, error) {
	of, ok := a.Kinds[kind]
	if !ok {
		return nil, fieldError("kind", "one of %s", strings.Join(a.Kinds.Names(), ", "))
	}
	s.Clock, s.Missing = a.Clock, a.Store
	return of.Open(s)
}

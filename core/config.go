package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/ratelimit"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Database opens a store that several cores share.
type Database = datadir.Database

// Config configures a core. Only Data is required, or Database and VaultKEK.
type Config struct {
	Data string // folder of the store, created with mode 0700 if missing; unused with a Database
	// Database opens a store that several cores share: package core/postgres returns it. Nil for a
	// file in Data.
	Database  Database
	Simulator string // path of the simulator's catalogue; "" for the built-in one
	// SimulatorJournal is the path of the file in which the simulator records its effects, and which
	// several cores of one machine may share. "" is a file in Data. It is required with a Database: a
	// simulator in memory would lose the authorizations of test payments in the Database.
	SimulatorJournal string
	Clock            clock.Clock // nil for the system's
	// ClockApart permits a Clock that differs from that of the Database's server, as in tests. Without
	// it, a core with such a clock is not ready, and leaves the work of leaders to other cores.
	ClockApart bool
	Log        *slog.Logger // nil for none
	// RateLimit is the number of requests per second that one API key may make. After idle time it may
	// make twice as many at the same time. 0 for DefaultRateLimit, negative for no limit.
	RateLimit int
	// MerchantRateLimit is how many requests a second all keys of one merchant and mode may make
	// together, counted separately for publishable and secret keys. 0 for four times RateLimit,
	// negative for no limit.
	MerchantRateLimit int
	// PayerRateLimit is how many requests a second one client address may make with the publishable
	// keys of one merchant and mode. Its networks may make two and four times as many. 0 for a
	// tenth of RateLimit, negative for no limit.
	PayerRateLimit int
	// DeclineLimit is how many confirmations by one publishable key can be declined in an hour, and
	// PayerDeclineLimit how many of one client address. Its network of 24 bits (IPv4) or 48 bits
	// (IPv6) can have ten times as many. After a pause it may be twice as many. Beyond a limit, no
	// confirmation is sent to the acquirer. 0 for DefaultDeclineLimit and DefaultPayerDeclineLimit,
	// negative for no limit.
	DeclineLimit, PayerDeclineLimit int
	// Concurrency is how many requests are served at the same time; more are refused with 503. 0 means
	// 1024. A merchant holds at most half of the free ones.
	Concurrency int
	// BodyGrace is the time that the body of a request gets before a minimum rate applies. 0 means
	// 5 s.
	BodyGrace time.Duration
	// KeepEvents is how long events are listed and can be delivered again before they are removed: at
	// least LeastKeepEvents, 0 for no limit.
	KeepEvents time.Duration
	// KeepPersonal is how long personal data of transactions, captures, refunds and their events is
	// kept: at least LeastKeepPersonal, 0 for no limit.
	KeepPersonal time.Duration
	// KeepCustomers is how long customers without a payment or a change are kept before they are
	// deleted: at least LeastKeepPersonal, 0 for no limit.
	KeepCustomers time.Duration
	// VaultKEK encrypts the keys of the card vault: 32 bytes in base64. Zero derives it from the
	// folder's root secret, for development.
	VaultKEK secret.String

	// Tracer makes the spans; nil for none.
	Tracer *telemetry.Tracer

	// FilterToken is the operator token of mle-filter and the edge, with the role filter-identify: it
	// identifies API keys and sends announcements. 32 random bytes or more, as text. Zero for none.
	FilterToken secret.String

	// FilterSecret is the secret that mle-filter sends with every request. A request without it is
	// refused, so that no request bypasses the filter. 32 random bytes or more, as text. Zero accepts
	// all requests.
	FilterSecret secret.String

	// Actor names the operator in the audit record if that is another program than the command line:
	// "standalone". Empty for the user of the operating system.
	Actor string

	// KeepAudit is how long audit records are kept: at least LeastKeepAudit, 0 for all.
	KeepAudit time.Duration

	// HopSecret authenticates the client address that the hop in front forwards; see
	// httpx.HopSecret. Zero uses the address of the peer.
	HopSecret secret.String

	// Kinds are the kinds of acquirers of live mode; nil for all that core has. It is for tests.
	Kinds account.Kinds

	// WebhooksAllowPrivate permits webhook endpoints on this machine and in private networks. It is
	// for development and tests: it lets each API key send requests to addresses that only this
	// machine reaches.
	WebhooksAllowPrivate bool
}

// DefaultRateLimit is the default number of requests per second that one API key may make.
const DefaultRateLimit = 1000

// The default numbers of declined confirmations in an hour, by a publishable key and by a client
// address.
const (
	DefaultDeclineLimit      = 500
	DefaultPayerDeclineLimit = 10
)

// The shortest allowed retention periods.
const (
	// LeastKeepEvents is longer than any delivery of an event, and than lists look back for clocks.
	LeastKeepEvents = 60 * day
	// LeastKeepPersonal is the period in which recent payments are refunded and disputed.
	LeastKeepPersonal = payment.LeastKeepPersonal
	// LeastKeepAudit is a year.
	LeastKeepAudit = 366 * day

	day = 24 * time.Hour
)

func (cfg Config) withDefaults() Config {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// errNoJournal reports a Database without a journal of the simulator.
var errNoJournal = errors.New("simulator journal: a core on PostgreSQL needs --simulator-journal FILE: " +
	"without a file its simulator would lose the test payments in the database. " +
	"Give all cores of a machine the same file")

// check returns an error if a secret can be guessed, a period is too short, or the simulator's
// journal is missing.
func (cfg Config) check() error {
	var journal error
	if cfg.Database != nil && cfg.SimulatorJournal == "" {
		journal = errNoJournal
	}
	return errors.Join(
		journal,
		checkToken("filter token", cfg.FilterToken), checkToken("filter secret", cfg.FilterSecret),
		checkKept("events", cfg.KeepEvents, LeastKeepEvents),
		checkKept("personal data", cfg.KeepPersonal, LeastKeepPersonal),
		checkKept("inactive customers", cfg.KeepCustomers, LeastKeepPersonal),
		checkKept("audit records", cfg.KeepAudit, LeastKeepAudit),
	)
}

func checkKept(of string, period, shortest time.Duration) error {
	if period == 0 || period >= shortest {
		return nil
	}
	return fmt.Errorf("%s: kept for %s: want %d days or more, or 0 for no limit", of, period, shortest/day)
}

// dir returns the location of the store.
func (cfg Config) dir() datadir.Config {
	return datadir.Config{Data: cfg.Data, Database: cfg.Database, VaultKEK: cfg.VaultKEK, Clock: cfg.Clock}
}

const (
	// merchantKeys is how many times the rate limit of a key its merchant has by default.
	merchantKeys = 4
	// keyPayers is how many payers use up the rate limit of a publishable key by default.
	keyPayers = 10
)

// limiter returns nil for no limit.
func (cfg Config) limiter() *ratelimit.Limiter {
	key := max(cmp.Or(cfg.RateLimit, DefaultRateLimit), 0)
	r := ratelimit.Rates{
		Key:      key,
		Merchant: max(cmp.Or(cfg.MerchantRateLimit, merchantKeys*key), 0),
		Payer:    max(cmp.Or(cfg.PayerRateLimit, (key+keyPayers-1)/keyPayers), 0),
	}
	if r == (ratelimit.Rates{}) {
		return nil
	}
	return ratelimit.New(r, time.Second)
}

// declineLimiter returns the limits of declined confirmations by publishable keys.
func (cfg Config) declineLimiter() *ratelimit.Declines {
	return ratelimit.NewDeclines(
		cmp.Or(cfg.DeclineLimit, DefaultDeclineLimit), cmp.Or(cfg.PayerDeclineLimit, DefaultPayerDeclineLimit),
	)
}

// warnUnfiltered logs a warning if there is no filter secret.
func (cfg Config) warnUnfiltered(ctx context.Context) {
	if cfg.FilterSecret.IsZero() {
		cfg.Log.WarnContext(ctx, "CAUSEWAY_FILTER_SECRET is not set. If mle-filter is in front, set the same on both: "+
			"without it core accepts requests that did not pass mle-filter, and replays in the clear a response that was "+
			"demanded encrypted")
	}
}

// VaultKEK reads Config.VaultKEK from CAUSEWAY_VAULT_KEK, or from the file that
// CAUSEWAY_VAULT_KEK_FILE names. It returns zero if neither is set.
func VaultKEK(getenv func(string) string) (secret.String, error) { return datadir.KEK(getenv) }

// FilterToken reads Config.FilterToken from CAUSEWAY_FILTER_TOKEN, or from the file that
// CAUSEWAY_FILTER_TOKEN_FILE names. It returns zero if neither is set.
func FilterToken(getenv func(string) string) (secret.String, error) {
	return datadir.FilterToken(getenv)
}

// minToken is the number of characters of 32 random bytes in base64 without padding.
const minToken = 43

// checkToken refuses a token that could be guessed, or that a header cannot hold.
func checkToken(name string, token secret.String) error {
	text := token.Reveal()
	if text == "" {
		return nil
	}
	if len(text) < minToken {
		return fmt.Errorf("the %s has %d characters: want 32 random bytes, made with `openssl rand -base64 32`",
			name, len(text))
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return fmt.Errorf("the %s has a character that is not printable ASCII: make it with `openssl rand -base64 32`", name)
		}
	}
	return nil
}

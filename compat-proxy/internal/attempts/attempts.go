package attempts

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The outcomes of an attempt, as a metric has them.
const (
	Accepted = "accepted"
	Refused  = "refused" // a login or signature that is wrong
	Blocked  = "blocked" // not judged, because too many were refused before
)

// The bounds of an address, of a login at an address, and of a login at all addresses. Beyond the
// last one, refusals are delayed. An address may have the right logins of any number of merchants
// in flight. So its parallel attempts can exceed its bound once, and wait for it afterwards.
var (
	perAddress = allowance{burst: 60, most: 120, every: time.Second}
	perPair    = allowance{burst: 10, most: 10, every: 10 * time.Second}
	perLogin   = allowance{burst: 60, most: 60, every: time.Second}
)

const (
	refusalDelay = time.Second
	// maxDelayed is the largest number of refusals that are delayed at the same time. Each occupies
	// one of the proxy's slots.
	maxDelayed = 64
	// warnInterval is how often at most the log has a line on blocked attempts.
	warnInterval = 10 * time.Second
)

// Config holds the settings of a Limiter. Clock and Log are required.
type Config struct {
	Clock clock.Clock
	Log   *slog.Logger
	// Forwarded reports that the proxy in front forwards client addresses. If it does not, a private
	// address may be the proxy's, which all of its clients share. Then it bounds nothing.
	Forwarded bool
	// Observe counts each attempt by its outcome. Nil counts nothing.
	Observe func(outcome string)
	// Wait waits until d has passed or ctx ends. Nil uses a timer.
	Wait func(ctx context.Context, d time.Duration)
}

// Limiter bounds attempts. It is safe for concurrent use; the nil Limiter bounds nothing.
type Limiter struct {
	cfg       Config
	addresses *ledger // by address
	pairs     *ledger // by login and address
	logins    *ledger // by login

	delayed     atomic.Int64 // refusals that are delayed now
	lastWarning atomic.Int64 // when the last line on blocked attempts was logged
}

// New returns a limiter that has seen no attempt.
func New(cfg Config) *Limiter {
	if cfg.Observe == nil {
		cfg.Observe = func(string) {}
	}
	if cfg.Wait == nil {
		cfg.Wait = wait
	}
	return &Limiter{cfg: cfg, addresses: newLedger(perAddress), pairs: newLedger(perPair), logins: newLedger(perLogin)}
}

// Attempt is one attempt to log in. It is not safe for concurrent use.
type Attempt struct {
	limiter        *Limiter
	address, login string
	guess          digest
	reserved       bool // End must release a reservation
}

// Begin returns the attempt of a request to log in as login, which may be empty if the request
// names none. It returns false if the attempt is blocked. The caller must then refuse it as it
// refuses a wrong login, without judging it. Else the caller must call End.
//
// guess is the secret that the request tries, or the id of its key if the proof differs in each
// request. An attempt reserves a refusal of its login at its address. So concurrent guesses are
// bounded like successive ones. Attempts with the same guess share a reservation, because a client
// with many concurrent requests tries one secret.
//
// All API keys share one reservation. An API key has at least 128 random bits and identifies
// itself. The login in its request is free text, and many merchants at one address may send the
// same. Wrong API keys that are judged at the same time are bounded only by the proxy's concurrent
// requests. Each is counted, so the address must then wait as after any other refusals.
func (l *Limiter) Begin(ctx context.Context, login string, guess secret.String) (*Attempt, bool) {
	if l == nil {
		return &Attempt{}, true
	}
	a := &Attempt{limiter: l, address: l.address(httpx.ClientAddressFrom(ctx)), login: login}
	if login != "" && !credentials.IsAPIKey(guess) {
		a.guess = digestOf(guess.Reveal())
	}
	if a.address == "" {
		return a, true
	}
	now := l.cfg.Clock.Now()
	if !l.addresses.exhausted(a.address, now) && l.pairs.reserve(a.pair(), a.guess, now) {
		a.reserved = true
		return a, true
	}
	l.cfg.Observe(Blocked)
	l.warn(ctx, a.address, now)
	return a, false
}

// End releases the attempt's reservation. It may be called more than once.
func (a *Attempt) End() {
	if a.reserved {
		a.reserved = false
		a.limiter.pairs.release(a.pair(), a.guess)
	}
}

// Accepted counts the attempt as accepted.
func (a *Attempt) Accepted() {
	if a.limiter != nil {
		a.limiter.cfg.Observe(Accepted)
	}
}

// Refused counts the attempt as refused and ends it. It waits for a second if too many attempts on
// the login were refused, from any addresses. An accepted attempt never waits.
func (a *Attempt) Refused(ctx context.Context) {
	l := a.limiter
	if l == nil {
		return
	}
	l.cfg.Observe(Refused)
	now := l.cfg.Clock.Now()
	if a.address != "" {
		l.addresses.charge(a.address, now)
		l.pairs.charge(a.pair(), now)
		a.End() // only now: otherwise a guess in between would find neither reservation nor refusal
	}
	if a.login == "" {
		return
	}
	delayed := l.logins.exhausted(a.login, now)
	l.logins.charge(a.login, now)
	if !delayed {
		return
	}
	if l.delayed.Add(1) <= maxDelayed {
		l.cfg.Wait(ctx, refusalDelay)
	}
	l.delayed.Add(-1)
}

// pair returns the name of the attempt's login at its address. It is unique, because an address
// contains no space.
func (a *Attempt) pair() string { return a.address + " " + a.login }

// address returns the name under which attempts from a client address are counted. It is the
// address itself, or for IPv6 the client's network, which has 2^64 addresses. It returns "" for an
// address that many clients share: this machine's, and the address of a proxy in front that
// forwards none.
func (l *Limiter) address(text string) string {
	at, err := netip.ParseAddr(text)
	switch {
	case err != nil || at.IsLoopback():
		return ""
	case !l.cfg.Forwarded && (at.IsPrivate() || at.IsLinkLocalUnicast()):
		return ""
	}
	return admission.ClientOf(text)
}

// warn logs the address whose attempts are blocked, at most once per interval.
func (l *Limiter) warn(ctx context.Context, address string, now time.Time) {
	last := l.lastWarning.Load()
	if now.UnixNano()-last >= int64(warnInterval) && l.lastWarning.CompareAndSwap(last, now.UnixNano()) {
		l.cfg.Log.WarnContext(ctx, "compat-proxy: too many refused logins", slog.String("client_address", address))
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

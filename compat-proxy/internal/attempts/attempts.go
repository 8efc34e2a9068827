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
	// apiKeysOf and an address stand for the login of all API keys from that address.
	apiKeysOf = "\x00"
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
	nextWarning atomic.Int64 // when the next line on blocked attempts may be logged, by the monotonic clock
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
	limiter  *Limiter
	address  string // "" for an attempt that no refusal blocks
	login    string // delays refusals if it was refused too often; "" delays none
	guess    digest
	reserved bool // End must release a reservation
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
// An API key is always judged. It identifies itself, and has at least 128 random bits, which no
// client guesses. Many merchants at one address may send theirs, with one login text, so a wrong
// one must not block the others. Only the refusals of wrong API keys are delayed, by address.
func (l *Limiter) Begin(ctx context.Context, login string, guess secret.String) (*Attempt, bool) {
	if l == nil {
		return &Attempt{}, true
	}
	address := l.address(httpx.ClientAddressFrom(ctx))
	if credentials.IsAPIKey(guess) {
		return &Attempt{limiter: l, login: apiKeysOf + address}, true
	}
	a := &Attempt{limiter: l, address: address, login: login}
	if login != "" {
		a.guess = digestOf(guess.Reveal())
	}
	if a.address == "" {
		return a, true
	}
	now := clock.MonotonicOf(l.cfg.Clock)
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
	now := clock.MonotonicOf(l.cfg.Clock)
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
func (l *Limiter) warn(ctx context.Context, address string, now time.Duration) {
	next := l.nextWarning.Load()
	if int64(now) >= next && l.nextWarning.CompareAndSwap(next, int64(now+warnInterval)) {
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

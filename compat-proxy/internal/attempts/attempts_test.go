package attempts_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/attempts"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// bench is a limiter with its counts, log lines and waits.
type bench struct {
	*attempts.Limiter

	clock *clock.Fake
	log   bytes.Buffer

	mu      sync.Mutex
	counted map[string]int // guarded by mu
	waits   int            // guarded by mu
	hook    func()         // runs while a refusal waits; nil for none
}

func setup(forwarded bool) *bench {
	b := &bench{clock: clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)), counted: map[string]int{}}
	b.Limiter = attempts.New(attempts.Config{
		Clock: b.clock, Log: slog.New(slog.NewTextHandler(&b.log, nil)), Forwarded: forwarded,
		Observe: func(outcome string) { b.mu.Lock(); b.counted[outcome]++; b.mu.Unlock() },
		Wait: func(context.Context, time.Duration) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.waits++
			if b.hook != nil {
				b.hook()
			}
		},
	})
	return b
}

// from returns the context of a request from an address.
func from(t *testing.T, address string) context.Context {
	t.Helper()
	var ctx context.Context
	h := httpx.ClientAddress(secret.String{},
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
	r.RemoteAddr = address
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	r.RemoteAddr = address + ":1234"
	h.ServeHTTP(httptest.NewRecorder(), r)
	return ctx
}

// fail tries n wrong secrets of a login, one after the other, and returns how many were judged.
func (b *bench) fail(ctx context.Context, login string, n int) (judged int) {
	for i := range n {
		if a, allowed := b.Begin(ctx, login, guess(i)); allowed {
			judged++
			a.Refused(ctx)
		}
	}
	return judged
}

// guess returns one of many secrets.
func guess(n int) secret.String { return secret.New(fmt.Sprint("secret ", n)) }

// right is the secret that is accepted.
var right = secret.New("the right one")

// succeeds reports whether a right login is accepted.
func (b *bench) succeeds(ctx context.Context, login string) bool {
	a, allowed := b.Begin(ctx, login, right)
	if allowed {
		a.Accepted()
		a.End()
	}
	return allowed
}

const attacker, client = "203.0.113.7", "198.51.100.2"

// A flood for one login is blocked at its address only. The right client logs in from another
// address without delay.
func TestFloodForOneLogin(t *testing.T) {
	t.Parallel()
	b := setup(true)
	if got := b.fail(from(t, attacker), "shop", 1000); got != 10 {
		t.Errorf("judged %d attempts, want 10", got)
	}
	if b.succeeds(from(t, attacker), "shop") {
		t.Error("the attacker's right guess was judged")
	}
	for i := range 200 { // a flood from many addresses
		b.fail(from(t, fmt.Sprintf("192.0.2.%d", i)), "shop", 10)
	}
	waits := b.waits
	if waits == 0 {
		t.Error("no refusal was slow")
	}
	if !b.succeeds(from(t, client), "shop") || b.waits != waits {
		t.Error("the honest client was blocked, or waited")
	}
	if !b.succeeds(from(t, attacker), "other") {
		t.Error("another login at the attacker's address was blocked too early")
	}
	b.clock.Advance(10 * time.Second)
	if got := b.fail(from(t, attacker), "shop", 10); got != 1 {
		t.Errorf("ten seconds later: judged %d attempts, want 1", got)
	}
	if b.counted[attempts.Accepted] != 2 || b.counted[attempts.Blocked] != 990+1+9 ||
		b.counted[attempts.Refused] != 10+2000+1 {
		t.Errorf("counted %v", b.counted)
	}
	if got := strings.Count(b.log.String(), "client_address="+attacker); got != 2 {
		t.Errorf("got %d lines with the address, want one in ten seconds:\n%s", got, &b.log)
	}
}

// An address that tries many logins is blocked for all of them, also from another address of its
// IPv6 network.
func TestFloodFromOneAddress(t *testing.T) {
	t.Parallel()
	for flood, other := range map[string]string{attacker: attacker, "2001:db8::1": "2001:db8::ffff:1"} {
		b := setup(true)
		judged := 0
		for i := range 200 {
			judged += b.fail(from(t, flood), fmt.Sprint("login ", i), 1)
		}
		if judged != 60 {
			t.Errorf("%s: judged %d attempts, want 60", flood, judged)
		}
		if b.succeeds(from(t, other), "shop") {
			t.Errorf("%s is allowed after a flood from %s", other, flood)
		}
		if !b.succeeds(from(t, client), "shop") || !b.succeeds(from(t, "2001:db8:0:1::1"), "shop") {
			t.Error("another address was blocked")
		}
		b.clock.Advance(time.Minute)
		if got := b.fail(from(t, flood), "shop", 10); got != 10 {
			t.Errorf("%s, a minute later: judged %d attempts, want 10", flood, got)
		}
	}
}

// An address that many clients share blocks none of them: this machine's, and the address of a
// proxy in front that forwards no addresses.
func TestSharedAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		forwarded bool
		address   string
		shared    bool
	}{
		{true, "127.0.0.1", true},
		{true, "::1", true},
		{false, "10.0.0.5", true},
		{false, "fd00::5", true},
		{false, "169.254.1.1", true},
		{true, "10.0.0.5", false},
		{false, attacker, false},
		{false, "::ffff:203.0.113.7", false},
	} {
		b := setup(tt.forwarded)
		b.fail(from(t, tt.address), "shop", 100)
		if got := b.succeeds(from(t, tt.address), "shop"); got != tt.shared {
			t.Errorf("%s, addresses forwarded %t: allowed %t, want %t", tt.address, tt.forwarded, got, tt.shared)
		}
		if slow := b.waits > 0; slow != tt.shared {
			t.Errorf("%s: slow refusals %t, want %t", tt.address, slow, tt.shared)
		}
	}
}

// At most 64 refusals wait at the same time, because each occupies one of the proxy's slots. The
// next one does not wait.
func TestSlowRefusalsAreFew(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	l := attempts.New(attempts.Config{
		Clock: clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)), Log: slog.New(slog.DiscardHandler),
		Wait: func(context.Context, time.Duration) { entered <- struct{}{}; <-release },
	})
	refuse := func() {
		a, _ := l.Begin(from(t, "127.0.0.1"), "shop", right)
		a.Refused(t.Context())
	}
	for range 60 {
		refuse() // returns, so no refusal waits yet
	}
	var group sync.WaitGroup
	for range 64 {
		group.Go(refuse)
		<-entered
	}
	refuse()
	close(release)
	group.Wait()
}

// With any number of addresses and logins, the ledger stays bounded and keeps the latest.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	l := attempts.NewLedger(10, time.Second)
	now := time.Hour
	for i := range 1 << 17 {
		l.Charge(fmt.Sprint(i), now)
	}
	if got := l.Held(); got > 1<<16 {
		t.Errorf("got %d kept, want at most %d", got, 1<<16)
	}
	for range 10 {
		l.Charge("last", now)
	}
	if !l.Spent("last", now) || l.Held() > 1<<16 {
		t.Errorf("the last one is not kept, among %d", l.Held())
	}
	if l.Spent("last", now+time.Second) {
		t.Error("nothing is forgotten")
	}
}

// The nil Limiter bounds nothing.
func TestNil(t *testing.T) {
	t.Parallel()
	var l *attempts.Limiter
	for range 100 {
		a, allowed := l.Begin(t.Context(), "shop", right)
		if !allowed {
			t.Fatal("blocked")
		}
		a.Refused(t.Context())
		a.Accepted()
		a.End()
	}
}

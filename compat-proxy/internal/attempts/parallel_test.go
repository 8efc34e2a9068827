package attempts_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/attempts"
	"github.com/causeway-pay/causeway/shared/secret"
)

// together makes n attempts that all begin before the first of them is judged, and returns how many
// were allowed. Attempt i has the login and the secret that of(i) returns.
func (b *bench) together(
	ctx context.Context, n int, of func(i int) (string, secret.String), judge func(*attempts.Attempt),
) int64 {
	var allowed atomic.Int64
	var begun, ended sync.WaitGroup
	begun.Add(n)
	for i := range n {
		ended.Go(func() {
			login, tried := of(i)
			a, ok := b.Begin(ctx, login, tried)
			begun.Done()
			begun.Wait()
			if ok {
				allowed.Add(1)
				judge(a)
			}
		})
	}
	ended.Wait()
	return allowed.Load()
}

// TestParallelGuesses: many secrets for one login are tried concurrently. As many are judged as of
// secrets that are tried one after the other.
func TestParallelGuesses(t *testing.T) {
	t.Parallel()
	b := setup(true)
	ctx := from(t, attacker)
	guesses := func(i int) (string, secret.String) { return "shop", guess(i) }
	refuse := func(a *attempts.Attempt) { a.Refused(ctx); a.End() }
	if got := b.together(ctx, 200, guesses, refuse); got != 10 {
		t.Errorf("at the same time: judged %d attempts, want 10", got)
	}
	if b.succeeds(ctx, "shop") {
		t.Error("the attacker's right guess was judged")
	}
	b.clock.Advance(30 * time.Second)
	if got := b.together(ctx, 200, guesses, refuse); got != 3 {
		t.Errorf("half a minute later: judged %d attempts, want 3", got)
	}
	if !b.succeeds(from(t, client), "shop") {
		t.Error("the client at its own address was blocked")
	}
	if got, want := b.counted[attempts.Blocked], 190+1+197; got != want {
		t.Errorf("blocked: got %d, want %d", got, want)
	}
}

// TestParallelRequestsOfAClient: requests with one secret are one guess. They block neither each
// other nor, once they have ended with any outcome, another secret.
func TestParallelRequestsOfAClient(t *testing.T) {
	t.Parallel()
	for name, judge := range map[string]func(*attempts.Attempt){
		"accepted":      func(a *attempts.Attempt) { a.Accepted(); a.End() },
		"neither":       func(a *attempts.Attempt) { a.End() },
		"ended twice":   func(a *attempts.Attempt) { a.End(); a.End() },
		"of many names": func(a *attempts.Attempt) { a.Accepted(); a.End() },
	} {
		b := setup(true)
		of := func(i int) (string, secret.String) {
			if name == "of many names" {
				return fmt.Sprint("shop ", i), right
			}
			return "shop", right
		}
		for range 3 {
			if got := b.together(from(t, client), 500, of, judge); got != 500 {
				t.Errorf("%s: allowed %d of 500", name, got)
			}
		}
		if got := b.fail(from(t, client), "shop", 20); got != 10 {
			t.Errorf("%s: judged %d wrong secrets afterwards, want 10", name, got)
		}
	}
}

// TestParallelRequestsWithAWrongSecret: their refusals block no longer than the refusals of
// guesses. Requests with a secret that is being judged find it reserved.
func TestParallelRequestsWithAWrongSecret(t *testing.T) {
	t.Parallel()
	b := setup(true)
	ctx := from(t, client)
	wrong := func(int) (string, secret.String) { return "shop", guess(0) }
	b.together(ctx, 500, wrong, func(a *attempts.Attempt) { a.Refused(ctx); a.End() })
	if got := b.fail(ctx, "shop", 1); got != 0 {
		t.Error("afterwards: judged an attempt, want none")
	}
	b.clock.Advance(2 * time.Minute)
	if got := b.fail(ctx, "shop", 20); got != 10 {
		t.Errorf("two minutes later: judged %d attempts, want 10", got)
	}
	b.clock.Advance(2 * time.Minute)
	ten := func(i int) (string, secret.String) { return "shop", guess(i % 10) }
	if got := b.together(ctx, 500, ten, func(a *attempts.Attempt) { a.End() }); got != 500 {
		t.Errorf("of ten secrets: allowed %d of 500", got)
	}
}

// TestReservationsAreReleased: attempts with different secrets that are neither accepted nor
// refused leave the allowance as it was. A client that changes its secret does so too.
func TestReservationsAreReleased(t *testing.T) {
	t.Parallel()
	b := setup(true)
	ctx := from(t, client)
	guesses := func(i int) (string, secret.String) { return "shop", guess(i) }
	for _, judge := range []func(*attempts.Attempt){
		func(a *attempts.Attempt) { a.End() }, func(a *attempts.Attempt) { a.Accepted(); a.End() },
	} {
		for range 3 {
			if got := b.together(ctx, 10, guesses, judge); got != 10 {
				t.Errorf("allowed %d of 10", got)
			}
		}
	}
	if got := b.Trying(); got != 0 {
		t.Errorf("%d logins are remembered without an attempt", got)
	}
}

// apiKey returns one of many API keys.
func apiKey(n int) secret.String { return secret.New(fmt.Sprintf("sk_test_%d", n)) }

// TestParallelAPIKeys: API keys identify themselves. Many clients at one address use different ones
// at the same time, without a login or with the same one.
func TestParallelAPIKeys(t *testing.T) {
	t.Parallel()
	for _, login := range []string{"", "me"} {
		b := setup(true)
		keys := func(i int) (string, secret.String) { return login, apiKey(i) }
		accept := func(a *attempts.Attempt) { a.Accepted(); a.End() }
		if got := b.together(from(t, client), 500, keys, accept); got != 500 {
			t.Errorf("login %q: allowed %d of 500", login, got)
		}
		if got := b.Trying(); got != 0 {
			t.Errorf("login %q: %d reservations are left", login, got)
		}
	}
}

// TestWrongAPIKeysBlockNoClient: wrong API keys of one client block neither the API keys nor the
// logins of others at its address. Their refusals are delayed after 60, and then one each second is
// not. Refusals at another address are not delayed.
func TestWrongAPIKeysBlockNoClient(t *testing.T) {
	t.Parallel()
	for _, login := range []string{"", "me"} {
		b := setup(true)
		ctx := from(t, attacker)
		keys := func(i int) (string, secret.String) { return login, apiKey(i) }
		refuse := func(ctx context.Context) func(*attempts.Attempt) {
			return func(a *attempts.Attempt) { a.Refused(ctx); a.End() }
		}
		if got := b.together(ctx, 60, keys, refuse(ctx)); got != 60 || b.waits != 0 {
			t.Errorf("login %q: judged %d of 60, and delayed %d refusals, want none", login, got, b.waits)
		}
		if got := b.together(ctx, 50, keys, refuse(ctx)); got != 50 || b.waits != 50 {
			t.Errorf("login %q: judged %d of 50 more, and delayed %d refusals, want all", login, got, b.waits)
		}
		accept := func(a *attempts.Attempt) { a.Accepted(); a.End() }
		if got := b.together(ctx, 1, keys, accept); got != 1 || b.waits != 50 {
			t.Errorf("login %q: the right API key of another client was blocked or delayed", login)
		}
		if !b.succeeds(ctx, "other") || !b.succeeds(ctx, login) {
			t.Errorf("login %q: a login of another client was blocked", login)
		}
		other := from(t, client)
		b.together(other, 1, keys, refuse(other))
		b.clock.Advance(time.Second)
		b.together(ctx, 1, keys, refuse(ctx))
		if b.waits != 50 {
			t.Errorf("login %q: delayed %d refusals that must not be", login, b.waits-50)
		}
	}
}

// TestParallelLogins: the bound of an address is not exact, because its clients may be many.
// Refusals beyond it delay the next attempts, up to as many again.
func TestParallelLogins(t *testing.T) {
	t.Parallel()
	b := setup(true)
	ctx := from(t, attacker)
	logins := func(i int) (string, secret.String) { return fmt.Sprint("login ", i), guess(i) }
	b.together(ctx, 500, logins, func(a *attempts.Attempt) { a.Refused(ctx); a.End() })
	b.clock.Advance(time.Minute)
	if got := b.fail(ctx, "shop", 1); got != 0 {
		t.Error("a minute later: judged an attempt, want none")
	}
	b.clock.Advance(time.Second)
	if got := b.fail(ctx, "shop", 5); got != 1 {
		t.Errorf("a second after that: judged %d attempts, want 1", got)
	}
}

// TestSlowRefusalHoldsNoReservation: a refusal that waits is counted once. It no longer counts as
// an attempt that is being judged.
func TestSlowRefusalHoldsNoReservation(t *testing.T) {
	t.Parallel()
	b := setup(true)
	for i := range 6 { // makes refusals for the login slow
		b.fail(from(t, fmt.Sprintf("192.0.2.%d", i)), "shop", 10)
	}
	ctx, held := from(t, client), 0
	b.hook = func() { held = b.Trying() }
	b.fail(ctx, "shop", 1)
	if b.waits == 0 || held != 0 {
		t.Errorf("%d refusals waited with %d reservations, want none", b.waits, held)
	}
}

package executor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// windowBundle holds some proxies in front of one v1, and the clock of all.
type windowBundle struct {
	v1      *keyedV1
	clock   *clock.Fake
	server  *httptest.Server
	proxies []*executor.Executor
}

func setupWindow(tb testing.TB, at time.Time) windowBundle {
	tb.Helper()
	c := clock.NewFake(at)
	f := &keyedV1{clock: c, response: http.StatusCreated, uses: map[string]*keyUse{}}
	server := goldentest.Serve(tb, f)
	b := windowBundle{v1: f, clock: c, server: server}
	for range 2 {
		b.proxies = append(b.proxies, b.proxy(tb, goldentest.Secret(), secret.String{}))
	}
	return b
}

// proxy returns a further proxy in front of the same v1.
func (b windowBundle) proxy(tb testing.TB, current, other secret.String) *executor.Executor {
	tb.Helper()
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: b.server.URL, Transport: b.server.Client().Transport, Backoff: time.Microsecond,
			Clock: b.clock,
		},
		DeduplicationSecret: current, DeduplicationSecretOther: other, FollowPause: time.Microsecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// A period begins at midnight, and none begins near noon.
var (
	noon     = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	midnight = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
)

// sale returns a payment with a window of that many seconds. All sales are equal.
func sale(window int, change ...func(*command.Authorize)) command.Authorize {
	c := command.Authorize{
		Body: v1.TransactionCreate{
			Amount: 100, Currency: "usd", PaymentMethod: "card",
			Card: &v1.CardInput{Number: secret.New("4111111111111111"), ExpMonth: 4, ExpYear: 2031},
		},
		Deduplication: command.Deduplication{Window: window, Same: []string{"shop", "INV-1"}},
	}
	for _, fn := range change {
		fn(&c)
	}
	return c
}

func (b windowBundle) execute(ctx context.Context, proxy int, c command.Command) command.Outcome {
	return b.proxies[proxy].Execute(ctx, key, c).Outcome
}

func TestDeduplication(t *testing.T) {
	t.Parallel()
	mastercard := func(c *command.Authorize) { c.Body.Card.Number = secret.New("5424000000000015") }
	described := func(c *command.Authorize) { c.Body.Description = new("another text") }
	fields := func(same ...string) func(*command.Authorize) {
		return func(c *command.Authorize) { c.Deduplication.Same = same }
	}
	tests := []struct {
		name   string
		second command.Authorize
		after  time.Duration
		want   command.Outcome
	}{
		{"immediately", sale(120), 0, command.Repeated},
		{"a moment before the end", sale(120), 120*time.Second - time.Millisecond, command.Repeated},
		{"at the end", sale(120), 120 * time.Second, command.Done},
		{"long after", sale(120), 7 * time.Hour, command.Done},
		{"the next day", sale(120), 30 * time.Hour, command.Done},
		{"with a longer window", sale(28800), 4 * time.Hour, command.Repeated},
		{"with a longer window, across a period's beginning", sale(28800), 7 * time.Hour, command.Repeated},
		{"with a window beyond the longest", sale(1 << 30), 8*time.Hour + time.Millisecond, command.Done},
		{"without a window", sale(0), 0, command.Done},
		{"of another amount", sale(120, func(c *command.Authorize) { c.Body.Amount++ }), 0, command.Done},
		{"in another currency", sale(120, func(c *command.Authorize) { c.Body.Currency = "eur" }), 0, command.Done},
		{"by another card", sale(120, mastercard), 0, command.Done},
		{"by another expiry", sale(120, func(c *command.Authorize) { c.Body.Card.ExpYear++ }), 0, command.Done},
		{"for another invoice", sale(120, fields("shop", "INV-2")), 0, command.Done},
		{"with its parts shifted", sale(120, fields("shopI", "NV-1")), 0, command.Done},
		{"with another description", sale(120, described), time.Minute, command.Repeated},
		{"with another description, later", sale(120, described), time.Hour, command.Done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			if got, want := b.execute(t.Context(), 0, sale(120)), command.Done; got != want {
				t.Fatalf("first: got %s, want %s", got, want)
			}
			b.clock.Advance(tt.after)
			if got := b.execute(t.Context(), 1, tt.second); got != tt.want {
				t.Errorf("second: got %s, want %s", got, tt.want)
			}
			want := 2
			if tt.want == command.Repeated {
				want = 1
			}
			if got := b.v1.paid(); got != want {
				t.Errorf("payments: got %d, want %d", got, want)
			}
		})
	}
}

func TestDeduplication_declinesCount(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.response = http.StatusPaymentRequired
	for i, want := range []command.Outcome{command.Declined, command.Repeated} {
		if got := b.execute(t.Context(), i, sale(120)); got != want {
			t.Errorf("request %d: got %s, want %s", i, got, want)
		}
	}
}

func TestDeduplication_lostResponse(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.lostResponses = 1
	if got, want := b.execute(t.Context(), 0, sale(120)), command.Done; got != want {
		t.Errorf("the response after a lost one: got %s, want %s", got, want)
	}
	b.v1.lostResponses = 0
	if got, want := b.execute(t.Context(), 1, sale(120)), command.Repeated; got != want {
		t.Errorf("its repetition: got %s, want %s", got, want)
	}
	if got, want := b.v1.paid(), 1; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

func TestDeduplication_whileTheFirstRuns(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*command.Authorize){
		"the same body":      func(*command.Authorize) {},
		"another body":       func(c *command.Authorize) { c.Body.Reference = new("r") },
		"across the periods": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, after := noon, 10*time.Minute
			if change == nil {
				at, after, change = midnight.Add(-time.Second), 2*time.Second, func(*command.Authorize) {}
			}
			b := setupWindow(t, at)
			if got, want := b.execute(t.Context(), 0, sale(120)), command.Done; got != want {
				t.Fatalf("first: got %s, want %s", got, want)
			}
			for _, u := range b.v1.uses {
				u.running = true
			}
			b.clock.Advance(after) // beyond the window, except across the periods
			if got, want := b.execute(t.Context(), 1, sale(120, change)), command.Uncertain; got != want {
				t.Errorf("while the outcome of the first is unknown: got %s, want %s", got, want)
			}
			if got, want := b.v1.paid(), 1; got != want {
				t.Errorf("payments: got %d, want %d", got, want)
			}
		})
	}
}

// A caller whose key may not read keys still never pays twice.
func TestDeduplication_withoutTheScopeToReadKeys(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.blind = true
	for _, step := range []struct {
		after time.Duration
		c     command.Authorize
		want  command.Outcome
	}{
		{0, sale(120), command.Done},
		{time.Minute, sale(120), command.Repeated},
		{2 * time.Minute, sale(120), command.Done},
		{time.Minute, sale(120), command.Repeated},
		// The caller does not get the age of the first request.
		{time.Hour, sale(120, func(c *command.Authorize) { c.Body.Reference = new("r") }), command.Repeated},
	} {
		b.clock.Advance(step.after)
		if got := b.execute(t.Context(), 0, step.c); got != step.want {
			t.Errorf("%s later: got %s, want %s", step.after, got, step.want)
		}
	}
}

func TestDeduplication_concurrent(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	outcomes := make(chan command.Outcome, 64)
	var all sync.WaitGroup
	for i := range cap(outcomes) {
		all.Go(func() { outcomes <- b.execute(t.Context(), i%2, sale(120)) })
	}
	all.Wait()
	close(outcomes)
	count := map[command.Outcome]int{}
	for o := range outcomes {
		count[o]++
	}
	if count[command.Done] != 1 || count[command.Repeated] != 63 || b.v1.paid() != 1 {
		t.Errorf("got %v and %d payments, want one done, the others repeated", count, b.v1.paid())
	}
}

// A key reveals nothing of the card: without the deduplication secret the hash cannot be computed.
func TestDeduplication_keyDependsOnTheSecret(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	for _, x := range []*executor.Executor{b.proxies[0], b.proxy(t, otherSecret, secret.String{})} {
		if got, want := x.Execute(t.Context(), key, sale(120)).Outcome, command.Done; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if b.v1.keys[0] == b.v1.keys[1] {
		t.Error("under two secrets the key is the same")
	}
	for _, k := range b.v1.keys {
		if len(k) > 255 || strings.Contains(k, "4111111111111111") {
			t.Errorf("key: got %s", k)
		}
	}
}

// A walk of a long chain takes few steps.
func TestDeduplication_longChain(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, midnight)
	for range 200 {
		if got, want := b.execute(t.Context(), 0, sale(1)), command.Done; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		b.clock.Advance(2 * time.Second)
	}
	before := b.v1.looks
	if got, want := b.execute(t.Context(), 1, sale(1)), command.Done; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if got, limit := b.v1.looks-before, 20; got > limit {
		t.Errorf("questions: got %d, want at most %d", got, limit)
	}
}

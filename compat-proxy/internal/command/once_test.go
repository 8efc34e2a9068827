package command_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keyedV1 remembers Idempotency-Keys as v1 does, and counts what it was really asked to do.
type keyedV1 struct {
	clock  *clock.Fake
	answer int  // status of a new payment; 201 by default
	deaf   int  // so many requests are lost before they are read
	refuse int  // so many requests are refused, and nothing is kept of them
	mute   int  // so many answers are lost after their effect
	atIt   int  // so many repetitions are told that the first is still under way
	blind  bool // the caller may not read keys
	down   bool // API keys are not identified

	mu      sync.Mutex
	uses    map[string]*keyUse // guarded by mu
	effects []time.Time        // guarded by mu
	looks   int                // guarded by mu
	reads   int                // guarded by mu
	keys    []string           // guarded by mu
}

type keyUse struct {
	body    string
	answer  string
	id      string
	status  int
	made    time.Time
	running bool
}

func (f *keyedV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Path == "/v1/api_keys/current" {
		f.identify(w, r)
		return
	}
	if key, look := strings.CutPrefix(r.URL.Path, "/v1/idempotency_keys/"); look {
		f.look(w, key)
		return
	}
	if n, one := strings.CutPrefix(r.URL.Path, "/v1/captures/"); one {
		_, _ = fmt.Fprintf(w, `{"id":%q,"transaction":%q,"status":"succeeded","amount":100,"currency":"usd"}`, n, txnID)
		return
	}
	if n, one := strings.CutPrefix(r.URL.Path, "/v1/transactions/"); one && r.Method == http.MethodGet {
		f.reads++
		_, _ = fmt.Fprintf(w, `{"id":%q,"status":"captured","currency":"usd","card":{"last4":"4242","brand":"visa"}}`, n)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if f.deaf > 0 {
		f.deaf--
		panic(http.ErrAbortHandler)
	}
	if f.refuse > 0 {
		f.refuse--
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, refusal("invalid_field"))
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if merchant := strings.Split(r.Header.Get("Authorization"), "_")[2]; merchant != "key" {
		key = merchant + ":" + key // another merchant's keys are its own
	}
	f.keys = append(f.keys, key)
	u, used := f.uses[key]
	switch {
	case used && u.body != string(body):
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, refusal(command.CodeKeyReused))
		return
	case used && (u.running || f.atIt > 0):
		f.atIt--
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, refusal(command.CodeKeyInUse))
		return
	case used:
		w.Header().Set("Idempotent-Replayed", "true")
	default:
		u = f.pay(r.URL.Path, string(body))
		f.uses[key] = u
	}
	if f.mute > 0 {
		f.mute--
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(u.status)
	_, _ = io.WriteString(w, u.answer)
}

// identify tells the merchant and mode of an API key by its parts: sk_MODE_MERCHANT_REST.
func (f *keyedV1) identify(w http.ResponseWriter, r *http.Request) {
	if f.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	parts := strings.Split(r.Header.Get("Authorization"), "_")
	_, _ = fmt.Fprintf(w, `{"merchant":"mer_%s","mode":%q,"scopes":[]}`, parts[2], parts[1])
}

// pay is a new payment, or what the path asks for. The caller holds mu.
func (f *keyedV1) pay(path, body string) *keyUse {
	now := f.clock.Now()
	if path == "/v1/idempotency_keys" {
		return &keyUse{body: body, status: http.StatusCreated, answer: "{}", made: now}
	}
	f.effects = append(f.effects, now)
	var asked struct {
		Amount      int64   `json:"amount"`
		Currency    string  `json:"currency"`
		Transaction string  `json:"transaction"`
		Reference   *string `json:"reference"`
	}
	mustRead([]byte(body), &asked)
	txn := id.Format(id.Transaction, int64(len(f.effects)))
	fields := fmt.Sprintf(`"status":"captured","amount":%d,"currency":%q,"created_at":%q`, asked.Amount, cmp.Or(asked.Currency, "usd"),
		now.UTC().Format("2006-01-02T15:04:05.000Z"))
	if asked.Reference != nil {
		fields += fmt.Sprintf(`,"reference":%q`, *asked.Reference)
	}
	made := fmt.Sprintf(`{"id":%q,%s}`, txn, fields)
	if payment, ok := strings.CutSuffix(path, "/captures"); ok {
		txn = id.Format(id.Capture, int64(len(f.effects)))
		made = fmt.Sprintf(`{"id":%q,"transaction":%q,%s}`, txn, payment[strings.LastIndexByte(payment, '/')+1:],
			strings.Replace(fields, "captured", "succeeded", 1))
	}
	if path == "/v1/refunds" {
		txn = id.Format(id.Refund, int64(len(f.effects)))
		made = fmt.Sprintf(`{"id":%q,"transaction":%q,%s}`, txn, asked.Transaction, strings.Replace(fields, "captured", "pending", 1))
	}
	u := &keyUse{body: body, status: f.answer, answer: made, id: txn, made: now}
	if f.answer == http.StatusPaymentRequired {
		u.answer = refusalWith("card_declined", strings.Replace(made, "captured", "declined", 1))
	}
	return u
}

// look answers what is known of a key. The caller holds mu.
func (f *keyedV1) look(w http.ResponseWriter, key string) {
	f.looks++
	u, used := f.uses[key]
	switch {
	case f.blind:
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, refusal("insufficient_scope"))
	case !used:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, refusal("not_found"))
	default:
		status := fmt.Sprintf(`,"http_status":%d`, u.status)
		if u.running {
			status = ""
		}
		_, _ = fmt.Fprintf(w, `{"object":"idempotency_key","key":%q,"status":"x","created_at":%q,"expires_at":%q,"resource":%q%s}`,
			key, u.made.UTC().Format("2006-01-02T15:04:05.000Z"), u.made.UTC().Format("2006-01-02T15:04:05.000Z"), u.id, status)
	}
}

func (f *keyedV1) paid() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.effects)
}

// onceBundle is some proxies in front of one v1, and the clock of all.
type onceBundle struct {
	v1      *keyedV1
	clock   *clock.Fake
	server  *httptest.Server
	proxies []*command.Executor
}

func setupOnce(tb testing.TB, at time.Time) onceBundle {
	tb.Helper()
	c := clock.NewFake(at)
	f := &keyedV1{clock: c, answer: http.StatusCreated, uses: map[string]*keyUse{}}
	server := httptest.NewServer(f)
	tb.Cleanup(server.Close)
	b := onceBundle{v1: f, clock: c, server: server}
	for range 2 {
		b.proxies = append(b.proxies, b.proxy(tb, goldentest.Secret(), secret.String{}))
	}
	return b
}

// proxy is a further one in front of the same v1.
func (b onceBundle) proxy(tb testing.TB, current, other secret.String) *command.Executor {
	tb.Helper()
	x, err := command.New(command.Config{
		DeduplicationSecret: current, DeduplicationSecretOther: other, V1: b.server.URL, Transport: b.server.Client().Transport,
		Backoff: time.Microsecond, FollowPause: time.Microsecond, Clock: b.clock,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// noon is far from where a slot begins; midnight is where one does.
var (
	noon     = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	midnight = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
)

// sale is a payment that is the same as others within the window of so many seconds.
func sale(window int, change ...func(*command.Authorize)) command.Authorize {
	c := command.Authorize{
		Body: v1.TransactionCreate{
			Amount: 100, Currency: "usd", PaymentMethod: "card",
			Card: &v1.CardInput{Number: secret.New("4111111111111111"), ExpMonth: 4, ExpYear: 2031},
		},
		Once: command.Once{Window: window, Same: []string{"shop", "INV-1"}},
	}
	for _, fn := range change {
		fn(&c)
	}
	return c
}

func (b onceBundle) ask(ctx context.Context, proxy int, c command.Command) command.Outcome {
	return b.proxies[proxy].Execute(ctx, key, []command.Command{c})[0].Outcome
}

func TestOnce(t *testing.T) {
	t.Parallel()
	number := func(n string) func(*command.Authorize) {
		return func(c *command.Authorize) { c.Body.Card.Number = secret.New(n) }
	}
	description := "another text"
	tests := []struct {
		name   string
		second command.Authorize
		after  time.Duration
		want   command.Outcome
	}{
		{"at once", sale(120), 0, command.Repeated},
		{"a moment before the end", sale(120), 120*time.Second - time.Millisecond, command.Repeated},
		{"at the end", sale(120), 120 * time.Second, command.Done},
		{"long after", sale(120), 7 * time.Hour, command.Done},
		{"the next day", sale(120), 30 * time.Hour, command.Done},
		{"with a longer window", sale(28800), 4 * time.Hour, command.Repeated},
		{"with a longer window, across a slot's beginning", sale(28800), 7 * time.Hour, command.Repeated},
		{"with a window beyond the longest", sale(1 << 30), 8*time.Hour + time.Millisecond, command.Done},
		{"without a window", sale(0), 0, command.Done},
		{"of another amount", sale(120, func(c *command.Authorize) { c.Body.Amount++ }), 0, command.Done},
		{"in another currency", sale(120, func(c *command.Authorize) { c.Body.Currency = "eur" }), 0, command.Done},
		{"by another card", sale(120, number("5424000000000015")), 0, command.Done},
		{"by another expiry", sale(120, func(c *command.Authorize) { c.Body.Card.ExpYear++ }), 0, command.Done},
		{"for another invoice", sale(120, func(c *command.Authorize) { c.Once.Same = []string{"shop", "INV-2"} }), 0, command.Done},
		{"with its parts shifted", sale(120, func(c *command.Authorize) { c.Once.Same = []string{"shopI", "NV-1"} }), 0, command.Done},
		{"with another description", sale(120, func(c *command.Authorize) { c.Body.Description = &description }), time.Minute, command.Repeated},
		{"with another description, later", sale(120, func(c *command.Authorize) { c.Body.Description = &description }), time.Hour, command.Done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setupOnce(t, noon)
			if got, want := b.ask(t.Context(), 0, sale(120)), command.Done; got != want {
				t.Fatalf("first: got %s, want %s", got, want)
			}
			b.clock.Advance(tt.after)
			if got := b.ask(t.Context(), 1, tt.second); got != tt.want {
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

func TestOnce_declinesCount(t *testing.T) {
	t.Parallel()
	b := setupOnce(t, noon)
	b.v1.answer = http.StatusPaymentRequired
	for i, want := range []command.Outcome{command.Declined, command.Repeated} {
		if got := b.ask(t.Context(), i, sale(120)); got != want {
			t.Errorf("request %d: got %s, want %s", i, got, want)
		}
	}
}

func TestOnce_aLostAnswerIsOurs(t *testing.T) {
	t.Parallel()
	b := setupOnce(t, noon)
	b.v1.mute = 1
	if got, want := b.ask(t.Context(), 0, sale(120)), command.Done; got != want {
		t.Errorf("the answer after a lost one: got %s, want %s", got, want)
	}
	b.v1.mute = 0
	if got, want := b.ask(t.Context(), 1, sale(120)), command.Repeated; got != want {
		t.Errorf("its repetition: got %s, want %s", got, want)
	}
	if got, want := b.v1.paid(), 1; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

func TestOnce_whileTheFirstRuns(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*command.Authorize){
		"the same body":    func(*command.Authorize) {},
		"another body":     func(c *command.Authorize) { c.Body.Reference = new("r") },
		"across the slots": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, after := noon, 10*time.Minute
			if change == nil {
				at, after, change = midnight.Add(-time.Second), 2*time.Second, func(*command.Authorize) {}
			}
			b := setupOnce(t, at)
			if got, want := b.ask(t.Context(), 0, sale(120)), command.Done; got != want {
				t.Fatalf("first: got %s, want %s", got, want)
			}
			for _, u := range b.v1.uses {
				u.running = true
			}
			b.clock.Advance(after) // beyond the window, except across the slots
			if got, want := b.ask(t.Context(), 1, sale(120, change)), command.Uncertain; got != want {
				t.Errorf("while nobody knows what became of the first: got %s, want %s", got, want)
			}
			if got, want := b.v1.paid(), 1; got != want {
				t.Errorf("payments: got %d, want %d", got, want)
			}
		})
	}
}

// A caller whose key may not read still never pays twice.
func TestOnce_withoutTheScopeToLook(t *testing.T) {
	t.Parallel()
	b := setupOnce(t, noon)
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
		{time.Hour, sale(120, func(c *command.Authorize) { c.Body.Reference = new("r") }), command.Repeated}, // whose age it is not told
	} {
		b.clock.Advance(step.after)
		if got := b.ask(t.Context(), 0, step.c); got != step.want {
			t.Errorf("%s later: got %s, want %s", step.after, got, step.want)
		}
	}
}

func TestOnce_askedByManyAtOnce(t *testing.T) {
	t.Parallel()
	b := setupOnce(t, noon)
	outcomes := make(chan command.Outcome, 64)
	var all sync.WaitGroup
	for i := range cap(outcomes) {
		all.Go(func() { outcomes <- b.ask(t.Context(), i%2, sale(120)) })
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

// However equal requests are spread over time and proxies, each is paid for exactly when none was in the window before it, be that one's own
// window what it may.
func TestOnce_property(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := setupOnce(t, midnight.Add(-time.Duration(rapid.IntRange(0, 40000).Draw(rt, "before midnight"))*time.Second))
		var last time.Time
		for range rapid.IntRange(1, 30).Draw(rt, "requests") {
			b.clock.Advance(time.Duration(rapid.SampledFrom([]int{0, 1, 30, 119, 120, 121, 900, 7200}).Draw(rt, "pause")) * time.Second)
			window := rapid.SampledFrom([]int{0, 1, 120, 3600, 28800}).Draw(rt, "window")
			want := command.Done
			if now := b.clock.Now(); !last.IsZero() && now.Sub(last) < time.Duration(window)*time.Second {
				want = command.Repeated
			} else {
				last = now
			}
			if got := b.ask(t.Context(), rapid.IntRange(0, 1).Draw(rt, "proxy"), sale(window)); got != want {
				rt.Fatalf("got %s, want %s", got, want)
			}
		}
	})
}

// A key shows nothing of the card: without the deduplication secret the hash cannot be computed.
func TestOnce_keyDependsOnTheSecret(t *testing.T) {
	t.Parallel()
	b := setupOnce(t, noon)
	for _, x := range []*command.Executor{b.proxies[0], b.proxy(t, otherSecret, secret.String{})} {
		if got, want := b.at(t, x, key, sale(120)).Outcome, command.Done; got != want {
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

// A long chain is walked in few steps.
func TestOnce_longChain(t *testing.T) {
	t.Parallel()
	b := setupOnce(t, midnight)
	for range 200 {
		if got, want := b.ask(t.Context(), 0, sale(1)), command.Done; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		b.clock.Advance(2 * time.Second)
	}
	before := b.v1.looks
	if got, want := b.ask(t.Context(), 1, sale(1)), command.Done; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if got, limit := b.v1.looks-before, 20; got > limit {
		t.Errorf("questions: got %d, want at most %d", got, limit)
	}
}

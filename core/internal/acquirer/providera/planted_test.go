package providera_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer/providera"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestMain(m *testing.M) { coretest.Main(m) }

const (
	plantedRoundSize = 500
	plantedPayments  = 300     // in make test
	plantedInSoak    = 100_000 // in make soak
	plantedClients   = 24      // at once
)

// plantedPlans are the steps of payments. The first word is the capture of the payment.
var plantedPlans = [][]string{
	{"automatic"},
	{"automatic"},
	{"automatic"},
	{"manual", "capture"},
	{"manual"},
	{"manual", "part"},
	{"manual", "void"},
	{"automatic", "void"},
	{"automatic", "refund"},
	{"manual", "capture", "refund"},
}

// plantedSteps are the path and the body of each step.
var plantedSteps = map[string][2]string{
	"void":    {"/v1/transactions/{id}/void", ""},
	"capture": {"/v1/transactions/{id}/captures", `{"final":true}`},
	"part":    {"/v1/transactions/{id}/captures", `{"amount":500,"final":true}`},
	"refund":  {"/v1/refunds", `{"transaction":"{id}","amount":250}`},
}

// plantedPayment is a payment of a client with its steps. The first call makes the payment.
type plantedPayment struct {
	name  string // its reference, which is also in the records of the hosts
	plan  []string
	key   string // the API key
	keyed bool   // its calls have idempotency keys, and are retried
	card  string
	sum   int64

	id    string // "" until it is acknowledged
	calls []*plantedCall
}

// plantedCall is a request of a client.
type plantedCall struct {
	step, path, body string
	unknown, done    bool // it had no outcome once; it has one
	status           int
	response         []byte
}

// acknowledged reports whether the client has a success.
func (c *plantedCall) acknowledged() bool { return c.done && c.status/100 == 2 }

// plantedRound is a service with two merchants and two hosts.
type plantedRound struct {
	*coretest.Service

	hosts *providera.Planted
	keys  [2][2]string // by merchant: of all rights, and of a legacy client
	all   []*plantedPayment
}

func newPlantedRound(t *testing.T, seed uint64, n, size int) *plantedRound {
	t.Helper()
	s := coretest.Open(t)
	r := &plantedRound{Service: s, hosts: providera.NewPlanted(t, seed, s.Clock)}
	s.Engine.Live = r.hosts
	for i, hosts := range [][]string{{"a", "b"}, {"b", "a"}} {
		merchant := s.IDs.Next()
		err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(merchant, "shop") })
		if err != nil {
			t.Fatal(err)
		}
		r.hosts.AddMerchant(merchant, hosts...)
		spec := auth.KeySpec{Merchant: merchant, Live: true, Kind: apikey.Secret}
		r.keys[i][0] = s.MustKey(t, spec)
		spec.Scopes = []string{"payments:authorize", "payments:capture", "refunds:create", "compat:use"}
		r.keys[i][1] = s.MustKey(t, spec)
	}
	for i := range size {
		r.all = append(r.all, r.payment(fmt.Sprintf("P%d-%d", n, i), i))
	}
	return r
}

// payment returns a payment by its number in the round. Some draw on the card of an earlier one.
func (r *plantedRound) payment(name string, n int) *plantedPayment {
	rng := r.hosts.Random("plan " + name)
	x := &plantedPayment{
		name: name, plan: plantedPlans[rng.IntN(len(plantedPlans))], keyed: rng.IntN(10) < 7,
		sum: int64(1000 + 500*rng.IntN(3)), key: r.keys[n%2][min(1, rng.IntN(4)/3)],
	}
	if rng.IntN(10) == 0 {
		n = max(n%2, n-2*rng.IntN(40)) // of the same merchant
	}
	x.card = plantedCard(n)
	return x
}

// plantedCard returns the card of a number, of Visa or of Mastercard.
func plantedCard(n int) string {
	start := fmt.Sprintf("%s%011d", []string{"4000", "5500"}[n/2%2], n)
	for digit := range 10 {
		if number := fmt.Sprint(start, digit); card.Valid(secret.New(number)) {
			return number
		}
	}
	panic("no check digit")
}

// next returns the call that the payment needs next, nil if it has ended.
func (x *plantedPayment) next() *plantedCall {
	if n := len(x.calls); n > 0 {
		switch last := x.calls[n-1]; {
		case !last.done:
			return last
		case !last.acknowledged() || n == len(x.plan):
			return nil
		}
	}
	c := &plantedCall{step: "pay", path: "/v1/transactions", body: fmt.Sprintf(
		`{"amount":%d,"currency":"usd","capture":%q,"reference":%q,"payment_method":"card",`+
			`"card":{"number":%q,"exp_month":12,"exp_year":2031,"cvc":"123"}}`, x.sum, x.plan[0], x.name, x.card)}
	if n := len(x.calls); n > 0 {
		at := plantedSteps[x.plan[n]]
		c.step, c.path = x.plan[n], strings.ReplaceAll(at[0], "{id}", x.id)
		c.body = strings.ReplaceAll(at[1], "{id}", x.id)
	}
	x.calls = append(x.calls, c)
	return c
}

// try sends a call once. It reports whether the response is an outcome.
func (r *plantedRound) try(t *testing.T, x *plantedPayment, c *plantedCall) bool {
	t.Helper()
	in := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(c.body))
	in.Header.Set("Authorization", "Bearer "+x.key)
	if c.body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	if x.keyed {
		in.Header.Set("Idempotency-Key", x.name+"/"+c.step)
	}
	out := httptest.NewRecorder()
	r.API.ServeHTTP(out, in)
	c.status, c.response = out.Code, out.Body.Bytes()
	c.done = c.status < 500 && c.status != http.StatusTooManyRequests &&
		!strings.Contains(string(c.response), `_in_use"`) && !strings.Contains(string(c.response), `_in_progress"`)
	c.unknown = c.unknown || c.status == http.StatusGatewayTimeout
	r.hosts.Count(fmt.Sprintf("client: %s %d", c.step, c.status))
	if strings.Contains(string(c.response), `"retry_not_allowed"`) {
		r.hosts.Count("declined: here, by the retry rule of the network")
	}
	return c.done
}

// live makes the payment and its steps until one has no outcome, is refused or declined. A client
// retries only calls with an idempotency key.
func (r *plantedRound) live(t *testing.T, x *plantedPayment) {
	t.Helper()
	for {
		c := x.next()
		switch {
		case c == nil, c.status != 0 && !x.keyed:
			return
		case c.step == "refund":
			r.hosts.Settle(x.name)
		}
		if !r.try(t, x, c) && (!x.keyed || !r.try(t, x, c)) {
			return
		}
		if x.id == "" && c.acknowledged() {
			var made struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(c.response, &made); err != nil {
				t.Errorf("%s: %v", x.name, err)
				return
			}
			x.id = made.ID
		}
	}
}

// clients lets all clients send, or retry.
func (r *plantedRound) clients(t *testing.T) {
	t.Helper()
	queue := make(chan *plantedPayment)
	var all sync.WaitGroup
	for range plantedClients {
		all.Go(func() {
			for x := range queue {
				r.live(t, x)
			}
		})
	}
	for _, x := range r.all {
		queue <- x
	}
	close(queue)
	all.Wait()
}

// pass moves the clock, and recovery tries each open step.
func (r *plantedRound) pass(t *testing.T, by time.Duration) {
	t.Helper()
	r.Clock.Advance(by)
	r.hosts.Tick()
	r.Recover(t)
}

// recover runs recovery until no step is open but the steps that only an operator can end. The late
// requests arrive after its first pass. Clients retry while their keys are valid.
func (r *plantedRound) recover(t *testing.T) {
	t.Helper()
	r.pass(t, 61*time.Second)
	r.hosts.Arrive()
	for _, by := range []time.Duration{5 * time.Minute, 16 * time.Minute, time.Hour} {
		r.pass(t, by)
		r.clients(t)
		r.pass(t, 61*time.Second)
	}
	r.hosts.Arrive()
	r.hosts.Calm()
	r.pass(t, 61*time.Second)
	r.hosts.SettleAll()
	r.pass(t, 25*time.Hour)
	for range 60 {
		r.pass(t, time.Hour)
		if r.Number(t, "SELECT COUNT(*) FROM reversals") == 0 {
			return
		}
	}
}

// plantedTotals are the figures of all rounds.
type plantedTotals struct {
	mu     sync.Mutex
	counts map[string]int
}

func (s *plantedTotals) add(counts map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for what, n := range counts {
		s.counts[what] += n
	}
}

// TestPlantedUnknowns sends payments through two accounts at two hosts, in both orders. Each
// request is approved, declined, refused, lost before or after its effect, or late. Clients retry
// under their keys. In the end each payment has at most one charge at both hosts together, and the
// same one in the store. A payment goes to the second account only after the first one proved that
// nothing has happened.
func TestPlantedUnknowns(t *testing.T) {
	t.Parallel()
	seed := programtest.Number(t, "CAUSEWAY_CRASH_SEED", rand.Uint64())
	t.Logf("CAUSEWAY_CRASH_SEED=%d", seed)
	payments := plantedPayments
	if programtest.Soak() {
		payments = plantedInSoak
	}
	began := time.Now() //nolint:forbidigo // the test measures the time
	totals := plantedTotals{counts: map[string]int{}}
	t.Run("rounds", func(t *testing.T) {
		t.Parallel()
		size := min(payments, plantedRoundSize)
		for n := range payments / size {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				r := newPlantedRound(t, seed, n, size)
				r.clients(t)
				r.recover(t)
				r.judge(t)
				totals.add(r.hosts.Counts())
			})
		}
	})
	t.Cleanup(func() { totals.report(t, payments, time.Since(began)) })
}

// report logs the figures. A run without failovers and unknowns shows nothing. A soak meets each
// fate and each class of declines.
func (s *plantedTotals) report(t *testing.T, payments int, took time.Duration) {
	t.Helper()
	var lines []string
	for what, n := range s.counts {
		lines = append(lines, fmt.Sprintf("%7d %s", n, what))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[8:], b[8:]) })
	t.Logf("%d payments in %s, %.0f a second\n%s", payments, took.Round(time.Second),
		float64(payments)/took.Seconds(), strings.Join(lines, "\n"))
	needed := []string{
		"failovers", "failovers after a soft decline", "unknown calls of clients: resolved",
		"listed for an operator: authorize",
	}
	if programtest.Soak() {
		needed = append(needed, providera.PlantedFates()...)
	}
	for _, what := range needed {
		if s.counts[what] == 0 {
			t.Errorf("no %s, so nothing was shown of it", what)
		}
	}
}

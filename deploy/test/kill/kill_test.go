//go:build unix

package kill_test

import (
	"database/sql"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	// killRounds is the number of rounds unless CAUSEWAY_CRASH_ROUNDS sets another.
	killRounds = 4
	// judgeEvery is the number of rounds after which the clients stop and the result is judged.
	judgeEvery = 4
	// roundRequests is the number of v1 requests in a round.
	roundRequests = 300
)

// killing is a fleet under load, whose programs are killed.
type killing struct {
	f      *fleet.Fleet
	store  string
	h      *crash.Harness
	l      *legacy // nil without legacy clients
	r      *reaper
	short  bool // few rounds, short logs
	rounds int
}

func startKilling(t *testing.T, seed uint64, filters, proxies int) *killing {
	t.Helper()
	o := &killing{
		store: pgtest.Schema(t), rounds: crash.Rounds(t, killRounds), short: os.Getenv("CAUSEWAY_CRASH_ROUNDS") == "",
	}
	o.f = fleet.Start(t, fleet.Config{
		Cores: 3, Filters: filters, Proxies: proxies, Store: o.store,
		CoreArgs: []string{"--webhooks-allow-private", "--simulator", crash.QuickCatalogue(t)},
	})
	merchant := o.f.Run(t, "merchants", "create", "Harness")
	h, err := crash.New(seed, crash.Keys{
		Secret:      o.f.Run(t, "keys", "create", "--merchant", merchant),
		Publishable: o.f.Run(t, "keys", "create", "--merchant", merchant, "--kind", "publishable"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	h.Attach(o.f.Cores.URLs()...)
	groups := map[string]*fleet.Group{"core": o.f.Cores}
	if filters > 0 {
		for _, transport := range []http.RoundTripper{
			mle.New(mle.Config{Next: &http.Transport{MaxIdleConnsPerHost: 64}}),
			mle.New(mle.Config{Alg: mle.RSAOAEP256, Next: &http.Transport{MaxIdleConnsPerHost: 64}}),
			&http.Transport{MaxIdleConnsPerHost: 64},
		} {
			h.AttachRoute(transport, o.f.Filters.URLs()...)
		}
		groups["filter"] = o.f.Filters
	}
	if proxies > 0 {
		groups["proxy"], o.l = o.f.Proxies, newLegacy(t, o.f)
	}
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.h, o.r = h, newReaper(t, o.f, seed, groups)
	return o
}

func (o *killing) location() crash.Location {
	return crash.Location{Store: o.store, Journal: o.f.Journal}
}

// phase runs some rounds and then judges their result. In each round, programs are killed at a
// random request while clients pay.
func (o *killing) phase(t *testing.T, n, rounds int) {
	t.Helper()
	begun := clock.System().Now()
	beforeResponse, afterResponse := map[int]bool{}, map[int]bool{}
	for r := range rounds {
		if at := r*roundRequests + o.r.roll(roundRequests); o.r.roll(2) == 0 {
			beforeResponse[at+1] = true
		} else {
			afterResponse[at+1] = true
		}
	}
	ctx, cancel := o.r.load(t.Context())
	defer cancel()
	over := make(chan struct{})
	var others sync.WaitGroup
	if o.l != nil {
		others.Go(func() { o.l.run(ctx, n, over) })
	}
	strike := func(at map[int]bool) func(int) {
		return func(n int) {
			if at[n] {
				o.r.strike(t)
			}
		}
	}
	o.h.Storm(ctx, n, rounds*roundRequests, strike(beforeResponse), strike(afterResponse))
	close(over)
	stormed := clock.System().Now().Sub(begun)
	others.Wait()
	programtest.WaitFor(t, "all programs are back", func() bool { return ctx.Err() != nil || o.r.allServe(ctx) })
	if ctx.Err() != nil {
		t.Fatalf("look %d, after %s", n, o.r)
	}
	if err := o.h.Recover(t.Context()); err != nil {
		t.Errorf("look %d: %v", n, err)
	}
	o.report(t, n, func() ([]string, error) { return o.h.Judge(t.Context(), o.location()) })
	o.report(t, n, func() ([]string, error) { return o.h.Overlap(t.Context(), n) })
	if err := o.h.Clear(t.Context()); err != nil {
		t.Error(err)
	}
	if o.l != nil {
		o.l.judge(t)
	}
	t.Logf("look %d: %s, of which under load %s", n, clock.System().Now().Sub(begun), stormed)
	if t.Failed() {
		o.logWebhooks(t)
		t.Fatalf("look %d, after %s", n, o.r)
	}
}

// logWebhooks logs the webhook rows of the store, to explain a failure.
func (o *killing) logWebhooks(t *testing.T) {
	t.Helper()
	db, err := sql.Open("pgx", o.store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it only read
	for _, query := range []string{
		`SELECT row_to_json(x)::text FROM (SELECT id, url, status, reason, generation, failing_since, version, updated_at ` +
			`FROM webhook_endpoints WHERE status <> 'deleted') x`,
		`SELECT row_to_json(x)::text FROM (SELECT endpoint_id, status, leased, COUNT(*), MIN(event_id), MAX(event_id), ` +
			`MAX(created_at) FROM webhook_deliveries GROUP BY 1, 2, 3 ORDER BY 1) x`,
		`SELECT row_to_json(x)::text FROM (SELECT COUNT(*), MIN(id), MAX(id), tableoid::regclass::text AS part FROM events ` +
			`GROUP BY 4) x`,
		`SELECT row_to_json(x)::text FROM (SELECT * FROM lead, cores) x`,
	} {
		show(t, db, query)
	}
}

// show logs the text column of each row.
func show(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err is checked
	for text := ""; rows.Next(); {
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		t.Log(text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// report reports the faults that a check returns.
func (o *killing) report(t *testing.T, n int, look func() ([]string, error)) {
	t.Helper()
	faults, err := look()
	if err != nil {
		t.Errorf("look %d: %v", n, err)
	}
	for i, f := range faults {
		if i == 20 {
			t.Errorf("and %d more", len(faults)-i)
			break
		}
		t.Errorf("look %d: %s", n, f)
	}
}

// run runs all rounds, and finally judges all payments.
func (o *killing) run(t *testing.T, seed uint64) {
	t.Helper()
	t.Logf("CAUSEWAY_CRASH_SEED=%d", seed)
	begun, looks := clock.System().Now(), 0
	for done := 0; done < o.rounds; done += judgeEvery {
		o.phase(t, looks, min(judgeEvery, o.rounds-done))
		if looks++; !o.short {
			t.Logf("%d rounds, %s: %s", min(done+judgeEvery, o.rounds), clock.System().Now().Sub(begun), o.r)
		}
	}
	o.report(t, looks, func() ([]string, error) { return o.h.Delivered(t.Context()) })
	o.report(t, looks, func() ([]string, error) { return o.h.JudgeAll(t.Context(), o.location()) })
	if o.l != nil {
		o.l.agree(t, o.location())
		t.Logf("legacy clients: %d payments, %d requests, %d responses lost", o.l.judged.Load(), o.l.requests.Load(),
			o.l.lost.Load())
		if o.l.judged.Load() == 0 {
			t.Error("no payment of a legacy client was judged")
		}
	}
	f := o.h.Figures()
	t.Logf("%d rounds in %s: %s; %+v", o.rounds, clock.System().Now().Sub(begun), o.r, f)
	if f.Lost == 0 || f.Lost > f.Unsure && f.Stood+f.Again == 0 {
		t.Error("no kill lost a response: the load does not test what it should")
	}
	if missing := f.Missing(); len(missing) > 0 && !o.short { // a few rounds may omit some by chance
		t.Errorf("never acknowledged: %s", strings.Join(missing, ", "))
	}
}

// TestKillPostgreSQL kills any of three cores, three mle-filters and three proxies under load at
// every endpoint. No effect is lost or duplicated, and a retry at another instance gets the same
// outcome.
func TestKillPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := crash.Seed(t)
	startKilling(t, seed, 3, 3).run(t, seed)
}

// TestKillCoresPostgreSQL is the crash suite of v1 with three cores. Only cores are killed, and
// clients use every command.
func TestKillCoresPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := crash.Seed(t)
	startKilling(t, seed, 0, 0).run(t, seed)
}

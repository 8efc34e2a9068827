//go:build unix

package kill_test

import (
	"database/sql"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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
	// killRounds is how many rounds there are; CAUSEWAY_CRASH_ROUNDS says otherwise.
	killRounds = 4
	// lookEvery is after how many of them everything comes to rest, and is looked at.
	lookEvery = 4
	// roundRequests is how many requests clients of v1 send in a round.
	roundRequests = 300
)

// number is an environment variable's.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// hurried is a file of the simulator's that is slow, and fails to answer, for fractions of a second.
func hurried(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "configs", "simulator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`delay_ms: 30000`).ReplaceAll(text, []byte("delay_ms: 150"))
	text = regexp.MustCompile(`delay_ms: 5000`).ReplaceAll(text, []byte("delay_ms: 60"))
	path := filepath.Join(t.TempDir(), "simulator.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ordeal is a fleet under load whose programs are killed.
type ordeal struct {
	f      *fleet.Fleet
	store  string
	h      *crash.Harness
	l      *legacy // nil without
	r      *reaper
	short  bool // few rounds, with few words
	rounds int
}

func startOrdeal(t *testing.T, seed uint64, filters, proxies int) *ordeal {
	t.Helper()
	o := &ordeal{store: pgtest.Schema(t), rounds: int(number(t, "CAUSEWAY_CRASH_ROUNDS", killRounds)), short: os.Getenv("CAUSEWAY_CRASH_ROUNDS") == ""}
	o.f = fleet.Start(t, fleet.Config{
		Cores: 3, Filters: filters, Proxies: proxies, Store: o.store, CoreArgs: []string{"--webhooks-allow-private", "--simulator", hurried(t)},
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
			mle.New(mle.Config{Next: &http.Transport{MaxIdleConnsPerHost: 64}}), mle.New(mle.Config{Alg: mle.RSAOAEP256, Next: &http.Transport{MaxIdleConnsPerHost: 64}}),
			&http.Transport{MaxIdleConnsPerHost: 64},
		} {
			h.AttachDoor(transport, o.f.Filters.URLs()...)
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

// look has clients pay for some rounds, in each of which some programs are killed at a random request, and then judges what is left.
func (o *ordeal) look(t *testing.T, n, rounds int) {
	t.Helper()
	begun := clock.System().Now()
	sent, answered := map[int]bool{}, map[int]bool{}
	for r := range rounds {
		if at := r*roundRequests + o.r.roll(roundRequests); o.r.roll(2) == 0 {
			sent[at+1] = true
		} else {
			answered[at+1] = true
		}
	}
	over := make(chan struct{})
	var others sync.WaitGroup
	if o.l != nil {
		others.Go(func() { o.l.run(t.Context(), n, over) })
	}
	strike := func(at map[int]bool) func(int) {
		return func(n int) {
			if at[n] {
				o.r.strike(t)
			}
		}
	}
	o.h.Storm(t.Context(), n, rounds*roundRequests, strike(sent), strike(answered))
	close(over)
	stormed := clock.System().Now().Sub(begun)
	others.Wait()
	programtest.WaitFor(t, "all programs are back", func() bool { return o.r.whole(t) })
	if err := o.h.Recover(t.Context()); err != nil {
		t.Errorf("look %d: %v", n, err)
	}
	o.found(t, n, func() ([]string, error) { return o.h.Judge(t.Context(), o.store) })
	o.found(t, n, func() ([]string, error) { return o.h.Overlap(t.Context(), n) })
	if err := o.h.Clear(t.Context()); err != nil {
		t.Error(err)
	}
	if o.l != nil {
		o.l.judge(t)
	}
	t.Logf("look %d: %s, of which under load %s", n, clock.System().Now().Sub(begun), stormed)
	if t.Failed() {
		o.tell(t)
		t.Fatalf("look %d, after %s", n, o.r)
	}
}

// tell shows what the store says of webhooks, for whoever has to find out.
func (o *ordeal) tell(t *testing.T) {
	t.Helper()
	db, err := sql.Open("pgx", o.store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it was only read
	for _, query := range []string{
		`SELECT row_to_json(x)::text FROM (SELECT id, url, status, reason, generation, failing_since, version, updated_at FROM webhook_endpoints WHERE status <> 'deleted') x`,
		`SELECT row_to_json(x)::text FROM (SELECT endpoint_id, status, leased, COUNT(*), MIN(event_id), MAX(event_id), MAX(created_at) FROM webhook_deliveries GROUP BY 1, 2, 3 ORDER BY 1) x`,
		`SELECT row_to_json(x)::text FROM (SELECT COUNT(*), MIN(id), MAX(id), tableoid::regclass::text AS part FROM events GROUP BY 4) x`,
		`SELECT row_to_json(x)::text FROM (SELECT * FROM lead, cores) x`,
	} {
		show(t, db, query)
	}
}

// show logs a column of texts.
func show(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err says what there is to say
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

// found reports what a look found.
func (o *ordeal) found(t *testing.T, n int, look func() ([]string, error)) {
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

// run is all rounds, and the last look at everything.
func (o *ordeal) run(t *testing.T, seed uint64) {
	t.Helper()
	t.Logf("CAUSEWAY_CRASH_SEED=%d", seed)
	begun, looks := clock.System().Now(), 0
	for done := 0; done < o.rounds; done += lookEvery {
		o.look(t, looks, min(lookEvery, o.rounds-done))
		if looks++; !o.short {
			t.Logf("%d rounds, %s: %s", min(done+lookEvery, o.rounds), clock.System().Now().Sub(begun), o.r)
		}
	}
	o.found(t, looks, func() ([]string, error) { return o.h.Delivered(t.Context()) })
	o.found(t, looks, func() ([]string, error) { return o.h.JudgeAll(t.Context(), o.store) })
	if o.l != nil {
		o.l.agree(t, o.store)
		t.Logf("legacy clients: %d payments, %d requests, %d answers lost", o.l.told.Load(), o.l.asked.Load(), o.l.lost.Load())
	}
	f := o.h.Figures()
	t.Logf("%d rounds in %s: %s; %s", o.rounds, clock.System().Now().Sub(begun), o.r, f)
	if f.Lost == 0 || f.Stood+f.Again == 0 {
		t.Error("no kill took an answer: the load does not test what it should")
	}
	if missing := f.Missing(); len(missing) > 0 && !o.short { // chance leaves some out of a few rounds
		t.Errorf("never acknowledged: %s", strings.Join(missing, ", "))
	}
}

// TestKillPostgreSQL kills any core, filter or proxy of three each, under load at every door: nothing is lost, nothing done twice, and who asks again
// at another one is told of one outcome.
func TestKillPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := number(t, "CAUSEWAY_CRASH_SEED", rand.Uint64())
	startOrdeal(t, seed, 3, 3).run(t, seed)
}

// TestKillCoresPostgreSQL is the crash suite of v1 with three cores at once: cores alone are killed, clients use every command.
func TestKillCoresPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := number(t, "CAUSEWAY_CRASH_SEED", rand.Uint64())
	startOrdeal(t, seed, 0, 0).run(t, seed)
}

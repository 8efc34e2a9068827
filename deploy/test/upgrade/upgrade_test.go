//go:build unix

package upgrade_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// three is how many there are of each program.
const three = 3

// notice is what each program gives before its end: Envoy asks every second.
const notice = "2500ms"

// size is of a run: in make test a small one; CAUSEWAY_UPGRADE_REQUESTS says how many requests another has.
type size struct {
	requests, clients, rows int
	pause                   time.Duration
}

func sizeOf(t *testing.T) size {
	t.Helper()
	text := os.Getenv("CAUSEWAY_UPGRADE_REQUESTS")
	if text == "" {
		return size{requests: 5000, clients: 12, rows: 20_000, pause: 40 * time.Millisecond}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CAUSEWAY_UPGRADE_REQUESTS is %q, not a number", text)
	}
	return size{requests: n, clients: 16, rows: 500_000}
}

// TestRollingUpgradePostgreSQL: three of each program are replaced one by one, after a migration, and no client has a request fail.
func TestRollingUpgradePostgreSQL(t *testing.T) {
	t.Parallel()
	run := sizeOf(t)
	u := newUpgrade(t, run)
	u.fill(t, run.rows)
	u.traffic = newTraffic(t, u.fleet, u.front, run.pause)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() { defer close(ended); u.traffic.run(ctx, run.clients) }()

	u.step(t, "migrate", func() { u.command(t, u.next, "migrate") })
	u.wantMigrated(t)
	u.wantOlderRefused(t)
	for n, upstream := range []string{"core", "mle", "compat"} {
		for _, i := range []*fleet.Group{u.fleet.Cores, u.fleet.Filters, u.fleet.Proxies}[n].All() {
			u.step(t, i.Name, func() { u.replace(t, upstream, i) })
		}
	}
	u.await(t, run.requests)
	stop()
	<-ended
	t.Log(u.traffic)
	if n := u.traffic.failed.Load(); n > 0 {
		t.Errorf("%d requests failed:\n%s", n, strings.Join(u.traffic.faults, "\n"))
	}
	u.wantEachOnce(t)
}

// upgrade is a fleet behind an Envoy, and what it is to become.
type upgrade struct {
	fleet   *fleet.Fleet
	front   *front
	traffic *traffic
	db      *sql.DB
	next    string // folder of the newer programs
	run     size
	steps   int
}

func newUpgrade(t *testing.T, run size) *upgrade {
	t.Helper()
	dir, err := os.MkdirTemp("", "u") //nolint:usetesting // the names of sockets must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var sockets []string
	for n := range three {
		sockets = append(sockets, filepath.Join(dir, strconv.Itoa(n)+".sock"))
	}
	settings := filepath.Join(dir, "notice.yaml")
	mustWrite(t, settings, []byte("notice: "+notice+"\n"))
	store := pgtest.Schema(t)
	u := &upgrade{next: buildNext(t), run: run}
	u.fleet = fleet.Start(t, fleet.Config{
		Cores: three, Filters: three, Proxies: three, Store: store,
		CoreArgs: []string{"--notice", notice}, CoreEnv: []string{"CAUSEWAY_FILTER_SECRET=0123456789abcdef0123456789abcdef0123456789a"},
		FilterArgs: func(n int) []string { return []string{"--config", settings, "--extproc", sockets[n]} },
		ProxyArgs:  func(int) []string { return []string{"--config", settings} },
	})
	u.front = startFront(t, u.fleet, dir, sockets)
	if u.db, err = sql.Open("pgx", store); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.db.Close() })
	for _, upstream := range []string{"core", "mle", "compat", "mle-extproc"} {
		u.front.allWell(t, upstream, three)
	}
	return u
}

// fill puts payments of somebody else into the store, so that a migration has something to do.
func (u *upgrade) fill(t *testing.T, rows int) {
	t.Helper()
	_, err := u.db.ExecContext(t.Context(), `INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at, updated_at)
		SELECT n, 1, 0, 'declined', 1, 100, 'usd', 'card', repeat('x', 500), 1, 1 FROM generate_series(1, $1::bigint) AS n`, rows)
	if err != nil {
		t.Fatal(err)
	}
}

// step does one thing of the upgrade, after its share of the requests.
func (u *upgrade) step(t *testing.T, what string, do func()) {
	t.Helper()
	const steps = 1 + 3*three
	u.steps++
	u.await(t, u.run.requests*u.steps/(steps+2))
	begun := time.Now() //nolint:forbidigo // for the log
	do()
	t.Logf("%s: %s, after %d requests", what, time.Since(begun).Round(time.Millisecond), u.traffic.asked.Load())
}

// await waits until so many requests were made.
func (u *upgrade) await(t *testing.T, requests int) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for u.traffic.asked.Load() < int64(requests) {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the time of the test is over")
		}
	}
}

// replace is what deploy/README.md says of one program.
func (u *upgrade) replace(t *testing.T, upstream string, i *fleet.Instance) {
	t.Helper()
	i.Stop(t)
	i.Use(u.next)
	i.Start(t)
	u.front.allWell(t, upstream, three)
	if upstream == "mle" {
		u.front.allWell(t, "mle-extproc", three)
	}
}

// command runs a command of a core.
func (u *upgrade) command(t *testing.T, folder string, args ...string) {
	t.Helper()
	programtest.MustOutput(t, u.fleet.Command(folder, args...))
}

// wantMigrated wants the newer schema, whole.
func (u *upgrade) wantMigrated(t *testing.T) {
	t.Helper()
	var version, mark int64
	var valid, whole bool
	err := u.db.QueryRowContext(t.Context(), `SELECT (SELECT MAX(version_id) FROM core_schema), (SELECT MAX(next_mark) FROM transactions),
		(SELECT convalidated FROM pg_constraint WHERE conname = 'next_bound' AND conrelid = 'transactions'::regclass),
		(SELECT indisvalid FROM pg_index WHERE indexrelid = 'transactions_by_next'::regclass)`).Scan(&version, &mark, &valid, &whole)
	if err != nil || version != 90006 || mark != 7 || !valid || !whole {
		t.Errorf("schema %d, column %d, constraint %t, index %t, %v", version, mark, valid, whole, err)
	}
}

// wantOlderRefused: a core of the release before that is started anew says what is wrong, and ends.
func (u *upgrade) wantOlderRefused(t *testing.T) {
	t.Helper()
	_, log, err := programtest.Output(t.Context(), u.fleet.Command(fleet.Binaries(t), "serve", "--listen", "127.0.0.1:0"))
	if programtest.ExitCode(err) != 1 || !strings.Contains(log, "schema version 90006") || !strings.Contains(log, "use a newer build") {
		t.Errorf("an older core on the newer schema: %v, %s", err, log)
	}
}

// wantEachOnce: what was acknowledged is there once, nothing else is, and nothing is open.
func (u *upgrade) wantEachOnce(t *testing.T) {
	t.Helper()
	var made, open int64
	err := u.db.QueryRowContext(t.Context(), `SELECT COUNT(*), COUNT(*) FILTER (WHERE status IN ('processing', 'unknown') OR operation <> '')
		FROM transactions WHERE merchant_id <> 1`).Scan(&made, &open)
	if want := u.traffic.made.Load(); err != nil || made != want || open != 0 {
		t.Errorf("got %d payments, %d open, %v, want the %d that were acknowledged", made, open, err, want)
	}
}

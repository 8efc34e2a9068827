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

// three is the number of instances of each program.
const three = 3

// notice is the time that each program serves after SIGTERM. Envoy checks its health every second.
const notice = "2500ms"

// size is the size of a run: small in make test, otherwise CAUSEWAY_UPGRADE_REQUESTS requests.
type size struct {
	requests, clients, rows int
	back                    int // instances of each program that are rolled back
	pause                   time.Duration
}

func sizeOf(t *testing.T) size {
	t.Helper()
	n := int(programtest.Number(t, "CAUSEWAY_UPGRADE_REQUESTS", 0))
	if n == 0 {
		return size{requests: 5000, clients: 12, rows: 20_000, back: 1, pause: 40 * time.Millisecond}
	}
	return size{requests: n, clients: 16, rows: 500_000, back: three}
}

// TestRollingUpgradePostgreSQL migrates the schema, and replaces three of each program one by one.
// Then it goes back to the old proxies and filters, and to the old code of core with the new
// schema. No request may fail.
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
			u.step(t, i.Name, func() { u.replace(t, upstream, i, u.next) })
		}
	}
	u.rollBack(t)
	u.await(t, run.requests)
	stop()
	<-ended
	t.Log(u.traffic)
	if n := u.traffic.failed.Load(); n > 0 {
		t.Errorf("%d requests failed:\n%s", n, strings.Join(u.traffic.faults, "\n"))
	}
	u.wantEachOnce(t)
}

// upgrade is a fleet behind an Envoy, and the programs that will replace it.
type upgrade struct {
	fleet   *fleet.Fleet
	front   *front
	traffic *traffic
	db      *sql.DB
	next    string // folder of the newer programs
	back    string // folder of the core for the way back
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
	u := &upgrade{next: buildNext(t), back: buildBack(t), run: run}
	u.fleet = fleet.Start(t, fleet.Config{
		Cores: three, Filters: three, Proxies: three, Store: store,
		CoreArgs: []string{"--notice", notice},
		CoreEnv: []string{
			"CAUSEWAY_FILTER_SECRET=0123456789abcdef0123456789abcdef0123456789a",
			"CAUSEWAY_STORE=" + store + "&patience=20s", // a connection can take seconds on a busy machine
		},
		FilterArgs: func(n int) []string { return []string{"--config", settings, "--extproc", sockets[n]} },
		ProxyArgs:  func(int) []string { return []string{"--config", settings} },
	})
	u.front = startFront(t, u.fleet, dir, sockets)
	if u.db, err = sql.Open("pgx", store); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.db.Close() })
	for _, upstream := range []string{"core", "mle", "compat", "mle-extproc"} {
		u.front.awaitHealthy(t, upstream, three)
	}
	return u
}

// fill inserts payments of another merchant, so that the migrations change existing rows.
func (u *upgrade) fill(t *testing.T, rows int) {
	t.Helper()
	_, err := u.db.ExecContext(t.Context(),
		`INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details,
			created_at, updated_at)
		SELECT n, 1, 0, 'declined', 1, 100, 'usd', 'card', repeat('x', 500), 1, 1 FROM generate_series(1, $1::bigint) AS n`,
		rows)
	if err != nil {
		t.Fatal(err)
	}
}

// step runs one step of the upgrade, after its share of the requests.
func (u *upgrade) step(t *testing.T, what string, do func()) {
	t.Helper()
	steps := 1 + 3*(three+u.run.back)
	u.steps++
	u.await(t, u.run.requests*u.steps/(steps+2))
	begun := time.Now() //nolint:forbidigo // for the log
	do()
	t.Logf("%s: %s, after %d requests", what, time.Since(begun).Round(time.Millisecond), u.traffic.requests.Load())
}

// await waits until the clients have made the number of requests.
func (u *upgrade) await(t *testing.T, requests int) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for u.traffic.requests.Load() < int64(requests) {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the time of the test is over")
		}
	}
}

// rollBack goes back to the previous release as deploy/docs/operate/upgrade.md describes.
func (u *upgrade) rollBack(t *testing.T) {
	t.Helper()
	old := fleet.Binaries(t)
	for n := range u.run.back {
		u.step(t, "back: proxy", func() { u.replace(t, "compat", u.fleet.Proxies.All()[n], old) })
		u.step(t, "back: filter", func() { u.replace(t, "mle", u.fleet.Filters.All()[n], old) })
		u.step(t, "back: core", func() { u.replace(t, "core", u.fleet.Cores.All()[n], u.back) })
	}
}

// replace replaces one program as deploy/docs/operate/upgrade.md describes.
func (u *upgrade) replace(t *testing.T, upstream string, i *fleet.Instance, folder string) {
	t.Helper()
	i.Stop(t)
	i.Use(folder)
	i.Start(t)
	u.front.awaitHealthy(t, upstream, three)
	if upstream == "mle" {
		u.front.awaitHealthy(t, "mle-extproc", three)
	}
}

// command runs a command of core.
func (u *upgrade) command(t *testing.T, folder string, args ...string) {
	t.Helper()
	programtest.MustOutput(t, u.fleet.Command(folder, args...))
}

// wantMigrated fails the test unless the whole newer schema exists.
func (u *upgrade) wantMigrated(t *testing.T) {
	t.Helper()
	var version, mark int64
	var valid, whole bool
	err := u.db.QueryRowContext(t.Context(),
		`SELECT (SELECT MAX(version_id) FROM core_schema), (SELECT MAX(next_mark) FROM transactions),
		(SELECT convalidated FROM pg_constraint WHERE conname = 'next_bound' AND conrelid = 'transactions'::regclass),
		(SELECT indisvalid FROM pg_index WHERE indexrelid = 'transactions_by_next'::regclass)`).
		Scan(&version, &mark, &valid, &whole)
	if err != nil || version != 90006 || mark != 7 || !valid || !whole {
		t.Errorf("schema %d, column %d, constraint %t, index %t, %v", version, mark, valid, whole, err)
	}
}

// wantOlderRefused fails the test unless a core of the old release refuses to start, with the
// reason.
func (u *upgrade) wantOlderRefused(t *testing.T) {
	t.Helper()
	_, log, err := programtest.Output(t.Context(), u.fleet.Command(fleet.Binaries(t),
		"serve", "--listen", "127.0.0.1:0", "--simulator-journal", u.fleet.Journal))
	if programtest.ExitCode(err) != 1 || !strings.Contains(log, "schema version 90006") ||
		!strings.Contains(log, "use a newer build") {
		t.Errorf("an older core on the newer schema: %v, %s", err, log)
	}
}

// wantEachOnce fails the test unless the store has each acknowledged payment once, no other
// payment, and no unfinished operation.
func (u *upgrade) wantEachOnce(t *testing.T) {
	t.Helper()
	var made, open int64
	err := u.db.QueryRowContext(t.Context(),
		`SELECT COUNT(*), COUNT(*) FILTER (WHERE status IN ('processing', 'unknown') OR operation <> '')
		FROM transactions WHERE merchant_id <> 1`).Scan(&made, &open)
	if want := u.traffic.made.Load(); err != nil || made != want || open != 0 {
		t.Errorf("got %d payments, %d open, %v, want the %d that were acknowledged", made, open, err, want)
	}
}

//go:build unix

package hostile_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// arrangement is the cores of a round and their store: one core on SQLite, or several on a
// PostgreSQL server. No other round uses that server, because its clock jumps.
type arrangement struct {
	binary, folder string
	location       crash.Location
	server         *pgtest.Server // nil on SQLite
	cores          []*process
	args, env      []string // of each core and command
	log            programtest.Log
	offset, latest time.Duration // of the clocks when they agree: now, and the largest so far
}

// process is one core. It is safe for concurrent use.
type process struct {
	address, clock string // clock is the file of its steered clock

	mu      sync.Mutex
	program *programtest.Program // nil before the first start; guarded by mu
}

// arrange returns cores on SQLite if there is one, else on PostgreSQL. None runs yet.
func arrange(t *testing.T, cores int) *arrangement {
	t.Helper()
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	a := &arrangement{binary: filepath.Join(folder, "core"), folder: t.TempDir(), log: programtest.Log{Most: 256 << 10}}
	host := programtest.Host(t)
	for n := range cores {
		a.cores = append(a.cores, &process{
			address: fmt.Sprintf("%s:%d", host, 18080+n),
			clock:   filepath.Join(a.folder, fmt.Sprintf("clock%d", n)),
		})
	}
	if cores == 1 {
		a.location, a.args = crash.Folder(a.folder), []string{"--data", filepath.Join(a.folder, "core")}
		a.setClock(t, 0)
		return a
	}
	a.server = pgtest.Steered(t)
	a.location = crash.Location{Store: a.server.URL(nil), Journal: filepath.Join(a.folder, "simulator.journal")}
	// On a busy machine a connection can take over a second, after which a core that starts gives up.
	a.env = []string{
		"CAUSEWAY_STORE=" + a.location.Store + "&patience=5s", "CAUSEWAY_VAULT_KEK=" + programtest.Secret(),
	}
	a.setClock(t, 0)
	a.run(t, "migrate")
	return a
}

// several reports whether cores share the store.
func (a *arrangement) several() bool { return len(a.cores) > 1 }

// setClock sets all clocks to the machine's time plus offset.
func (a *arrangement) setClock(t *testing.T, offset time.Duration) {
	t.Helper()
	a.offset, a.latest = offset, max(a.latest, offset)
	if a.server != nil {
		a.server.SetClock(t, offset)
	}
	for _, p := range a.cores {
		mustReplace(t, p.clock, offset.String())
	}
}

// logSessions logs each session of the server that does something, and the sessions that block it.
func (a *arrangement) logSessions(t *testing.T) {
	t.Helper()
	db, err := sql.Open("pgx", a.location.Store)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = db.Close() }() // it was only read
	var all string
	if err := db.QueryRowContext(t.Context(), `SELECT string_agg(
		concat_ws(' ', pid, client_port, state, wait_event_type, wait_event, xact_start, state_change,
			'blocked by', pg_blocking_pids(pid), query), E'\n' ORDER BY pid)
		FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid()`).Scan(&all); err != nil {
		t.Error(err)
	}
	t.Logf("sessions:\n%s", all)
}

// run runs a command of core and returns its output.
func (a *arrangement) run(t *testing.T, args ...string) string {
	t.Helper()
	return programtest.MustOutput(t, programtest.Command{
		Path: a.binary, Args: append(args, a.args...), Env: append(a.env, fleet.SteeredBy+"="+a.cores[0].clock),
	})
}

// launch starts a core that does not run, and does not wait until it listens.
func (a *arrangement) launch(t *testing.T, p *process) {
	t.Helper()
	program, err := programtest.Launch(programtest.Command{
		Path: a.binary, Env: append(a.env, fleet.SteeredBy+"="+p.clock), Stderr: &a.log,
		Args: append([]string{
			"serve", "--listen", p.address, "--rate-limit", "0", "--webhooks-allow-private",
			"--simulator", filepath.Join(a.folder, "simulator.yaml"), "--simulator-journal", a.location.Journal,
		}, a.args...),
	})
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(program.Kill)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.program = program
}

// kill ends a core, which may have ended, as a power cut would.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.program != nil {
		p.program.Kill()
	}
}

// start starts all cores. mood is a version of the simulator's catalogue.
func (a *arrangement) start(t *testing.T, mood string) {
	t.Helper()
	mustReplace(t, filepath.Join(a.folder, "simulator.yaml"), mood)
	for _, p := range a.cores {
		a.launch(t, p)
	}
	for _, p := range a.cores {
		if err := p.program.Listens(t.Context(), p.address); err != nil {
			t.Fatalf("core: %v\n%s", err, &a.log)
		}
	}
}

// kill ends all cores.
func (a *arrangement) kill() {
	for _, p := range a.cores {
		p.kill()
	}
}

// urls returns the addresses of all cores.
func (a *arrangement) urls() []string {
	out := make([]string, len(a.cores))
	for n, p := range a.cores {
		out[n] = "http://" + p.address
	}
	return out
}

//go:build drill && linux

package postgres_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/pgtest/server"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestServerKilledAtOnce is the drill of deploy/on/postgres: a server is killed with all of its processes at once under load, and each payment that was answered
// is looked for. None is lost. That the count sees a loss is shown by a log whose end is gone: the
// server is refused with settings that would lose it. It takes root, as the server is in a PID
// namespace of its own, whose end the kernel makes. CAUSEWAY_DRILL_ROUNDS is how often (5).
func TestServerKilledAtOnce(t *testing.T) {
	rounds := programtest.Number(t, "CAUSEWAY_DRILL_ROUNDS", 5)
	d := newDoomed(t)
	for _, torn := range []bool{false, true} {
		var all lost
		losing := 0
		for range rounds {
			one := d.round(t, torn)
			if all = all.plus(one); one.missing+one.open > 0 {
				losing++
			}
		}
		t.Logf("end of the log gone %t: %d runs, %d payments acknowledged, %d not there, %d there and not captured, %d runs that lost",
			torn, rounds, all.answered, all.missing, all.open, losing)
		if !torn && losing > 0 {
			t.Error("acknowledged payments are lost")
		}
		if torn && losing == 0 {
			t.Error("the count sees no loss where there must be one")
		}
	}
}

// lost is what became of payments that were answered.
type lost struct{ answered, missing, open int }

func (l lost) plus(o lost) lost {
	return lost{l.answered + o.answered, l.missing + o.missing, l.open + o.open}
}

// doomed is a server that is to be killed.
type doomed struct {
	*server.Server
	*cluster
	db      *sql.DB
	program *programtest.Program
}

func newDoomed(t *testing.T) *doomed {
	t.Helper()
	s, err := server.Start(t.Context(), "max_connections=100")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.Folder()) }) // its processes are gone by then
	url := s.URL("postgres", nil)
	d := &doomed{Server: s, db: inspect(t, url), cluster: newCluster(t, url)}
	d.db.SetMaxIdleConns(0) // it outlives the server
	if err := s.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// serve starts the server as the first process of a PID namespace.
func (d *doomed) serve(t *testing.T) {
	t.Helper()
	path, err := server.Find("postgres")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(d.Folder(), "data")
	_ = os.Remove(filepath.Join(data, "postmaster.pid")) // its number is of another namespace
	if os.Geteuid() != 0 {
		t.Fatal("a PID namespace takes root")
	}
	d.program = programtest.Start(t, programtest.Command{
		Path: path, Args: []string{"-D", data, "-k", d.Folder(), "-c", "listen_addresses=", "-c", "max_connections=100"},
		Dir: d.Folder(),
		Change: func(cmd *exec.Cmd) {
			server.AsServer(cmd)
			cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
		},
	})
	programtest.WaitFor(t, "the server serves", func() bool { return d.db.PingContext(t.Context()) == nil })
}

// kill ends the namespace, and returns once all of its processes are gone.
func (d *doomed) kill() { d.program.Kill() }

// round has clients pay for about a second, kills the server, and looks for the acknowledged
// payments. torn removes the end of the log before.
func (d *doomed) round(t *testing.T, torn bool) lost {
	t.Helper()
	d.serve(t)
	n := d.start(t)
	ids := payUntilTheEnd(t, n)
	pause(800*time.Millisecond + rand.N(800*time.Millisecond))
	segment, end := d.endOfLog(t)
	d.kill()
	if torn {
		d.tear(t, segment, end)
	}
	out := lost{}
	answered := ids()
	n.Kill()
	d.serve(t)
	defer d.kill()
	for _, id := range answered {
		var status string
		switch err := d.db.QueryRowContext(t.Context(), "SELECT status FROM transactions WHERE id = $1", id).Scan(&status); {
		case err == sql.ErrNoRows:
			out.missing++
		case err != nil:
			t.Fatal(err)
		case status != "captured":
			out.open++
		}
	}
	out.answered = len(answered)
	return out
}

// payUntilTheEnd has clients pay until they are told that the store is away, and returns what gives the payments that were answered.
func payUntilTheEnd(t *testing.T, n *node) func() []int64 {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	var all []int64
	for range 32 {
		clients.Go(func() {
			for {
				a, err := n.ask(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), "")
				if err != nil || a.status != 201 {
					return
				}
				number, err := id.Parse(id.Transaction, fmt.Sprint(a.body["id"]))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all = append(all, number)
				mu.Unlock()
			}
		})
	}
	return func() []int64 { clients.Wait(); return all }
}

// endOfLog returns the segment of the log that is written now, and how far.
func (d *doomed) endOfLog(t *testing.T) (segment string, end int64) {
	t.Helper()
	err := d.db.QueryRowContext(t.Context(), "SELECT file_name, file_offset FROM pg_walfile_name_offset(pg_current_wal_flush_lsn())").Scan(&segment, &end)
	if err != nil {
		t.Fatal(err)
	}
	return segment, end
}

// tear overwrites the last 64 KiB of the log before end, and all behind, with zeros.
func (d *doomed) tear(t *testing.T, segment string, end int64) {
	t.Helper()
	path := filepath.Join(d.Folder(), "data", "pg_wal", segment)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(text[max(0, end-64<<10):])
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

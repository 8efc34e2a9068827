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

// TestServerKilledAtOnce is the drill of deploy/on/postgres. All processes of a server are killed
// at the same time under load, and no acknowledged payment is lost. The second half removes the end
// of the server's log, to prove that the test finds a loss. The server runs in its own PID
// namespace, which needs root. CAUSEWAY_DRILL_ROUNDS is the number of rounds, 5 by default.
func TestServerKilledAtOnce(t *testing.T) {
	rounds := programtest.Number(t, "CAUSEWAY_DRILL_ROUNDS", 5)
	d := newKilled(t)
	for _, torn := range []bool{false, true} {
		var all lost
		losing := 0
		for range rounds {
			one := d.round(t, torn)
			if all = all.plus(one); one.missing+one.open > 0 {
				losing++
			}
		}
		t.Logf("end of the log removed %t: %d runs, %d acknowledged payments, %d missing, %d not captured, %d runs with loss",
			torn, rounds, all.acknowledged, all.missing, all.open, losing)
		if !torn && losing > 0 {
			t.Error("acknowledged payments are lost")
		}
		if torn && losing == 0 {
			t.Error("no loss was found although the end of the log was removed")
		}
	}
}

// lost counts the acknowledged payments, and the ones that are missing or not captured.
type lost struct{ acknowledged, missing, open int }

func (l lost) plus(o lost) lost {
	return lost{l.acknowledged + o.acknowledged, l.missing + o.missing, l.open + o.open}
}

// killedServer is a server that the test kills.
type killedServer struct {
	*server.Server
	*cluster
	db      *sql.DB
	program *programtest.Program
}

func newKilled(t *testing.T) *killedServer {
	t.Helper()
	s, err := server.Start(t.Context(), "max_connections=100")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.Folder()) }) // its processes are gone by then
	url := s.URL("postgres", nil)
	d := &killedServer{Server: s, db: inspect(t, url), cluster: newCluster(t, url)}
	d.db.SetMaxIdleConns(0) // it outlives the server
	if err := s.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// serve starts the server as the first process of a PID namespace.
func (d *killedServer) serve(t *testing.T) {
	t.Helper()
	path, err := server.Find("postgres")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(d.Folder(), "data")
	_ = os.Remove(filepath.Join(data, "postmaster.pid")) // its process id belongs to another namespace
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
func (d *killedServer) kill() { d.program.Kill() }

// round lets clients pay for about a second, kills the server, and looks for the acknowledged
// payments. torn removes the end of the log before.
func (d *killedServer) round(t *testing.T, torn bool) lost {
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
	acknowledged := ids()
	n.Kill()
	d.serve(t)
	defer d.kill()
	for _, id := range acknowledged {
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
	out.acknowledged = len(acknowledged)
	return out
}

// payUntilTheEnd lets clients pay until the store is unavailable. The function that it returns
// waits for that, and returns the ids of the acknowledged payments.
func payUntilTheEnd(t *testing.T, n *node) func() []int64 {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	var all []int64
	for range 32 {
		clients.Go(func() {
			for {
				a, err := n.send(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), "")
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

// endOfLog returns the current segment of the log, and the offset of its end.
func (d *killedServer) endOfLog(t *testing.T) (segment string, end int64) {
	t.Helper()
	const query = "SELECT file_name, file_offset FROM pg_walfile_name_offset(pg_current_wal_flush_lsn())"
	err := d.db.QueryRowContext(t.Context(), query).Scan(&segment, &end)
	if err != nil {
		t.Fatal(err)
	}
	return segment, end
}

// tear overwrites the last 64 KiB of the log before end, and the rest of the segment, with zeros.
func (d *killedServer) tear(t *testing.T, segment string, end int64) {
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

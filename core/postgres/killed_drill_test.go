//go:build drill && linux

package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// TestServerKilledAtOnce is the drill of deploy/postgres: a server is killed with all of its processes at once under load, and each payment that was answered
// is looked for. With synchronous_commit=on none is lost; that the count sees a loss is shown by a wal writer that stands still. It takes root, as the server
// is in a PID namespace of its own, whose end the kernel makes. CAUSEWAY_DRILL_ROUNDS is how often (5).
func TestServerKilledAtOnce(t *testing.T) {
	rounds := 5
	if text := os.Getenv("CAUSEWAY_DRILL_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	d := newDoomed(t)
	for _, c := range []struct {
		mode    string
		stopped bool
	}{{"on", false}, {"off", false}, {"off", true}} {
		var all lost
		losing := 0
		for range rounds {
			one := d.round(t, c.mode, c.stopped)
			if all = all.plus(one); one.missing+one.open > 0 {
				losing++
			}
		}
		t.Logf("synchronous_commit=%s, wal writer stopped %t: %d runs, %d payments answered, %d not there, %d there and not captured, %d runs that lost",
			c.mode, c.stopped, rounds, all.answered, all.missing, all.open, losing)
		if c.mode == "on" && losing > 0 {
			t.Error("what was answered is lost")
		}
		if c.stopped && losing == 0 {
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
	db  *sql.DB
	cmd *exec.Cmd
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
func (d *doomed) serve(t *testing.T, mode string) {
	t.Helper()
	path, err := server.Find("postgres")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(d.Folder(), "data")
	_ = os.Remove(filepath.Join(data, "postmaster.pid")) // its number is of another namespace
	d.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), path,
		"-D", data, "-k", d.Folder(), "-c", "listen_addresses=", "-c", "max_connections=100", "-c", "synchronous_commit="+mode)
	d.cmd.Dir = d.Folder()
	server.AsServer(d.cmd)
	if d.cmd.SysProcAttr == nil {
		t.Fatal("a PID namespace takes root")
	}
	d.cmd.SysProcAttr.Cloneflags, d.cmd.SysProcAttr.Pdeathsig = syscall.CLONE_NEWPID, syscall.SIGKILL
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	soon(t, time.Minute, "the server serves", func() bool { return d.db.PingContext(t.Context()) == nil })
}

// kill ends the namespace, and returns once all of its processes are gone.
func (d *doomed) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait() // it was killed
}

// round has clients pay for about a second, kills the server, and looks for what they were answered.
func (d *doomed) round(t *testing.T, mode string, stopped bool) lost {
	t.Helper()
	d.serve(t, mode)
	n := d.start(t)
	ids := payUntilTheEnd(t, n)
	pause(800*time.Millisecond + rand.N(800*time.Millisecond))
	if stopped {
		d.stopWALWriter(t)
		pause(150*time.Millisecond + rand.N(250*time.Millisecond))
	}
	d.kill()
	out := lost{}
	answered := ids()
	n.kill()
	d.serve(t, "on")
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

// stopWALWriter has the process stand still that writes what nobody waits for.
func (d *doomed) stopWALWriter(t *testing.T) {
	t.Helper()
	pid := strconv.Itoa(d.cmd.Process.Pid)
	children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range strings.Fields(string(children)) {
		name, err := os.ReadFile(filepath.Join("/proc", child, "cmdline"))
		if number, wrong := strconv.Atoi(child); err == nil && wrong == nil && strings.Contains(string(name), "walwriter") {
			if err := syscall.Kill(number, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("there is no wal writer")
}

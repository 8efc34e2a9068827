package postgres_test

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	// respondIn bounds the time to a response. Two seconds are documented, and with a defect, core
	// waits for a server that is down. The rest is for a machine that is busy with other tests.
	respondIn = 2 * time.Minute
	moveOn    = 5 * time.Second // after this time a client retries at another core
	ours      = "FROM pg_stat_activity WHERE application_name LIKE 'causeway%' "
)

// TestFaultsOfTheServerPostgreSQL: during faults of the server under load, clients get 503, and a
// retry with the idempotency key returns one outcome. No acknowledged payment is lost, and none is
// made twice.
func TestFaultsOfTheServerPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(t *testing.T, server *pgtest.Server, db *sql.DB, l *load){
		"connections are ended": func(t *testing.T, _ *pgtest.Server, db *sql.DB, _ *load) {
			t.Helper()
			for range 60 {
				mustExec(t, db, "SELECT pg_terminate_backend(pid) "+ours)
				pause(50 * time.Millisecond)
			}
		},
		"a backend is killed": func(t *testing.T, server *pgtest.Server, _ *sql.DB, l *load) { // the server recovers
			t.Helper()
			for range 3 {
				db := inspect(t, server.URL(nil)) // the connection of the last one was cut
				own, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := syscall.Kill(int(number(t, db, "SELECT MAX(pid) "+ours)), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				cut := func() bool { return own.PingContext(t.Context()) != nil }
				programtest.WaitFor(t, "the server cuts all connections", cut)
				before := l.done()
				programtest.WaitFor(t, "payments are accepted again", func() bool { return l.done() > before+50 })
			}
		},
		"the server is killed": func(t *testing.T, server *pgtest.Server, _ *sql.DB, l *load) {
			t.Helper()
			for range 2 {
				before := l.done()
				server.Kill()
				server.Again(t)
				programtest.WaitFor(t, "payments are accepted again", func() bool { return l.done() > before+50 })
			}
		},
		"others take all connections": func(t *testing.T, server *pgtest.Server, db *sql.DB, _ *load) {
			t.Helper()
			release := crowd(t, server)
			mustExec(t, db, "SELECT pg_terminate_backend(pid) "+ours) // the waiting connections of the crowd are quicker
			pause(3 * time.Second)
			release()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Own(t)
			n := open(t, server.URL(nil))
			db := inspect(t, server.URL(nil))
			db.SetMaxOpenConns(1)
			if err := db.PingContext(t.Context()); err != nil { // it gets its connection before the crowd takes all
				t.Fatal(err)
			}
			l := loaded(t, 8, respondIn, n)
			programtest.WaitFor(t, "payments are accepted", func() bool { return l.done() > 20 })
			fault(t, server, db, l)
			before := l.done()
			programtest.WaitFor(t, "payments are accepted again", func() bool { return l.done() > before+50 })
			programtest.WaitFor(t, "health is 200", n.healthy(t))
			l.judge(t, server.URL(nil))
		})
	}
}

func (n *node) healthy(t *testing.T) func() bool {
	t.Helper()
	return func() bool {
		a, err := n.send(t.Context(), "GET", "/v1/health", "", "")
		return err == nil && a.status == 200
	}
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// crowd occupies all connections of the server until release.
func crowd(t *testing.T, server *pgtest.Server) (release func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var taking sync.WaitGroup
	release = sync.OnceFunc(func() { cancel(); taking.Wait() })
	t.Cleanup(release)
	for range 4 {
		taking.Go(func() {
			var all []*pgx.Conn
			for ctx.Err() == nil {
				if c, err := pgx.Connect(ctx, server.URL(nil)); err == nil {
					all = append(all, c)
				}
			}
			for _, c := range all {
				_ = c.Close(context.WithoutCancel(ctx)) // it wrote nothing
			}
		})
	}
	full := func() bool {
		c, err := pgx.Connect(ctx, server.URL(nil))
		if err == nil {
			_ = c.Close(ctx)
		}
		return err != nil
	}
	programtest.WaitFor(t, "all connections are taken", full)
	return release
}

// TestAPausedCorePostgreSQL: one of two cores is paused under load. The server ends its idle
// transaction meanwhile, and the other core reclaims its operations. After the pause each operation
// has one effect.
func TestAPausedCorePostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	c := newCluster(t, with(t, server.URL(nil), url.Values{"idle_in_transaction_session_timeout": {"1000"}}))
	stopped, other := c.start(t), c.start(t)
	l := loaded(t, 8, moveOn, stopped, other)
	for range 2 {
		before := l.done()
		programtest.WaitFor(t, "payments are accepted", func() bool { return l.done() > before+50 })
		stopped.Pause()
		pause(8 * time.Second)
		stopped.Resume()
	}
	before := l.done()
	programtest.WaitFor(t, "payments are accepted", func() bool { return l.done() > before+50 })
	l.judge(t, server.URL(nil))
}

// TestPasswordRotatedPostgreSQL: a core with an old password returns 503 store_unavailable when it
// needs new connections. It recovers without a restart when the password is corrected at the
// server, or in the file with its URL.
func TestPasswordRotatedPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db := inspect(t, server.URL(nil))
	mustExec(t, db, "CREATE ROLE shop SUPERUSER LOGIN PASSWORD 'first'")
	hba := "local all postgres trust\nlocal all all scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(server.Folder(), "data", "pg_hba.conf"), []byte(hba), 0o600); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "SELECT pg_reload_conf()")
	file := filepath.Join(t.TempDir(), "url")
	write := func(password string) {
		t.Helper()
		text := with(t, server.URL(nil), url.Values{"user": {"shop"}, "password": {password}})
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	database, err := postgres.Rotating(func() (secret.String, error) {
		return postgres.URL(func(name string) string { return map[string]string{postgres.Variable + "_FILE": file}[name] })
	})
	if err != nil {
		t.Fatal(err)
	}
	n := openOn(t, database)
	l := loaded(t, 4, respondIn, n)
	rotate := func(password string) {
		t.Helper()
		mustExec(t, db, "ALTER ROLE shop PASSWORD '"+password+"'")
		mustExec(t, db, "SELECT pg_terminate_backend(pid, 60000) "+ours) // when they have ended
	}
	for corrected, correct := range map[string]func(){
		"at the server": func() { rotate("first") }, "in the file": func() { write("second") },
	} {
		write("first")
		rotate("first")
		before := l.done()
		programtest.WaitFor(t, "payments are accepted", func() bool { return l.done() > before })
		rotate("second")
		programtest.WaitFor(t, "no connection is left", func() bool { // of a login just before
			return number(t, db, "SELECT COUNT(pg_terminate_backend(pid, 60000)) "+ours) == 0
		})
		for _, route := range routes[:2] {
			n.wantUnavailable(t, corrected, strings.ReplaceAll(route, "%s", ""))
		}
		if a, err := n.send(t.Context(), "GET", "/v1/health", "", ""); err != nil || a.status != 503 {
			t.Errorf("%s: health: got %d, %v", corrected, a.status, err)
		}
		correct()
		before = l.done()
		programtest.WaitFor(t, "payments are accepted again", func() bool { return l.done() > before })
	}
	programtest.WaitFor(t, "health is 200", n.healthy(t))
	l.judge(t, server.URL(nil))
}

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
	// tellIn bounds the time to a response. Two seconds are promised, and a defect waits for a server
	// that is away. The rest is for a machine that is busy with other tests.
	tellIn = 2 * time.Minute
	moveOn = 5 * time.Second // how long they wait before they ask another core
	ours   = "FROM pg_stat_activity WHERE application_name LIKE 'causeway%' "
)

// TestFaultsOfTheServerPostgreSQL: whatever becomes of the server under load, clients are told that it is away, and those that ask again with their key see
// one outcome; nothing that was acknowledged is lost, and nothing is made twice.
func TestFaultsOfTheServerPostgreSQL(t *testing.T) {
	t.Parallel()
	for what, fault := range map[string]func(t *testing.T, server *pgtest.Server, db *sql.DB, l *load){
		"connections are ended": func(t *testing.T, _ *pgtest.Server, db *sql.DB, _ *load) {
			t.Helper()
			for range 60 {
				mustExec(t, db, "SELECT pg_terminate_backend(pid) "+ours)
				pause(50 * time.Millisecond)
			}
		},
		"a backend is killed": func(t *testing.T, server *pgtest.Server, _ *sql.DB, l *load) { // of which the server recovers
			t.Helper()
			for range 3 {
				db := inspect(t, server.URL(nil)) // the last one's connection was cut
				own, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := syscall.Kill(int(number(t, db, "SELECT MAX(pid) "+ours)), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				programtest.WaitFor(t, "the server cuts all connections", func() bool { return own.PingContext(t.Context()) != nil })
				before := l.done()
				programtest.WaitFor(t, "payments are taken again", func() bool { return l.done() > before+50 })
			}
		},
		"the server is killed": func(t *testing.T, server *pgtest.Server, _ *sql.DB, l *load) {
			t.Helper()
			for range 2 {
				before := l.done()
				server.Kill()
				server.Again(t)
				programtest.WaitFor(t, "payments are taken again", func() bool { return l.done() > before+50 })
			}
		},
		"others take all connections": func(t *testing.T, server *pgtest.Server, db *sql.DB, _ *load) {
			t.Helper()
			release := crowd(t, server)
			mustExec(t, db, "SELECT pg_terminate_backend(pid) "+ours) // the others are quicker
			pause(3 * time.Second)
			release()
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Own(t)
			n := open(t, server.URL(nil))
			db := inspect(t, server.URL(nil))
			db.SetMaxOpenConns(1)
			if err := db.PingContext(t.Context()); err != nil { // it has its connection before others take all
				t.Fatal(err)
			}
			l := loaded(t, 8, tellIn, n)
			programtest.WaitFor(t, "payments are taken", func() bool { return l.done() > 20 })
			fault(t, server, db, l)
			before := l.done()
			programtest.WaitFor(t, "payments are taken again", func() bool { return l.done() > before+50 })
			programtest.WaitFor(t, "health is green", n.healthy(t))
			l.judge(t, server.URL(nil))
		})
	}
}

func (n *node) healthy(t *testing.T) func() bool {
	t.Helper()
	return func() bool {
		a, err := n.ask(t.Context(), "GET", "/v1/health", "", "")
		return err == nil && a.status == 200
	}
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// crowd takes every connection that the server gives until it is released.
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

// TestACoreStandsStillPostgreSQL: one of two cores stands still under load for longer than the server bears with a command that goes no further, and longer
// than the other one bears with a core that says nothing. When it goes on, what it was at counts once.
func TestACoreStandsStillPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	c := newCluster(t, with(t, server.URL(nil), url.Values{"idle_in_transaction_session_timeout": {"1000"}}))
	stopped, other := c.start(t), c.start(t)
	l := loaded(t, 8, moveOn, stopped, other)
	for range 2 {
		before := l.done()
		programtest.WaitFor(t, "payments are taken", func() bool { return l.done() > before+50 })
		stopped.Pause()
		pause(8 * time.Second)
		stopped.Resume()
	}
	before := l.done()
	programtest.WaitFor(t, "payments are taken", func() bool { return l.done() > before+50 })
	l.judge(t, server.URL(nil))
}

// TestPasswordRotatedPostgreSQL: a core whose password is no longer the server's says that the store is away once it needs new connections, and goes on by
// itself when it is put right: at the server, or in the file that has its URL.
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
	l := loaded(t, 4, tellIn, n)
	rotate := func(password string) {
		t.Helper()
		mustExec(t, db, "ALTER ROLE shop PASSWORD '"+password+"'")
		mustExec(t, db, "SELECT pg_terminate_backend(pid, 60000) "+ours) // when they have ended
	}
	for right, put := range map[string]func(){"at the server": func() { rotate("first") }, "in the file": func() { write("second") }} {
		write("first")
		rotate("first")
		before := l.done()
		programtest.WaitFor(t, "payments are taken", func() bool { return l.done() > before })
		rotate("second")
		programtest.WaitFor(t, "no connection is left", func() bool { // that was let in just before
			return number(t, db, "SELECT COUNT(pg_terminate_backend(pid, 60000)) "+ours) == 0
		})
		for _, route := range routes[:2] {
			n.wantUnavailable(t, right, strings.ReplaceAll(route, "%s", ""))
		}
		if a, err := n.ask(t.Context(), "GET", "/v1/health", "", ""); err != nil || a.status != 503 {
			t.Errorf("%s: health: got %d, %v", right, a.status, err)
		}
		put()
		before = l.done()
		programtest.WaitFor(t, "payments are taken again", func() bool { return l.done() > before })
	}
	programtest.WaitFor(t, "health is green", n.healthy(t))
	l.judge(t, server.URL(nil))
}

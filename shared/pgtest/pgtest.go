package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Main is TestMain for a package that uses this one: it stops the server in the end.
func Main(m *testing.M) {
	code := m.Run()
	if err := one.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Schema returns the URL of an empty schema on the server of this test program, which is started when it is first asked for.
func Schema(tb testing.TB) string {
	tb.Helper()
	one.once.Do(one.start)
	if one.err != nil {
		tb.Fatal(one.err)
	}
	schema := fmt.Sprintf("t%d", one.schemas.Add(1))
	db, err := sql.Open("pgx", one.url(nil))
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	if _, err := db.ExecContext(tb.Context(), "CREATE SCHEMA "+schema); err != nil {
		tb.Fatal(err)
	}
	return one.url(url.Values{"search_path": {schema}})
}

// one is the server of this test program.
var one server

// server is a PostgreSQL server in a folder of its own, without a port: it is reached by a socket in that folder.
type server struct {
	once    sync.Once
	err     error
	dir     string
	schemas atomic.Int64
}

func (s *server) url(more url.Values) string {
	q := url.Values{"host": {s.dir}, "user": {"postgres"}, "sslmode": {"disable"}}
	for k, v := range more {
		q[k] = v
	}
	return "postgres:///postgres?" + q.Encode()
}

func (s *server) start() {
	dir, err := os.MkdirTemp("", "pg") // a socket's path must be short
	if err == nil {
		s.dir = dir
		err = errors.Join(
			give(dir),
			s.run("initdb", "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"),
		)
	}
	if err == nil {
		err = s.serve()
	}
	s.err = err
}

func (s *server) stop() error {
	if s.dir == "" {
		return nil
	}
	return errors.Join(s.run("pg_ctl", "stop", "-m", "immediate", "-D", filepath.Join(s.dir, "data")), os.RemoveAll(s.dir))
}

// run runs a program of PostgreSQL, as somebody who is not root: the server refuses that.
func (s *server) run(name string, args ...string) error {
	path, err := find(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), path, args...) //nolint:gosec // the arguments are our own
	cmd.Dir = s.dir
	asServer(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// find looks for a program of PostgreSQL, which Debian does not put on PATH.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no %s: install PostgreSQL, on Debian by apt-get install postgresql", name)
	}
	if err != nil {
		return "", err
	}
	return found[len(found)-1], nil
}

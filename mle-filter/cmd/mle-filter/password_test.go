package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestPasswordRotated changes the server's password. The filter becomes unhealthy when it needs new
// connections. It recovers without a restart once the configured file has the new URL.
func TestPasswordRotated(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db, err := pgx.Connect(t.Context(), server.URL(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context()) //nolint:errcheck // a test's connection
	exec := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := db.Exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hba := filepath.Join(server.Folder(), "data", "pg_hba.conf")
	write(hba, "local all postgres trust\nlocal all all scram-sha-256\n")
	exec("CREATE ROLE filter SUPERUSER LOGIN PASSWORD 'first'", "SELECT pg_reload_conf()")
	source := func(password string) {
		t.Helper()
		write(filepath.Join(dir, "url"), server.URL(url.Values{"user": {"filter"}, "password": {password}})+"\n")
	}
	source("first")
	write(filepath.Join(dir, "filter.yaml"), fmt.Sprintf("keys: {file: %q}\n", filepath.Join(dir, "url")))
	m := &Main{Stderr: io.Discard}
	flags := []string{
		"--config", filepath.Join(dir, "filter.yaml"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
	}
	if err := m.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	m.Config.V1, m.Config.KEK, m.Config.RSABits, m.Config.SpareKeys = service(t).URL, kek, 2048, 1
	_, operators, stop := run(t, m)
	defer stop()
	wantHealth(t, operators, 200)
	exec("ALTER ROLE filter PASSWORD 'second'",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'filter'")
	wantHealth(t, operators, 503)
	source("second")
	wantHealth(t, operators, 200)
}

// wantHealth waits until a filter's health has that status.
func wantHealth(t *testing.T, operators string, want int) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprint("health is ", want), func() bool { return status(t, operators+"/health") == want })
}

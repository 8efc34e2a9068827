package postgres_test

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestURLsThatAreRefused: each of these URLs would lose data later, without an error.
func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	latin, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	latin.Path = "/latin"
	raw := mustDial(t, at)
	mustRun(t, raw, "DROP DATABASE IF EXISTS latin",
		"CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	const invalid = `database URL: invalid patience "%s": want a duration such as "5s"`
	for source, want := range map[string]string{
		at + patient + "&synchronous_commit=off":                "synchronous_commit",
		at + patient + "&synchronous_commit=local":              "synchronous_commit",
		at + patient + "&options=-c%20synchronous_commit%3Doff": "synchronous_commit",
		at + patient + "&synchronous_commit=remote_write":       "leave it out of the URL",
		at + "&patience=abc":                                    fmt.Sprintf(invalid, "abc"),
		at + "&patience=0s":                                     fmt.Sprintf(invalid, "0s"),
		at + "&patience=":                                       fmt.Sprintf(invalid, ""),
		latin.String() + patient:                                "UTF8",
	} {
		db, err := postgres.Open(t.Context(), source, clock.System())
		if err == nil {
			t.Errorf("%s: opened, %v", source, db.Close())
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", source, err, want)
		}
	}
}

// TestClientEncoding: the client encoding is UTF-8, also if the URL sets another one. Every client
// reads a text as it was written.
func TestClientEncoding(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	const name = "é😀"
	for i, more := range []string{"", "&client_encoding=LATIN1", "&options=-c%20client_encoding%3DLATIN1"} {
		db, err := postgres.Open(t.Context(), at+more+patient, clock.System())
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		err = db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(int64(i+1), name) })
		if err != nil {
			t.Errorf("%s: %v", more, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	var n int
	const count = "SELECT count(*) FROM merchants WHERE name = $1"
	if err := mustDial(t, at).QueryRow(t.Context(), count, name).Scan(&n); err != nil || n != 3 {
		t.Errorf("got %d merchants with the name %s, %v, want 3", n, name, err)
	}
}

// TestSettingsOfRoleAndDatabase: the effective synchronous_commit counts, wherever it is set. A
// value that can lose acknowledged payments, at a crash or at a failover, is refused. The error
// names the remedy.
func TestSettingsOfRoleAndDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	raw := mustDial(t, server.URL(nil))
	mustRun(t, raw, "CREATE ROLE shop LOGIN SUPERUSER", "CREATE DATABASE shop")
	at := func(more string) string { return server.Server.URL("shop", url.Values{"user": {"shop"}}) + more }
	for _, c := range []struct{ set, value, more, want string }{
		{
			"ALTER ROLE shop", "off", "",
			"synchronous_commit = off, which loses acknowledged payments: ALTER ROLE … RESET synchronous_commit",
		},
		{"ALTER ROLE shop", "local", "", "synchronous_commit = local"},
		{"ALTER ROLE shop", "remote_write", "", "synchronous_commit = remote_write"},
		{"ALTER ROLE shop", "remote_apply", "", ""},
		{"ALTER ROLE shop", "off", "&synchronous_commit=on", ""},
		{"ALTER DATABASE shop", "off", "", "ALTER DATABASE … RESET synchronous_commit"},
		{"ALTER ROLE shop IN DATABASE shop", "off", "", "ALTER ROLE … IN DATABASE … RESET synchronous_commit"},
	} {
		mustRun(t, raw, c.set+" SET synchronous_commit = "+c.value)
		refusedFor(t, at(c.more), c.want)
		mustRun(t, raw, c.set+" RESET synchronous_commit")
	}
	server.Set(t, "synchronous_commit", "off")
	refusedFor(t, at(""), "set it to on in the configuration of the server")
}

// TestServerThatDoesNotFlush: a server that does not flush is refused. It loses more than its last
// commits when the machine fails.
func TestServerThatDoesNotFlush(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	for _, name := range []string{"fsync", "full_page_writes"} {
		server.Set(t, name, "off")
		const remedy = " = off, which loses acknowledged payments: set it to on in the configuration of the server"
		refusedFor(t, server.URL(nil), name+remedy)
		server.Set(t, name, "on")
		refusedFor(t, server.URL(nil), "")
	}
}

// TestReloadUnderConnections: the server reloads its configuration. Commits of existing sessions
// still wait for the standby. If the server stops flushing, commands return ErrUnavailable from the
// next heartbeat on, until it flushes again.
func TestReloadUnderConnections(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db, err := postgres.Open(t.Context(), server.URL(nil), clock.System())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the test checks each write
	write := func(n int64) error {
		return db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(n, "m") })
	}
	if err := write(1); err != nil { // opens a connection
		t.Fatal(err)
	}
	server.Set(t, "synchronous_commit", "off")
	server.Standby(t, "nobody")
	if err := write(2); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want a commit that waits for the standby", err)
	}
	server.Standby(t, "")
	server.Set(t, "synchronous_commit", "on")
	for _, name := range []string{"fsync", "full_page_writes"} {
		server.Set(t, name, "off")
		for heartbeat(t, db) == nil {
			runtime.Gosched()
		}
		if err := write(3); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), name+" = off") {
			t.Errorf("%s: got %v, want the command to be refused", name, err)
		}
		server.Set(t, name, "on")
		for heartbeat(t, db) != nil {
			runtime.Gosched()
		}
	}
	if err := write(4); err != nil {
		t.Error(err)
	}
}

func heartbeat(t *testing.T, db *store.DB) error {
	t.Helper()
	if err := t.Context().Err(); err != nil {
		t.Fatal(err)
	}
	_, _, err := db.Heartbeat(t.Context(), 1, time.Second, func(time.Time) bool { return true })
	return err
}

// refusedFor checks that a store cannot be opened, and that the error contains want. With an empty
// want the store must open.
func refusedFor(t *testing.T, source, want string) {
	t.Helper()
	db, err := postgres.Open(t.Context(), source+patient, clock.System())
	switch {
	case err == nil:
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if want != "" {
			t.Errorf("%s: opened, want %q", source, want)
		}
	case want == "" || !strings.Contains(err.Error(), want):
		t.Errorf("%s: got %v, want %q", source, err, want)
	}
}

func mustRun(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

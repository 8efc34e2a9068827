package keystore_test

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// TestSourcesThatAreNoFile checks that a mistyped database source does not create a file of that
// name, and that the error does not show it.
func TestSourcesThatAreNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, source := range []string{
		"host=127.0.0.1 dbname=mle password=hunter2", "dbname=mle", "host=/run/postgresql user=shop",
		"postgre://shop:hunter2@127.0.0.1/mle", "Postgres://shop:hunter2@127.0.0.1/mle", "mysql://x/y",
	} {
		for _, source := range []string{source, filepath.Join(dir, "x") + " " + source} {
			db, err := keystore.Open(t.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open})
			if err == nil {
				t.Errorf("%s: opened, %v", source, db.Close())
			} else if !strings.Contains(err.Error(), "looks like a database") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: got %v", source, err)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files were made: %v, %v", left, err)
	}
}

// TestURLsOfPostgreSQL checks that no setting in the URL can lose keys or corrupt text.
func TestURLsOfPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	if db, err := keystore.Open(
		t.Context(), keystore.Config{Source: at + "&synchronous_commit=off", PostgreSQL: postgres.Open},
	); err == nil {
		t.Errorf("opened, %v", db.Close())
	} else if !strings.Contains(err.Error(), "synchronous_commit") {
		t.Errorf("got %v", err)
	}
	const name = "é"
	spoiled, plain := MustOpen(t, at+"&client_encoding=LATIN1", clock.NewFake(birth)), MustOpen(
		t, at, clock.NewFake(birth),
	)
	MustUpdate(t, spoiled, func(tx *keystore.Tx) error {
		return tx.PutResponseKey(&keystore.ResponseKey{
			Tenant: shop, Kid: name, Alg: ec, JWK: []byte("j"), CreatedAt: tx.Now, Challenge: []byte("h"),
			ChallengeExpiresAt: tx.Now.Add(time.Hour),
		})
	})
	if keys, err := plain.ResponseKeys(t.Context(), shop); err != nil || len(keys) != 1 || keys[0].Kid != name {
		t.Errorf("got %v, %v, want one that is called %s", keys, err, name)
	}
}

// TestServerThatLosesKeys checks that Open rejects a server that could lose keys. A transaction
// after a reload of its configuration must also fail.
func TestServerThatLosesKeys(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db := MustOpen(t, server.URL(nil), clock.NewFake(birth))
	write := func(kid string) error {
		return db.Update(t.Context(), func(tx *keystore.Tx) error {
			return tx.PutResponseKey(&keystore.ResponseKey{
				Tenant: shop, Kid: kid, Alg: ec, JWK: []byte("j"), CreatedAt: tx.Now, Challenge: []byte("h"),
				ChallengeExpiresAt: tx.Now.Add(time.Hour),
			})
		})
	}
	if err := write("first"); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		server.Set(t, name, "off")
		other, err := keystore.Open(t.Context(), keystore.Config{Source: server.URL(nil), PostgreSQL: postgres.Open})
		if err == nil {
			t.Errorf("%s: opened, %v", name, other.Close())
		} else if !strings.Contains(err.Error(), name+" = off, which loses registered keys") {
			t.Errorf("%s: got %v", name, err)
		}
		err = write(strconv.Itoa(i))
		if pinned := name == "synchronous_commit"; pinned != (err == nil) || !pinned && !db.IsUnavailable(err) {
			t.Errorf("%s: the write: got %v", name, err)
		}
		server.Set(t, name, "on")
	}
	if err := write("last"); err != nil {
		t.Error(err)
	}
}

// TestFileWithoutSharedMemory checks that Open rejects such a file: SQLite then uses another
// journal mode and returns no error.
func TestFileWithoutSharedMemory(t *testing.T) {
	t.Parallel()
	e, err := keystore.OpenOn(t.Context(), filepath.Join(t.TempDir(), "x.db"), "unix-dotfile")
	if err == nil {
		t.Fatalf("opened, %v", errors.Join(e.Write.Close(), e.Read.Close()))
	}
	if !errors.Is(err, sqlitewal.ErrNotDurable) {
		t.Errorf("got %v", err)
	}
}

// TestEncodingOfTheDatabase checks that a database whose encoding cannot store every text is
// rejected.
func TestEncodingOfTheDatabase(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(pgtest.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	// With -count 2 the database exists at the second run.
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS latin", "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	at.Path = "/latin"
	if db, err := keystore.Open(t.Context(), keystore.Config{Source: at.String(), PostgreSQL: postgres.Open}); err == nil {
		t.Errorf("opened, %v", db.Close())
	} else if !strings.Contains(err.Error(), "UTF8") {
		t.Errorf("got %v", err)
	}
}

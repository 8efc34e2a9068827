package postgres_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestURLsThatAreRefused: each would lose something later, and nobody would know why.
func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	latin, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	latin.Path = "/latin"
	raw := mustDial(t, at)
	for _, s := range []string{"DROP DATABASE IF EXISTS latin", "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"} {
		if _, err := raw.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	for source, want := range map[string]string{
		at + "&synchronous_commit=off":                "synchronous_commit",
		at + "&synchronous_commit=local":              "synchronous_commit",
		at + "&options=-c%20synchronous_commit%3Doff": "synchronous_commit",
		at + "&patience=abc":                          "patience",
		at + "&patience=0s":                           "patience",
		at + "&patience=":                             "patience",
		latin.String():                                "UTF8",
	} {
		db, err := postgres.Open(t.Context(), source, clock.System())
		if err == nil {
			t.Errorf("%s: opened, %v", source, db.Close())
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", source, err, want)
		}
	}
}

// TestClientEncoding is UTF-8 whatever is said: a text is read as it was written, by everybody.
func TestClientEncoding(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	const name = "é😀"
	for i, more := range []string{"", "&client_encoding=LATIN1", "&options=-c%20client_encoding%3DLATIN1"} {
		db, err := postgres.Open(t.Context(), at+more, clock.System())
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(int64(i+1), name) }); err != nil {
			t.Errorf("%s: %v", more, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	var n int
	if err := mustDial(t, at).QueryRow(t.Context(), "SELECT count(*) FROM merchants WHERE name = $1", name).Scan(&n); err != nil || n != 3 {
		t.Errorf("%d merchants are called so, want 3: %v", n, err)
	}
}

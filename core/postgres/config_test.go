package postgres_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestDatabase(t *testing.T) {
	t.Parallel()
	if db, err := postgres.Database(secret.String{}); db != nil || err != nil {
		t.Errorf("no URL: got a database %t, %v", db != nil, err)
	}
	for _, url := range []string{"mysql://u:hunter2@h/d", "hunter2", "file:hunter2.db"} {
		if _, err := postgres.Database(secret.New(url)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	}
	got, err := postgres.URL(func(name string) string { return map[string]string{"CAUSEWAY_STORE": "postgres://x"}[name] })
	if err != nil || got.Reveal() != "postgres://x" {
		t.Errorf("got %q, %v", got.Reveal(), err)
	}
}

// TestCommandsPostgreSQL: every command works on the server. Its errors name the missing setting,
// and never contain the password.
func TestCommandsPostgreSQL(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	c := newCluster(t, store)
	if !strings.Contains(c.run(t, "merchants", "list"), "Shop") {
		t.Error("the merchant is not listed")
	}
	for _, args := range [][]string{{"backup", "--to", t.TempDir() + "/b"}, {"restore", "--from", t.TempDir()}} {
		if out := c.refused(t, args...); !strings.Contains(out, "pg_basebackup") {
			t.Errorf("%s: got %s", args[0], out)
		}
	}
	refused := func(reason string, c cluster, want string, args ...string) {
		t.Helper()
		if out := c.refused(t, args...); !strings.Contains(out, want) {
			t.Errorf("%s: got %s", reason, out)
		}
	}
	refused("without a KEK", cluster{store: store}, "CAUSEWAY_VAULT_KEK", "merchants", "list")
	other := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{2}, 32))
	refused("another KEK", cluster{store: store, kek: other}, "key-encryption key", "merchants", "list")
	refused("no server", cluster{store: "postgres://u:hunter2@127.0.0.1:1/d", kek: c.kek}, "store", "merchants", "list")
	refused("without a journal", *c, "--simulator-journal", "serve", "--listen", "127.0.0.1:0")
	refused("no URL", cluster{store: "u:hunter2@h/d", kek: c.kek}, "postgres://", "merchants", "list")

	n := c.start(t)
	token := n.must(t, 201, "POST", "/v1/tokens", visa, "")["value"].(string)
	n.Kill()
	again := cluster{store: c.store, kek: other, key: c.key, journal: c.journal}
	for range 2 { // the second time there is nothing to do
		cmd := again.command(t, "vault", "rewrap")
		cmd.Env = append(cmd.Env, "CAUSEWAY_VAULT_OLD_KEK="+c.kek)
		programtest.MustOutput(t, cmd)
	}
	refused("the KEK before", *c, "key-encryption key", "merchants", "list")
	again.start(t).must(t, 201, "POST", "/v1/transactions", payment(100, token, ""), "")

	db := inspect(t, store)
	// In this order: without the root secret the keyset is not read.
	for _, lost := range [][2]string{{"vault.keyset", "cards"}, {"root", "API keys"}} {
		row, want := lost[0], lost[1]
		if _, err := db.ExecContext(t.Context(), "DELETE FROM secrets WHERE name = $1", row); err != nil {
			t.Fatal(err)
		}
		out := again.refused(t, "serve", "--listen", "127.0.0.1:0", "--simulator-journal", c.journal)
		if !strings.Contains(out, "is missing") || !strings.Contains(out, "the row "+row) || !strings.Contains(out, want) {
			t.Errorf("without the row %s: got %s", row, out)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM secrets WHERE name = '"+row+"'"); got != 0 {
			t.Errorf("%s was created again", row)
		}
	}
}

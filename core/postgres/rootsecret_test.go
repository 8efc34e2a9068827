package postgres_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestRotateRootTwoCoresPostgreSQL: one of two cores on a database notices a rotation by an API key
// that the other core has made. Both accept each other's keys from before and after. A third core,
// which starts later, accepts every key that was used.
func TestRotateRootTwoCoresPostgreSQL(t *testing.T) {
	t.Parallel()
	url, c := pgtest.Schema(t), clock.NewFake(time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC))
	database, err := postgres.Database(secret.New(url))
	if err != nil {
		t.Fatal(err)
	}
	cfg := core.Config{
		Database: database, Clock: c, ClockApart: true,
		VaultKEK:         secret.New(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))),
		SimulatorJournal: filepath.Join(t.TempDir(), "simulator.journal"),
	}
	start := func() (*core.Core, *node) {
		one, err := core.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(one.Handler())
		t.Cleanup(func() {
			server.Close()
			if err := one.Close(); err != nil {
				t.Error(err)
			}
		})
		return one, &node{cluster: &cluster{}, url: server.URL}
	}
	a, first := start()
	merchant, err := a.Admin().CreateMerchant(t.Context(), "Shop")
	if err != nil {
		t.Fatal(err)
	}
	mint := func(by *core.Core) string {
		t.Helper()
		key, err := by.Admin().CreateKey(t.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		return key.Reveal()
	}
	b, second := start()
	keys := []string{mint(a), mint(b)}
	mint(a) // never used
	good := func(at *node) {
		t.Helper()
		for i, key := range keys {
			at.cluster.key = key
			if got, err := at.send(t.Context(), "GET", "/v1/api_keys/current", "", ""); err != nil || got.status != 200 {
				t.Errorf("key %d: got %d, %v", i, got.status, err)
			}
		}
	}
	if err := a.Admin().RotateRoot(t.Context(), io.Discard); err != nil { // a has the new version, b has not read it
		t.Fatal(err)
	}
	keys = append(keys, mint(a), mint(b))
	c.Advance(2 * time.Minute)
	keys = append(keys, mint(a), mint(b)) // under the new version, and late under the old one
	good(second)
	good(first)
	keys = append(keys, mint(b))
	c.Advance(24 * time.Hour)
	good(first)
	if err := a.Admin().DropOldRoots(t.Context(), io.Discard); err == nil {
		t.Error("dropped while keys need it")
	}
	good(second)
	_, third := start()
	good(third)
}

// TestRotateRootKilledPostgreSQL: a rotation that is killed at any moment leaves a root secret that
// opens, under cores that serve.
func TestRotateRootKilledPostgreSQL(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, pgtest.Schema(t))
	n := cluster.start(t)
	for range 12 {
		rotation := programtest.Start(t, cluster.command(t, "secrets", "rotate"))
		pause(rand.N(200 * time.Millisecond))
		rotation.Kill()
		n.must(t, 201, "POST", "/v1/transactions", payment(100, "card", ""), "")
	}
	cluster.start(t).must(t, 201, "POST", "/v1/transactions", payment(100, "card", ""), "")
}

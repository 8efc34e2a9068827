package keystore_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestWriteThatNoStandbyHas: while no standby confirms a write, nobody is told that it took place and nobody sees it, whoever ceases to wait for it: it would
// be lost with the primary. Once one does, it is there.
func TestWriteThatNoStandbyHas(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	a, b := MustOpen(t, server.URL(nil), clock.NewFake(birth)), MustOpen(t, server.URL(nil), clock.NewFake(birth))
	db, err := sql.Open("pgx", server.URL(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	exec := func(ctx context.Context, statements ...string) (err error) {
		for _, statement := range statements {
			if _, err = db.ExecContext(ctx, statement); err != nil && ctx == t.Context() {
				t.Fatal(err)
			}
		}
		return err
	}
	standbys := func(names string) {
		_ = exec(t.Context(), "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'", "SELECT pg_reload_conf()")
	}
	waits := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		return exec(ctx, "INSERT INTO other VALUES (1)") != nil
	}
	_ = exec(t.Context(), "CREATE TABLE other (n INTEGER)")
	put := func(ctx context.Context, on *keystore.DB) error {
		return on.Update(ctx, func(tx *keystore.Tx) error {
			return tx.PutResponseKey(&keystore.ResponseKey{
				Tenant: shop, Kid: "a", Alg: ec, JWK: []byte("j"), CreatedAt: tx.Now, Challenge: []byte("h"), ChallengeExpiresAt: tx.Now.Add(time.Hour),
			})
		})
	}
	seen := func() bool {
		keys, err := b.ResponseKeys(t.Context(), shop)
		if err != nil {
			t.Fatal(err)
		}
		return len(keys) > 0
	}
	standbys("nobody")
	for !waits() { // the server has not read that yet
		continue
	}
	impatient, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for who, ctx := range map[string]context.Context{"impatient": impatient, "patient": context.WithoutCancel(t.Context())} {
		if err := put(ctx, a); err == nil || !a.IsUnavailable(err) {
			t.Errorf("%s: got %v, want it to be unavailable", who, err)
		}
	}
	if seen() {
		t.Error("it is seen by all, and no standby has it")
	}
	standbys("")
	for over := time.After(30 * time.Second); !seen(); {
		select {
		case <-over:
			t.Fatal("it is not there")
		default:
		}
	}
	if err := put(t.Context(), b); err != nil {
		t.Error(err)
	}
}

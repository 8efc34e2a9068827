package keystore_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var birth = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const (
	shop  = "mer_01jd8m3k2q4r5/live"
	other = "mer_01jd8m3k2q4r6/live"
	ec    = "ECDH-ES+A256KW"
)

// world is one store, opened by two processes with the same clock.
type world struct {
	*testing.T
	a, b  *keystore.DB
	clock *clock.Fake
}

// each runs a test on every engine.
func each(t *testing.T, test func(world)) {
	t.Helper()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source, c := e.Source(t), clock.NewFake(birth)
			test(world{t, MustOpen(t, source, c), MustOpen(t, source, c), c})
		})
	}
}

func MustOpen(t *testing.T, source string, c clock.Clock) *keystore.DB {
	t.Helper()
	db, err := keystore.Open(t.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// MustUpdate runs one transaction.
func MustUpdate(t *testing.T, db *keystore.DB, fn func(*keystore.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// current returns a key that is current from that time on.
func current(kid, tenant string, at time.Time) *keystore.Key {
	return &keystore.Key{
		Kid: kid, Tenant: tenant, Alg: ec, JWK: []byte("jwk " + kid), Sealed: []byte("sealed " + kid), CreatedAt: at,
		NotBefore: at, ActivatedAt: at,
		RotateAt: at.Add(time.Hour), DueAt: at.Add(time.Minute),
	}
}

func announcement(id string) keystore.Announcement {
	return keystore.Announcement{ID: id, Tenant: shop, Type: "mle.key.rotated", Body: []byte(id)}
}

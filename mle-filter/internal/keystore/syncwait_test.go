package keystore_test

import (
	"context"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestWriteThatNoStandbyHas checks a write that no standby has confirmed, which would be lost with
// the primary. It must neither succeed nor be visible, even if its caller gives up. After a
// confirmation it is visible.
func TestWriteThatNoStandbyHas(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	a, b := MustOpen(t, server.URL(nil), clock.NewFake(birth)), MustOpen(t, server.URL(nil), clock.NewFake(birth))
	put := func(ctx context.Context, on *keystore.DB) error {
		return on.Update(ctx, func(tx *keystore.Tx) error {
			return tx.PutResponseKey(&keystore.ResponseKey{
				Tenant: shop, Kid: "a", Alg: ec, JWK: []byte("j"), CreatedAt: tx.Now, Challenge: []byte("h"),
				ChallengeExpiresAt: tx.Now.Add(time.Hour),
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
	server.Standby(t, "nobody")
	// The impatient caller gives up while the write waits for the standby. A second is less than the
	// store waits.
	for name, timeout := range map[string]time.Duration{"impatient": time.Second, "patient": programtest.Patience} {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		if err := put(ctx, a); err == nil || !a.IsUnavailable(err) {
			t.Errorf("%s: got %v, want it to be unavailable", name, err)
		}
		cancel()
	}
	if seen() {
		t.Error("it is seen by all, and no standby has it")
	}
	server.Standby(t, "")
	programtest.WaitFor(t, "the key is seen", seen)
	if err := put(t.Context(), b); err != nil {
		t.Error(err)
	}
}

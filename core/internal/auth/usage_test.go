package auth_test

import (
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestUsageIsWrittenInBatches: the use of more keys than one commit holds is written, each once. An
// older time never replaces a newer one.
func TestUsageIsWrittenInBatches(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a := auth.New(s.DB, s.Clock, coretest.Roots())
	const many = 300
	for range many {
		k := MustMint(t, s)
		if _, err := a.Authenticate(t.Context(), k.Secret.Reveal()); err != nil {
			t.Fatal(err)
		}
		end := func(tx *store.Tx) error { return tx.RevokeKey(s.Tenant, k.Key.ID, true) } // active keys are bounded
		if err := s.DB.Update(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	flush := func(want int64) {
		t.Helper()
		if err := a.FlushUsage(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.Number(t, "SELECT COUNT(*) FROM api_keys WHERE last_used_at = ?",
			coretest.Birth.UnixMilli()); got != want {
			t.Errorf("used at birth: got %d, want %d", got, want)
		}
	}
	flush(many)
	later := auth.New(s.DB, s.Clock, coretest.Roots())
	k := MustMint(t, s)
	s.Clock.Advance(time.Minute)
	if _, err := later.Authenticate(t.Context(), k.Secret.Reveal()); err != nil {
		t.Fatal(err)
	}
	if err := later.FlushUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(-time.Minute)
	if _, err := a.Authenticate(t.Context(), k.Secret.Reveal()); err != nil { // another process, whose clock is behind
		t.Fatal(err)
	}
	flush(many)
}

// MustMint makes a secret test key of the service's tenant.
func MustMint(t *testing.T, s *coretest.Service) auth.Minted {
	t.Helper()
	m, err := auth.Mint(coretest.Roots(), rand.Reader, auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
	if err != nil {
		t.Fatal(err)
	}
	m.Key.ID = s.IDs.Next()
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertKey(m.Key, m.Hash) }); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestForgetDuringARead: a key that was read before a change is not cached after it, in any order
// of both.
func TestForgetDuringARead(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a := auth.New(s.DB, s.Clock, coretest.Roots())
	for range 300 {
		m := MustMint(t, s)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _, _ = a.Authenticate(t.Context(), m.Secret.Reveal()) }) // either result is right while it is revoked
		}
		if err := s.DB.Update(t.Context(),
			func(tx *store.Tx) error { return tx.RevokeKey(s.Tenant, m.Key.ID, true) }); err != nil {
			t.Fatal(err)
		}
		a.Forget(s.Tenant.Merchant)
		if _, err := a.Authenticate(t.Context(), m.Secret.Reveal()); err == nil {
			t.Fatal("a revoked key was let in")
		}
		wg.Wait()
		if _, err := a.Authenticate(t.Context(), m.Secret.Reveal()); err == nil {
			t.Fatal("a revoked key was let in by what another request remembered")
		}
	}
}

// TestForgetOneMerchant: after a change of a merchant's keys, the keys of other merchants are not
// read again.
func TestForgetOneMerchant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a := auth.New(s.DB, s.Clock, coretest.Roots())
	key := MustMint(t, s).Secret.Reveal()
	for _, forget := range []int64{s.Tenant.Merchant + 1, s.Tenant.Merchant} {
		if _, err := a.Authenticate(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		a.Forget(forget)
		if err := s.DB.Close(); err != nil { // a read fails from now on
			t.Fatal(err)
		}
		if _, err := a.Authenticate(t.Context(), key); (err != nil) != (forget == s.Tenant.Merchant) {
			t.Errorf("after a change of merchant %d's keys: got %v", forget, err)
		}
	}
}

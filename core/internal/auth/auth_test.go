package auth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/root"
)

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	set, err := root.New(coretest.Birth)
	if err != nil {
		t.Fatal(err)
	}
	roots := root.Of(set, s.Clock)
	key := s.MustKeyUnder(t, roots, auth.KeySpec{Merchant: s.Tenant.Merchant, Live: true, Kind: apikey.Publishable})
	a := auth.New(s.DB, s.Clock, roots)
	for range 2 { // the second from the cache
		got, err := a.Authenticate(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if got.Tenant.Merchant != s.Tenant.Merchant || !got.Tenant.Live || got.Kind != string(apikey.Publishable) ||
			len(got.Scopes) != 2 {
			t.Errorf("got %+v", got)
		}
	}
	for name, wrong := range map[string]string{"under another root secret": s.Key, "garbage": "sk_test_x", "empty": ""} {
		if _, err := a.Authenticate(t.Context(), wrong); !errors.Is(err, auth.ErrInvalidKey) {
			t.Errorf("%s: got %v, want %v", name, err, auth.ErrInvalidKey)
		}
	}
	if err := s.DB.Close(); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(time.Second) // past the cache
	if _, err := a.Authenticate(t.Context(), key); err == nil || errors.Is(err, auth.ErrInvalidKey) {
		t.Errorf("with the store away: got %v, want what happened to the store", err)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a := auth.New(s.DB, s.Clock, coretest.Roots())
	key := s.MustKey(t, auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
	s.MustExec(t, "UPDATE api_keys SET expires_at = ?", s.Clock.Now().Add(time.Hour).UnixMilli())
	s.Clock.Advance(time.Hour - time.Millisecond)
	if _, err := a.Authenticate(t.Context(), key); err != nil {
		t.Errorf("before it expires: %v", err)
	}
	s.Clock.Advance(time.Millisecond) // and it is in the cache
	if _, err := a.Authenticate(t.Context(), key); !errors.Is(err, auth.ErrInvalidKey) {
		t.Errorf("once it expired: got %v, want %v", err, auth.ErrInvalidKey)
	}
}

// TestKeyRowOfAnotherProgram: a key is refused if the mode or the kind of its row is not the one
// that its prefix names.
func TestKeyRowOfAnotherProgram(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"live = 1 - live", "kind = 'publishable'"} {
		s := coretest.Open(t)
		s.MustExec(t, "UPDATE api_keys SET "+change)
		a := auth.New(s.DB, s.Clock, coretest.Roots())
		if k, err := a.Authenticate(t.Context(), s.Key); !errors.Is(err, auth.ErrInvalidKey) {
			t.Errorf("%s: got %+v, %v, want %v", change, k, err, auth.ErrInvalidKey)
		}
	}
}

package auth_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	pepper := []byte("pepper")
	key, err := auth.Create(t.Context(), s.DB, s.IDs, pepper, rand.Reader, auth.KeySpec{Merchant: s.Tenant.Merchant, Live: true, Kind: apikey.Publishable})
	if err != nil {
		t.Fatal(err)
	}
	a := auth.New(s.DB, s.Clock, pepper)
	for range 2 { // the second from the cache
		got, err := a.Authenticate(t.Context(), key.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if got.Tenant.Merchant != s.Tenant.Merchant || !got.Tenant.Live || got.Kind != string(apikey.Publishable) || len(got.Scopes) != 2 {
			t.Errorf("got %+v", got)
		}
	}
	for name, wrong := range map[string]string{"of another pepper": s.Key, "garbage": "sk_test_x", "empty": ""} {
		if _, err := a.Authenticate(t.Context(), wrong); !errors.Is(err, auth.ErrInvalidKey) {
			t.Errorf("%s: got %v, want %v", name, err, auth.ErrInvalidKey)
		}
	}
	if err := s.DB.Close(); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(time.Second) // past the cache
	if _, err := a.Authenticate(t.Context(), key.Reveal()); err == nil || errors.Is(err, auth.ErrInvalidKey) {
		t.Errorf("with the store away: got %v, want what happened to the store", err)
	}
}

func TestCreateForNobody(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	_, err := auth.Create(t.Context(), s.DB, s.IDs, nil, rand.Reader, auth.KeySpec{Merchant: 1, Kind: apikey.Secret})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want %v", err, store.ErrNotFound)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a := auth.New(s.DB, s.Clock, []byte("pepper"))
	key, err := auth.Create(t.Context(), s.DB, s.IDs, []byte("pepper"), rand.Reader, auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
	if err != nil {
		t.Fatal(err)
	}
	s.MustExec(t, "UPDATE api_keys SET expires_at = ?", s.Clock.Now().Add(time.Hour).UnixMilli())
	s.Clock.Advance(time.Hour - time.Millisecond)
	if _, err := a.Authenticate(t.Context(), key.Reveal()); err != nil {
		t.Errorf("before it expires: %v", err)
	}
	s.Clock.Advance(time.Millisecond) // and it is in the cache
	if _, err := a.Authenticate(t.Context(), key.Reveal()); !errors.Is(err, auth.ErrInvalidKey) {
		t.Errorf("once it expired: got %v, want %v", err, auth.ErrInvalidKey)
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "root.secret")
	roots := make([]auth.Root, 8)
	var wg sync.WaitGroup
	for i := range roots { // eight processes that start at once agree on one secret
		wg.Go(func() {
			var err error
			if roots[i], err = auth.LoadRoot(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	first, err := roots[0].Key("api-key")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range roots {
		if got, err := r.Key("api-key"); err != nil || !bytes.Equal(got, first) {
			t.Errorf("got another key, %v", err)
		}
	}
	if other, err := roots[0].Key("card-fingerprint"); err != nil || bytes.Equal(other, first) || len(other) != 32 {
		t.Errorf("two purposes share a key, %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.LoadRoot(path); err == nil || strings.Contains(err.Error(), "short") {
		t.Errorf("a cut secret: got %v", err)
	}
}

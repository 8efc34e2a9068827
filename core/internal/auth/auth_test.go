package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	set, err := root.New(coretest.Birth)
	if err != nil {
		t.Fatal(err)
	}
	roots := root.Of(set, s.Clock)
	key, err := auth.Create(t.Context(), s.DB, s.IDs, roots, rand.Reader,
		auth.KeySpec{Merchant: s.Tenant.Merchant, Live: true, Kind: apikey.Publishable})
	if err != nil {
		t.Fatal(err)
	}
	a := auth.New(s.DB, s.Clock, roots)
	for range 2 { // the second from the cache
		got, err := a.Authenticate(t.Context(), key.Reveal())
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
	if _, err := a.Authenticate(t.Context(), key.Reveal()); err == nil || errors.Is(err, auth.ErrInvalidKey) {
		t.Errorf("with the store away: got %v, want what happened to the store", err)
	}
}

func TestCreateForNobody(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	_, err := auth.Create(t.Context(), s.DB, s.IDs, coretest.Roots(), rand.Reader,
		auth.KeySpec{Merchant: 1, Kind: apikey.Secret})
	if !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("got %v, want %v", err, payment.ErrNotFound)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a := auth.New(s.DB, s.Clock, coretest.Roots())
	key, err := auth.Create(t.Context(), s.DB, s.IDs, coretest.Roots(), rand.Reader,
		auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
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

// TestKeyIDIsMadeInItsCommand: a key that waits for other commands gets its id when it is written.
// In a file, keys are listed in the order of their ids.
func TestKeyIDIsMadeInItsCommand(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	held, free := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(held) }) // a command may run again
	var running sync.WaitGroup
	running.Go(func() {
		err := s.DB.Update(context.WithoutCancel(t.Context()), func(*store.Tx) error { hold(); <-free; return nil })
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	if coretest.Shared() { // another command does not wait
		close(free)
		running.Wait()
		return
	}
	running.Go(func() {
		_, err := auth.Create(context.WithoutCancel(t.Context()), s.DB, s.IDs, coretest.Roots(), rand.Reader,
			auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
		if err != nil {
			t.Error(err)
		}
	})
	programtest.WaitFor(t, "the key waits", func() bool { return s.DB.Waiting() > 0 })
	drawn := s.IDs.Next()
	close(free)
	running.Wait()
	keys, err := s.DB.Keys(t.Context(), s.Tenant, payment.Page{Limit: 1})
	if err != nil || len(keys.Rows) != 1 || keys.Rows[0].ID < drawn {
		t.Errorf("got %+v, %v, want an id above %d", keys.Rows, err, drawn)
	}
}

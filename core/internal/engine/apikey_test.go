package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// MustMakeKey makes a key and returns its number.
func MustMakeKey(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	a, err := s.Engine.CreateKey(t.Context(), s.Request(""), s.Tenant, engine.Unlimited(), engine.NewKey{Kind: apikey.Secret})
	if err != nil {
		t.Fatal(err)
	}
	var k v1.APIKey
	if err := json.Unmarshal(a.Body, &k); err != nil {
		t.Fatal(err)
	}
	n, err := id.Parse(id.APIKey, k.ID)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRollForTooLong(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	key := MustMakeKey(t, s)
	for _, overlap := range []time.Duration{-1, engine.MaxOverlap + 1} {
		if _, err := s.Engine.RollKey(t.Context(), s.Request(""), s.Tenant, engine.Unlimited(), key, engine.Roll{Overlap: overlap}); err == nil {
			t.Errorf("%s: rolled", overlap)
		}
	}
	var missing *engine.MissingScopeError
	if _, err := s.Engine.RollKey(t.Context(), s.Request(""), s.Tenant, engine.Creator{}, key, engine.Roll{}); !errors.As(err, &missing) {
		t.Errorf("without a scope: got %v", err)
	}
}

// TestSealedResponsesAreBound: a program that writes to the database cannot move a stored response
// with a secret to another key.
func TestSealedResponsesAreBound(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	send := func(key string) (engine.Result, error) {
		return s.Engine.CreateKey(t.Context(), s.Request(key), s.Tenant, engine.Unlimited(), engine.NewKey{Kind: apikey.Secret})
	}
	for _, key := range []string{"mine", "yours"} {
		if _, err := send(key); err != nil {
			t.Fatal(err)
		}
	}
	s.MustExec(t, `UPDATE idempotency_keys SET body = (SELECT body FROM idempotency_keys WHERE key = 'yours') WHERE key = 'mine'`)
	if a, err := send("mine"); err == nil {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	if a, err := send("yours"); err != nil || !a.Replayed || a.Status != 201 {
		t.Errorf("the right place: got %d, %v", a.Status, err)
	}
}

// TestKeyOfNoMerchant: no key is made for a merchant that does not exist.
func TestKeyOfNoMerchant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	_, err := s.Engine.CreateKey(t.Context(), s.Request(""), payment.Tenant{Merchant: 1}, engine.Unlimited(),
		engine.NewKey{Kind: apikey.Secret})
	if !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("got %v, want %v", err, payment.ErrNotFound)
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
		_, err := s.Engine.CreateKey(context.WithoutCancel(t.Context()), s.Request(""), s.Tenant, engine.Unlimited(),
			engine.NewKey{Kind: apikey.Secret})
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

package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// MustMakeKey makes a key and returns its number.
func MustMakeKey(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	a, err := s.Engine.CreateKey(t.Context(), s.Request(""), s.Tenant, apikey.AllScopes(), engine.NewKey{Kind: apikey.Secret})
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
		if _, err := s.Engine.RollKey(t.Context(), s.Request(""), s.Tenant, apikey.AllScopes(), key, overlap); err == nil {
			t.Errorf("%s: rolled", overlap)
		}
	}
	var missing *engine.MissingScopeError
	if _, err := s.Engine.RollKey(t.Context(), s.Request(""), s.Tenant, nil, key, 0); !errors.As(err, &missing) {
		t.Errorf("without a scope: got %v", err)
	}
}

// TestSealedResponsesAreBound: a program that writes to the database cannot move a stored response
// with a secret to another key.
func TestSealedResponsesAreBound(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	send := func(key string) (engine.Result, error) {
		return s.Engine.CreateKey(t.Context(), s.Request(key), s.Tenant, apikey.AllScopes(), engine.NewKey{Kind: apikey.Secret})
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

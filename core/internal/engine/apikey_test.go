package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
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
	a, err := s.Engine.CreateKey(t.Context(), s.Request(""), apikey.AllScopes(), engine.NewKey{Kind: apikey.Secret})
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

// TestRollsAtOnce: of two rolls of one key, one wins, however they fall.
func TestRollsAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	const rounds = 1000
	for range rounds {
		key := MustMakeKey(t, s)
		statuses := make([]int, 2)
		var wg sync.WaitGroup
		for i := range statuses {
			wg.Go(func() {
				a, err := s.Engine.RollKey(context.WithoutCancel(t.Context()), s.Request(""), apikey.AllScopes(), key, time.Hour)
				if err != nil {
					t.Error(err)
				}
				statuses[i] = a.Status
			})
		}
		wg.Wait()
		if slices.Sort(statuses); statuses[0] != 201 || statuses[1] != 409 {
			t.Fatalf("got %v", statuses)
		}
	}
	if got, want := s.Number(t, "SELECT COUNT(*) FROM api_keys WHERE replaced_by IS NOT NULL"), int64(rounds); got != want {
		t.Errorf("rolled: got %d, want %d", got, want)
	}
	if got, want := s.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'api_key.rolled'"), int64(rounds); got != want {
		t.Errorf("events: got %d, want %d", got, want)
	}
}

// TestRollAgainstRevoke: a key that was revoked has no successor, and one that has a successor can still be revoked.
func TestRollAgainstRevoke(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range 200 {
		key := MustMakeKey(t, s)
		var rolled engine.Answer
		var wg sync.WaitGroup
		wg.Go(func() {
			var err error
			if rolled, err = s.Engine.RollKey(context.WithoutCancel(t.Context()), s.Request(""), apikey.AllScopes(), key, time.Hour); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := s.Engine.RevokeKey(context.WithoutCancel(t.Context()), s.Tenant, key, false); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		successors := s.Number(t, "SELECT replaced_by IS NOT NULL FROM api_keys WHERE id = ?", key)
		if won := rolled.Status == 201; won != (successors == 1) || !won && rolled.Status != 409 {
			t.Fatalf("got %d with %d successors", rolled.Status, successors)
		}
		if s.Number(t, "SELECT revoked_at IS NULL FROM api_keys WHERE id = ?", key) != 0 {
			t.Fatal("the key is not revoked")
		}
	}
}

func TestRollForTooLong(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	key := MustMakeKey(t, s)
	for _, overlap := range []time.Duration{-1, engine.MaxOverlap + 1} {
		if _, err := s.Engine.RollKey(t.Context(), s.Request(""), apikey.AllScopes(), key, overlap); err == nil {
			t.Errorf("%s: rolled", overlap)
		}
	}
	var missing *engine.MissingScopeError
	if _, err := s.Engine.RollKey(t.Context(), s.Request(""), nil, key, 0); !errors.As(err, &missing) {
		t.Errorf("without a scope: got %v", err)
	}
}

// TestSealedAnswersStayInTheirPlace: who can write the database cannot have an answer that shows a secret given under a key of his own.
func TestSealedAnswersStayInTheirPlace(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	ask := func(key string) (engine.Answer, error) {
		return s.Engine.CreateKey(t.Context(), s.Request(key), apikey.AllScopes(), engine.NewKey{Kind: apikey.Secret})
	}
	for _, key := range []string{"mine", "yours"} {
		if _, err := ask(key); err != nil {
			t.Fatal(err)
		}
	}
	coretest.MustExec(t, s.Dir, `UPDATE idempotency_keys SET answer = (SELECT answer FROM idempotency_keys WHERE key = 'yours') WHERE key = 'mine'`)
	if a, err := ask("mine"); err == nil {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	if a, err := ask("yours"); err != nil || !a.Replayed || a.Status != 201 {
		t.Errorf("the right place: got %d, %v", a.Status, err)
	}
}

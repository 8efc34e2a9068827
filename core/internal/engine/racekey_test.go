package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/id"
)

// payingUnder pays under an idempotency key, with the amount as the request's fingerprint.
func payingUnder(s *coretest.Service, e *engine.Engine, key string, amount int64) action {
	return func(ctx context.Context) (engine.Result, error) {
		here := *s
		here.Engine = e
		r := s.Request(key)
		r.Fingerprint = fmt.Append(nil, amount)
		return here.Pay(ctx, r, amount, true)
	}
}

// TestKeyWithTwoBodiesAtOnce: the first request gets the key, and the other one a refusal, although
// the key was free when it began. Two engines on one store act like two processes: neither sees the
// running requests of the other.
func TestKeyWithTwoBodiesAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	other := engine.New(s.Engine.Config)
	got := race{prepare: func(_ context.Context, i int) (contest, error) {
		key := fmt.Sprint("two bodies ", i)
		return contest{[]action{payingUnder(s, s.Engine, key, 100), payingUnder(s, other, key, 60)}, nil}, nil
	}, after: func([]int64) string { return "one payment" }}.run(t)
	wantOutcomes(t, got, []string{"201 key_reused: one payment", "key_reused 201: one payment"})
	first, second := got["201 key_reused: one payment"], got["key_reused 201: one payment"]
	for amount, want := range map[int]int{100: first, 60: second} {
		if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE amount_captured = ?", amount); got != int64(want) {
			t.Errorf("payments of %d: got %d, want %d", amount, got, want)
		}
	}
	if got, want := s.Acquirer.Moved(coretest.Authorize), int64(100*first+60*second); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// TestKeyAtOnce: the same request twice is one payment. The second gets the refusal of a running
// request, or the response to the first.
func TestKeyAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	other := engine.New(s.Engine.Config)
	got := race{prepare: func(_ context.Context, i int) (contest, error) {
		key := fmt.Sprint("same body ", i)
		return contest{[]action{payingUnder(s, s.Engine, key, 100), payingUnder(s, other, key, 100)}, nil}, nil
	}, after: func([]int64) string { return "one payment" }}.run(t)
	wantOutcomes(t, got, []string{"201 key_in_use: one payment", "key_in_use 201: one payment"}, "201 replay: one payment", "replay 201: one payment")
	if got, want := s.Acquirer.Moved(coretest.Authorize), int64(100*raceRounds); got != want || s.Number(t, "SELECT COUNT(*) FROM transactions") != int64(raceRounds) {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// rolling rolls an API key for an hour.
func rolling(s *coretest.Service, key int64) action {
	return func(ctx context.Context) (engine.Result, error) {
		return s.Engine.RollKey(ctx, s.Request(""), s.Tenant, engine.Unlimited(), key, engine.Roll{Overlap: time.Hour})
	}
}

// keyOf makes an API key and returns its number.
func keyOf(ctx context.Context, s *coretest.Service) (int64, error) {
	a, err := s.Engine.CreateKey(ctx, s.Request(""), s.Tenant, engine.Unlimited(), engine.NewKey{Kind: apikey.Secret})
	return made(id.APIKey, a, err)
}

// keyState returns the state of an API key.
func keyState(t *testing.T, s *coretest.Service) func(objects []int64) string {
	t.Helper()
	return func(objects []int64) string {
		key, successors, left := objects[0], 0, objects[:1]
		if id := s.Number(t, "SELECT COALESCE(replaced_by, 0) FROM api_keys WHERE id = ?", key); id != 0 {
			successors, left = 1, append(left, id)
		}
		revoked := s.Number(t, "SELECT CASE WHEN revoked_at IS NULL THEN 0 ELSE 1 END FROM api_keys WHERE id = ?", key) == 1
		for _, id := range left { // a merchant has a bounded number of valid keys
			if _, err := s.Engine.RevokeKey(t.Context(), engine.Request{}, s.Tenant, nil, id, true); err != nil {
				t.Error(err)
			}
		}
		return fmt.Sprintf("%d successors, revoked %t", successors, revoked)
	}
}

// TestRollsAtOnce: of two concurrent rolls of one key, exactly one succeeds.
func TestRollsAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{prepare: func(ctx context.Context, _ int) (contest, error) {
		key, err := keyOf(ctx, s)
		return contest{[]action{rolling(s, key), rolling(s, key)}, []int64{key}}, err
	}, after: keyState(t, s)}.run(t)
	wantOutcomes(t, got, []string{"201 409: 1 successors, revoked false", "409 201: 1 successors, revoked false"})
	wantNumber(t, s, "events", "SELECT COUNT(*) FROM events WHERE type = 'api_key.rolled'", int64(raceRounds))
}

// TestRollAgainstRevoke: a key that was revoked has no successor, and one that has a successor can
// still be revoked.
func TestRollAgainstRevoke(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{prepare: func(ctx context.Context, _ int) (contest, error) {
		key, err := keyOf(ctx, s)
		revoke := func(ctx context.Context) (engine.Result, error) {
			_, err := s.Engine.RevokeKey(ctx, engine.Request{}, s.Tenant, nil, key, false)
			return engine.Result{Response: engine.Response{Status: 200}}, err
		}
		return contest{[]action{rolling(s, key), revoke}, []int64{key}}, err
	}, after: keyState(t, s)}.run(t)
	wantOutcomes(t, got, []string{"201 200: 1 successors, revoked true", "409 200: 0 successors, revoked true"})
}

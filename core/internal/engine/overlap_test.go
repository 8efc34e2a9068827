package engine_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustRoll rolls the API key and the secret of a webhook endpoint with the same overlap, and returns
// the ends of both overlaps.
func mustRoll(t *testing.T, s *coretest.Service, overlap time.Duration) map[string]time.Time {
	t.Helper()
	key := s.Number(t, "SELECT id FROM api_keys")
	w := store.Endpoint{URL: "https://example.com", Types: []string{store.AllTypes}, Details: []byte("{}")}
	if a, err := s.Engine.CreateEndpoint(t.Context(), s.Request(""), w, api.Presenter{}.Endpoint); err != nil {
		t.Fatalf("endpoint: %d, %v", a.Status, err)
	}
	endpoint := s.Number(t, "SELECT id FROM webhook_endpoints")
	a, err := s.Engine.RollKey(t.Context(), s.Request(""), apikey.AllScopes(), key, overlap)
	if err != nil || a.Status >= 300 {
		t.Fatalf("roll key: %d %s, %v", a.Status, a.Body, err)
	}
	a, err = s.Engine.RollSecret(t.Context(), s.Request(""), endpoint, overlap, api.Presenter{}.Endpoint)
	if err != nil || a.Status >= 300 {
		t.Fatalf("roll secret: %d %s, %v", a.Status, a.Body, err)
	}
	return map[string]time.Time{
		"API key":        time.UnixMilli(s.Number(t, "SELECT expires_at FROM api_keys WHERE id = ?", key)),
		"webhook secret": time.UnixMilli(s.Number(t, "SELECT overlap_until FROM webhook_endpoints WHERE id = ?", endpoint)),
	}
}

// TestOverlapOfAClockThatWasBehind: a clock that is behind rolls an API key and a webhook secret.
// The overlap begins at the highest confirmed time, so both stay valid once the clock is right. A
// clock within the tolerance counts as right, and without an overlap the old key ends at once.
func TestOverlapOfAClockThatWasBehind(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	stores := map[string]func(testing.TB) *coretest.Service{"any": coretest.Open, "PostgreSQL": coretest.OpenShared}
	for _, c := range []struct {
		name                  string
		behind, overlap, want time.Duration // want counts from the time of the roll
	}{
		{"two days", 2 * day, day, 3 * day},
		{"two days, an hour of overlap", 2 * day, time.Hour, 2*day + time.Hour},
		{"two days, no overlap", 2 * day, 0, 0},
		{"the tolerance", time.Minute, day, day},
		{"more than the tolerance", time.Minute + time.Millisecond, day, day + time.Minute + time.Millisecond},
		{"right", 0, day, day},
		{"right, no overlap", 0, 0, 0},
	} {
		for at, open := range stores {
			t.Run(c.name+", "+at, func(t *testing.T) {
				t.Parallel()
				s := open(t)
				s.Clock.Step(-c.behind)
				want := s.Clock.Now().Add(c.want)
				for name, got := range mustRoll(t, s, c.overlap) {
					if !got.Equal(want) {
						t.Errorf("%s: its overlap ends %s after its roll, want %s", name, got.Sub(s.Clock.Now()), c.want)
					}
				}
			})
		}
	}
}

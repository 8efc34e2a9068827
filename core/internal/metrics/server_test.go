package metrics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestServer reads the series of a store on a server. Events count as held back while the low-water
// mark stands still and transactions behind it have begun, and at no other time.
func TestServer(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(time.Unix(1_800_000_000, 0))
	oldest, next, away, leads := int64(7), int64(7), error(nil), true
	m := metrics.New(metrics.Config{
		Waiting: func() int { return 0 }, LogSize: func() int64 { return 0 },
		Pending: func(context.Context) (int64, time.Time, error) { return 0, time.Time{}, nil }, Clock: now,
		Leads: func() bool { return leads },
		Server: &metrics.Server{
			Stats: func() store.Stats {
				return store.Stats{
					Pools:      []store.Pool{{Name: "write", InUse: 3, Idle: 2, Max: 16, Waited: 5, Waiting: 1500 * time.Millisecond}},
					RolledBack: map[string]int64{"deadlock": 4}, Unavailable: 6,
				}
			},
			LowWaterMark: func(context.Context) (int64, int64, error) { return oldest, next, away },
			Alive:        func() int { return 2 },
			Offset:       func() time.Duration { return -90 * time.Second },
		},
	})
	scrape := func(want, not string) {
		t.Helper()
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		if text := w.Body.String(); !strings.Contains(text, "\n"+want+"\n") || not != "" && strings.Contains(text, "\n"+not) {
			t.Errorf("want %q, and no %q, in\n%s", want, not, text)
		}
	}
	for _, want := range []string{
		`causeway_store_connections{pool="write",state="in_use"} 3`,
		`causeway_store_connections{pool="write",state="idle"} 2`,
		`causeway_store_connections_max{pool="write"} 16`, `causeway_store_connection_waits_total{pool="write"} 5`,
		`causeway_store_connection_wait_seconds_total{pool="write"} 1.5`,
		`causeway_store_rolled_back_total{reason="deadlock"} 4`,
		`causeway_store_unavailable_total 6`, `causeway_core_leads 1`, `causeway_core_members 2`,
		`causeway_core_clock_offset_seconds -90`, `causeway_store_log_bytes 0`,
		`causeway_lists_held_back_seconds 0`,
	} {
		scrape(want, "")
	}
	now.Advance(time.Minute)
	scrape(`causeway_lists_held_back_seconds 0`, "") // nothing runs
	next = 9
	now.Advance(time.Minute)
	oldest = 8 // another one
	scrape(`causeway_lists_held_back_seconds 0`, "")
	now.Advance(time.Minute)
	scrape(`causeway_lists_held_back_seconds 60`, "")
	away, leads = errors.New("away"), false
	scrape(`causeway_core_leads 0`, "causeway_lists_held_back_seconds")
	oldest, next, away = 10, 11, nil
	now.Advance(time.Minute)
	scrape(`causeway_lists_held_back_seconds 0`, "")
}

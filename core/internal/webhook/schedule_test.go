package webhook_test

import (
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/webhook"
)

// TestSchedule: the waits between attempts are fixed, a tenth longer or shorter at random. A
// delivery ends after the last attempt, or if its next attempt would begin after 80 hours.
func TestSchedule(t *testing.T) {
	t.Parallel()
	want := []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
		12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour,
	}
	if got := webhook.Schedule(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	now := time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC)
	const attempt, draws = 8, 1000 // the eighth wait is 12 hours
	least, most := 2*aDay, time.Duration(0)
	for range draws {
		next, again := webhook.NextAttempt(attempt, now, now)
		if !again {
			t.Fatal("got no further attempt")
		}
		least, most = min(least, next.Sub(now)), max(most, next.Sub(now))
	}
	const tenth, half = 12 * time.Hour / 10, 12 * time.Hour / 20
	if least < want[7]-tenth || least > want[7]-half || most > want[7]+tenth || most < want[7]+half {
		t.Errorf("waits: got %s to %s, want %s longer and shorter by a tenth", least, most, want[7])
	}
	for name, c := range map[string]struct {
		attempt int64
		age     time.Duration
		want    bool
	}{
		"the first":              {1, 0, true},
		"the last but one":       {12, 60 * time.Hour, true},
		"the last":               {13, 60 * time.Hour, false},
		"none":                   {0, 0, false},
		"within the 80 hours":    {5, 80*time.Hour - 67*time.Minute, true},
		"just past the 80 hours": {5, 80*time.Hour - 53*time.Minute, false},
	} {
		if _, again := webhook.NextAttempt(c.attempt, now.Add(-c.age), now); again != c.want {
			t.Errorf("%s: got another attempt: %t, want %t", name, again, c.want)
		}
	}
}

// TestBounds: the outbox has the bounds that the README states.
func TestBounds(t *testing.T) {
	t.Parallel()
	d := webhook.New(webhook.Config{})
	if d.MostQueued != 250_000 || d.MostPending != 2_000_000 || d.Timeout != 15*time.Second {
		t.Errorf("got %d deliveries to one endpoint, %d in all and %s for an attempt", d.MostQueued, d.MostPending, d.Timeout)
	}
}

// TestDeliveriesStayForThirtyDays: a purge a second before the 30 days have passed removes nothing.
func TestDeliveriesStayForThirtyDays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e, _ := b.mustHave(t, deliveryRow{status: "succeeded", attempts: 1})
	b.Clock.Advance(30*aDay - time.Second)
	if err := b.deliverer().Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(b.deliveries(t, e)); got != 1 {
		t.Errorf("deliveries: got %d, want 1", got)
	}
}

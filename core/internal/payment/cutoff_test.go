package payment_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

func mustZone(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestLastCutoff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone string
		minutes    int
		now, want  string
	}{
		{"at the moment", "UTC", 0, "2026-11-21T00:00:00Z", "2026-11-21T00:00:00Z"},
		{"a moment before", "UTC", 0, "2026-11-20T23:59:59.999Z", "2026-11-20T00:00:00Z"},
		{"east of UTC, where it is tomorrow", "Asia/Tokyo", 60, "2026-11-20T17:00:00Z", "2026-11-20T16:00:00Z"},
		{"west of UTC, where it is yesterday", "America/Los_Angeles", 1410, "2026-11-21T05:00:00Z", "2026-11-20T07:30:00Z"},
		{"quarter of an hour", "Asia/Kathmandu", 15, "2026-11-20T18:30:00Z", "2026-11-20T18:30:00Z"},
		{"the day clocks go forward, before", "Europe/Vienna", 60, "2026-03-29T12:00:00Z", "2026-03-29T00:00:00Z"},
		{
			"the day clocks go forward, skipped: at the jump", "Europe/Vienna", 150, "2026-03-29T12:00:00Z",
			"2026-03-29T01:00:00Z",
		},
		{"a moment before the jump", "Europe/Vienna", 150, "2026-03-29T00:59:59Z", "2026-03-28T01:30:00Z"},
		{"the day clocks go forward, after", "Europe/Vienna", 180, "2026-03-29T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"the day clocks go back, twice: the first", "Europe/Vienna", 150, "2026-10-25T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"the day clocks go back, between the two", "Europe/Vienna", 150, "2026-10-25T01:00:00Z", "2026-10-25T00:30:00Z"},
		{"the day clocks go back, after", "Europe/Vienna", 180, "2026-10-25T12:00:00Z", "2026-10-25T02:00:00Z"},
		{"midnight that is skipped", "Africa/Cairo", 0, "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z"},
		{"a date that is skipped", "Pacific/Apia", 0, "2011-12-30T12:00:00Z", "2011-12-30T10:00:00Z"},
		{"half an hour of summer", "Australia/Lord_Howe", 135, "2026-10-03T20:00:00Z", "2026-10-03T15:30:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := payment.LastCutoff(now, mustZone(t, c.zone), c.minutes).Format(time.RFC3339Nano); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestCutoffsAreOnePerDate walks two years in steps that meet each half hour of a day. The last
// cut-off never moves back and is never ahead. Days have 23 to 25 hours.
func TestCutoffsAreOnePerDate(t *testing.T) {
	t.Parallel()
	const step = 150 * time.Minute // five half hours, which divide no day
	for _, name := range []string{
		"UTC", "Europe/Vienna", "America/New_York", "Africa/Cairo", "Australia/Lord_Howe",
		"America/St_Johns", "Pacific/Chatham",
	} {
		for _, minutes := range []int{0, 90, 120, 150, 165, 720, payment.DayMinutes - 1} {
			zone, seen := mustZone(t, name), 0
			start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
			last := payment.LastCutoff(start, zone, minutes)
			for now := start; now.Before(start.AddDate(2, 0, 0)); now = now.Add(step) {
				got := payment.LastCutoff(now, zone, minutes)
				if got.After(now) || got.Before(last) || got.Sub(last) > 25*time.Hour {
					t.Fatalf("%s %d at %s: got %s after %s", name, minutes, now, got, last)
				}
				if next := payment.NextCutoff(now, zone, minutes); next.Before(now) ||
					!payment.LastCutoff(next, zone, minutes).Equal(next) ||
					next.After(now) && !payment.LastCutoff(next.Add(-time.Nanosecond), zone, minutes).Equal(got) || got.Equal(now) &&
					!next.Equal(now) {
					t.Fatalf("%s %d at %s: got %s as the next after %s", name, minutes, now, next, got)
				}
				if got.After(last) {
					seen++
				}
				last = got
			}
			if seen < 729 || seen > 731 {
				t.Errorf("%s %d: got %d days, want those of two years", name, minutes, seen)
			}
		}
	}
}

package store_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestServerClock: Date is the server's time plus Ahead. It never goes back with the server's
// clock, and is the server's time again once that has caught up, or after a week.
func TestServerClock(t *testing.T) {
	t.Parallel()
	const (
		day  = 24 * time.Hour
		slow = 900 * time.Millisecond // that Date advances in a second while it is ahead
	)
	type beat struct {
		at   time.Duration // the server's time, from the first heartbeat on
		date time.Duration
	}
	for name, beats := range map[string][]beat{
		"runs":                             {{0, 0}, {time.Second, time.Second}, {time.Minute, time.Minute}},
		"goes back by a second":            {{0, 0}, {-time.Second, -time.Second}},
		"is set ahead":                     {{0, 0}, {day, day}},
		"is set back":                      {{0, 0}, {-day, 0}, {-day + time.Second, slow}},
		"is set back by two seconds":       {{0, 0}, {-2 * time.Second, 0}},
		"is set back, and a minute passes": {{0, 0}, {-day, 0}, {-day + time.Minute, 59 * time.Second}},
		"is set back twice":                {{0, 0}, {-day, 0}, {-day + time.Second, slow}, {-2 * day, slow}},
		"is set back and corrected": {
			{0, 0}, {-day, 0}, {time.Second, time.Second}, {2 * time.Second, 2 * time.Second},
		},
		"is half corrected": {{0, 0}, {-day, 0}, {-day / 2, 0}, {-day/2 + time.Second, slow}},
		"is set back, and no core runs for an hour": {
			{0, 0}, {-day, 0}, {-23 * time.Hour, 0}, {-23*time.Hour + time.Second, slow},
		},
		"is set back, and no core runs for two days": {{0, 0}, {-day, 0}, {day, day}},
	} {
		start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		var c store.ServerClock
		for i, b := range beats {
			now := start.Add(b.at)
			c = c.After(now)
			date := now.Add(time.Duration(c.Ahead) * time.Millisecond).Sub(start)
			if date != b.date {
				t.Errorf("%s, heartbeat %d: got Date %s, want %s", name, i, date, b.date)
			}
		}
	}
	c := store.ServerClock{}.After(time.UnixMilli(1e12)).After(time.UnixMilli(1e12).Add(-10 * 365 * day))
	for s := range 7 * 24 * 60 {
		c = c.After(time.UnixMilli(1e12).Add(-10*365*day + time.Duration(s)*time.Minute))
	}
	if c.Ahead == 0 {
		t.Error("forgotten before the end of a week")
	}
	if c = c.After(time.UnixMilli(c.At).Add(time.Minute)); c.Ahead != 0 {
		t.Error("not forgotten after a week")
	}
}

// TestServerClockOfManySteps: a clock that runs fast is set back regularly. Date does not go back,
// and stays near the greatest time that the clock has had. These steps do not keep it ahead after a
// far larger one.
func TestServerClockOfManySteps(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	now := time.Date(2036, 11, 21, 12, 0, 0, 0, time.UTC)
	c := store.ServerClock{}.After(now)
	date := func() time.Time { return now.Add(time.Duration(c.Ahead) * time.Millisecond) }
	step := func(by time.Duration) {
		t.Helper()
		was := date()
		now = now.Add(by)
		if c = c.After(now); date().Before(was) {
			t.Fatalf("Date went back by %s", was.Sub(date()))
		}
	}
	hours := func(n int) {
		for range n * 3600 / 2 {
			step(time.Second)
			step(1100 * time.Millisecond)
		}
	}
	for i := range 500 {
		greatest := now
		step(-3 * time.Minute)
		if ahead := date().Sub(greatest); ahead > 0 {
			t.Fatalf("step %d: Date is %s later than the greatest time", i, ahead)
		}
		hours(1)
	}
	step(-10 * year)
	for range 6 * 24 {
		hours(1)
		step(-3 * time.Minute)
	}
	now = now.Add(2 * 24 * time.Hour)
	if c = c.After(now); c.Ahead != 0 {
		t.Errorf("after more than a week: Date is %s ahead", time.Duration(c.Ahead)*time.Millisecond)
	}
}

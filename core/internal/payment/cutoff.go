package payment

import "time"

// DayMinutes is how many minutes an ordinary day has; a cut-off is a minute of it.
const DayMinutes = 24 * 60

// LastCutoff returns the latest end of a merchant's day at or before now: minutes after midnight on
// the clocks of the zone. Where clocks skip that minute the day ends at the jump. Where they show
// it twice, the day ends at the first time. So each local date has exactly one end.
func LastCutoff(now time.Time, zone *time.Location, minutes int) time.Time {
	local := now.In(zone)
	for days := 1; ; days-- { // from tomorrow on: a zone that skips a date ends two days at one moment
		if c := cutoffOn(local.Year(), local.Month(), local.Day()+days, zone, minutes); !c.After(now) {
			return c
		}
	}
}

// NextCutoff returns the earliest end of a merchant's day at or after t, by the rules of
// LastCutoff.
func NextCutoff(t time.Time, zone *time.Location, minutes int) time.Time {
	local := t.In(zone)
	for days := -1; ; days++ {
		if c := cutoffOn(local.Year(), local.Month(), local.Day()+days, zone, minutes); !c.Before(t) {
			return c
		}
	}
}

// cutoffOn returns the first moment when the zone's clocks show this date and minute, or have
// jumped past it.
func cutoffOn(year int, month time.Month, day int, zone *time.Location, minutes int) time.Time {
	wall := time.Date(year, month, day, 0, minutes, 0, 0, time.UTC)
	// The zone's offsets around the date. They differ if the clocks change that day; the larger offset
	// reaches the minute first.
	_, before := wall.Add(-36 * time.Hour).In(zone).Zone()
	_, after := wall.Add(36 * time.Hour).In(zone).Zone()
	first, second := wall.Add(-seconds(max(before, after))), wall.Add(-seconds(min(before, after)))
	switch {
	case shows(first, zone, wall):
		return first.UTC()
	case shows(second, zone, wall):
		return second.UTC()
	}
	jump, _ := second.In(zone).ZoneBounds()
	return jump.UTC()
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// shows reports whether the zone's clocks show the wall time at t.
func shows(t time.Time, zone *time.Location, wall time.Time) bool {
	_, offset := t.In(zone).Zone()
	return t.Add(seconds(offset)).Equal(wall)
}

package core_test

import (
	"net/http"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRestartByAClockThatIsAhead: a service that starts by a clock a day ahead makes no second
// payment under a used key. An hour later it believes the clock, and the key has expired.
func TestRestartByAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	made := MustDecode[v1.Transaction](t, first, 201)
	until(t, "the confirmed time is stored", func() bool { return b.number(t, "SELECT COUNT(*) FROM confirmed_clock") == 1 })
	b.stop(t)
	b.clock.Step(25 * time.Hour)
	b.start(t)
	wantReplay(t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), first)
	b.clock.Advance(time.Hour)
	if got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), 201); got.ID == made.ID {
		t.Error("a key that expired 25 hours ago was replayed")
	}
}

// TestDateOfAClockThatIsAhead: Date does not follow a clock that is set ahead until the step is
// believed. The age of a payment that a client measures by Date does not grow by the step.
func TestDateOfAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at := b.clock.Now()
	wantDate := func(name string, want time.Time) {
		t.Helper()
		date, err := http.ParseTime(b.get(t, "/v1/api_keys/current").header.Get("Date"))
		if err != nil || date.Sub(want).Abs() > time.Minute {
			t.Errorf("%s: got %s (%v), want %s", name, date, err, want)
		}
	}
	b.clock.Step(10 * time.Minute)
	wantDate("ahead", at)
	b.clock.Advance(30 * time.Minute)
	wantDate("half an hour later", at.Add(30*time.Minute))
}

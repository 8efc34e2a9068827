package core_test

import (
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

package api_test

import (
	"net/http"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// wantKeyMade compares the time at which a key was claimed, as v1 shows it.
func (b *bundle) wantKeyMade(t *testing.T, key string, want time.Time) {
	t.Helper()
	made := MustDecode[v1.IdempotencyKeyRecord](t, b.get(t, "/v1/idempotency_keys/"+key), http.StatusOK).CreatedAt.Time
	if made.Sub(want).Abs() > time.Minute {
		t.Errorf("key %s: got %s, want %s", key, made, want)
	}
}

// TestDateAfterTheClockIsSetBack: the clock is set back. Date, and the times of new keys, which
// clients compare with it, go on. Otherwise a payment of before would seem to be later than its
// retry.
func TestDateAfterTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	for _, back := range []time.Duration{10 * time.Minute, 9 * time.Hour, 24 * time.Hour} {
		for name, change := range map[string]func(*bundle){
			"while core runs":       func(b *bundle) { b.clock.Step(-back) },
			"and core restarts":     func(b *bundle) { b.clock.Step(-back); b.stop(t); b.start(t) },
			"while core is stopped": func(b *bundle) { b.stop(t); b.clock.Step(-back); b.start(t) },
		} {
			t.Run(back.String()+", "+name, func(t *testing.T) {
				t.Parallel()
				b := openBundle(t, &bundle{file: true, rateLimit: -1})
				b.confirms(t, "id", 1)
				at := b.clock.Now()
				change(b)
				b.clock.Advance(70 * time.Second)
				b.wantDate(t, "set back", at.Add(70*time.Second))
				b.post(t, "/v1/transactions", create(5, ""), keyed("payment"))
				b.wantKeyMade(t, "payment", at.Add(70*time.Second))
				b.post(t, "/v1/idempotency_keys", `{"purpose":"closed"}`, keyed("reservation"))
				b.wantKeyMade(t, "reservation", at.Add(70*time.Second))
				b.clock.Step(back)
				b.wantDate(t, "corrected", at.Add(70*time.Second))
				b.clock.Step(-back)
				b.clock.Advance(7*24*time.Hour - time.Hour)
				b.wantDate(t, "before the end of a week", b.clock.Now().Add(back))
				b.clock.Advance(time.Hour)
				b.wantDate(t, "after a week", b.clock.Now())
			})
		}
	}
}

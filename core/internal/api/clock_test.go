package api_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
)

// TestHowFarTheClockMayBeOff: the clock may be off by engine.RequestTolerance, ahead or behind.
// Beyond that only reads are served, except reads of an Idempotency-Key.
func TestHowFarTheClockMayBeOff(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, engine.RequestTolerance, engine.RequestTolerance + 1, 25 * time.Hour} {
		for _, off := range []time.Duration{ahead, -ahead} {
			for method, reads := range map[string]bool{"GET": true, "HEAD": true, "POST": false, "PATCH": false, "DELETE": false} {
				for path, allowed := range map[string]bool{"/v1/transactions": reads, "/v1/idempotency_keys/{key}": false} {
					if got, want := api.Refuses(method, path, off), !allowed && ahead > engine.RequestTolerance; got != want {
						t.Errorf("%s %s, %s ahead: got %t, want %t", method, path, off, got, want)
					}
				}
			}
		}
	}
}

// TestDateOfAServersClock: the store is on a server. Date is the server's time if the clock is
// ahead of it by more than a second, the unit of Date.
func TestDateOfAServersClock(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]time.Duration{
		0: 0, time.Second: 0, time.Second + 1: time.Second + 1, 25 * time.Hour: 25 * time.Hour, -time.Hour: 0,
	} {
		if got := api.DateBehind(ahead); got != want {
			t.Errorf("%s ahead: got Date %s behind, want %s", ahead, got, want)
		}
	}
}

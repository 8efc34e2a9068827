package attempts_test

import (
	"strings"
	"testing"
	"time"
)

// TestAWrongClockBlocksNoLogin: the clock is a day ahead while a login is refused, and is then
// corrected. The right login is judged immediately, and blocked attempts are logged.
func TestAWrongClockBlocksNoLogin(t *testing.T) {
	t.Parallel()
	b := setup(true)
	b.clock.Step(24 * time.Hour)
	b.fail(from(t, client), "shop", 1)
	b.fail(from(t, attacker), "shop", 20)
	b.clock.Step(-24 * time.Hour)
	if !b.succeeds(from(t, client), "shop") || !b.succeeds(from(t, client), "another") {
		t.Error("a right login was blocked after one refusal")
	}
	b.clock.Advance(10 * time.Second)
	b.fail(from(t, attacker), "shop", 20)
	if got := strings.Count(b.log.String(), "client_address="+attacker); got != 2 {
		t.Errorf("got %d lines on blocked attempts, want one in ten seconds:\n%s", got, &b.log)
	}
}

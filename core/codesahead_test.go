package core_test

import (
	"testing"
	"time"
)

// TestCodeKeysOfAClockThatWasAhead: the key of security codes that a clock a day ahead made is
// destroyed after the clock was set back. That of an hour that a core's clock may have reached
// already stays.
func TestCodeKeysOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	c := &codes{bundle: setup(t)}
	hour := c.clock.Now().Unix() / 3600
	c.clock.Advance(time.Hour)
	c.tokenize(t, "813")
	c.clock.Advance(23 * time.Hour)
	c.tokenize(t, "814")
	c.stop(t)
	c.clock.Advance(-24 * time.Hour)
	c.start(t)
	until(t, "the key of tomorrow is destroyed", func() bool { return len(c.codeKeys(t)) == 1 })
	if got := c.codeKeys(t)[0].Hour; got != hour+1 {
		t.Errorf("left: the key of hour %d, want %d", got, hour+1)
	}
	if n := c.number(t, "SELECT COUNT(*) FROM security_codes"); n != 1 {
		t.Errorf("got %d codes, want that of the next hour alone", n)
	}
}

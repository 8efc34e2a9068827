//go:build unix

package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// SteeredClock is a text of shared/clock/system.go for variants of the programs. Their time is the
// machine's plus a duration in the file that SteeredBy names. The monotonic clock stays the
// machine's. No release build contains it.
const SteeredClock = `package clock

import (
	"os"
	"time"
)

func System() Clock { return steered{} }

type steered struct{}

func (steered) Now() time.Time {
	text, err := os.ReadFile(os.Getenv("` + SteeredBy + `"))
	if err != nil {
		panic(err)
	}
	offset, err := time.ParseDuration(string(text))
	if err != nil {
		panic(err)
	}
	return time.Now().Add(offset.Truncate(time.Second)).UTC() // the server's clock steps in seconds, too
}
`

// SteeredBy is the environment variable with the path of a Clock.
const SteeredBy = "STEERED_CLOCK"

// Clock is the file of the steered clock of some programs.
type Clock struct {
	path   string
	offset time.Duration
}

// NewClock returns a clock that shows the machine's time.
func NewClock(tb testing.TB) *Clock {
	tb.Helper()
	c := &Clock{path: filepath.Join(tb.TempDir(), "clock")}
	c.Set(tb, 0)
	return c
}

// Set sets the clock to the machine's time plus offset. A program reads the old time or the new.
func (c *Clock) Set(tb testing.TB, offset time.Duration) {
	tb.Helper()
	if err := os.WriteFile(c.path+".new", fmt.Appendf(nil, "%dns", offset), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(c.path+".new", c.path); err != nil {
		tb.Fatal(err)
	}
	c.offset = offset
}

// Advance moves the clock ahead.
func (c *Clock) Advance(tb testing.TB, by time.Duration) {
	tb.Helper()
	c.Set(tb, c.offset+by)
}

// AdvanceCommand returns a command of a shell that moves the clock ahead. The Clock does not record
// it.
func (c *Clock) AdvanceCommand(by time.Duration) string {
	return fmt.Sprintf("printf %%dns $(($(tr -d ns < %[1]s) + %[2]d)) > %[1]s.new && mv %[1]s.new %[1]s", c.path, by)
}

// Seconds returns an expression of a shell: the offset in seconds.
func (c *Clock) Seconds() string { return fmt.Sprintf("$(($(tr -d ns < %s) / 1000000000))", c.path) }

// Variable returns the clock's environment variable, for a program.
func (c *Clock) Variable() string { return SteeredBy + "=" + c.path }

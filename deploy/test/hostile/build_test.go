//go:build unix

package hostile_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// steeredClock replaces the system clock of the program under test: the real time plus a duration
// read from a file. The monotonic clock stays the machine's. No release build contains it.
const steeredClock = `package clock

import (
	"os"
	"time"
)

func System() Clock { return steered{} }

type steered struct{}

func (steered) Now() time.Time {
	text, err := os.ReadFile(os.Getenv("HOSTILE_CLOCK"))
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

// built returns the folder of a core that reads the steered clock instead of the machine's.
var built = sync.OnceValues(func() (folder string, err error) {
	return programtest.Variant{
		Name: "hostile", Programs: []string{"core"}, Replaced: map[string]string{"shared/clock/system.go": steeredClock},
	}.Build(context.Background())
})

func TestMain(m *testing.M) { pgtest.Main(m) }

// replace replaces a file atomically: a reader sees the old text or the new.
func replace(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// mustReplace is replace, and fails the test on an error.
func mustReplace(t *testing.T, path, text string) {
	t.Helper()
	if err := replace(path, text); err != nil {
		t.Fatal(err)
	}
}

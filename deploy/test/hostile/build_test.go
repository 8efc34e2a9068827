//go:build unix

package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

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

// built is the program under test, which is built for the first test that uses it.
var built = sync.OnceValues(func() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "hostile"); err != nil {
		return "", err
	}
	return folder, buildCore(folder)
})

func TestMain(m *testing.M) {
	code := pgtest.Run(m)
	folder, _ := built() // removed however its build has ended
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// buildCore builds core into a folder, with the steered clock in the place of the machine's.
func buildCore(folder string) error {
	system, err := filepath.Abs("../../../shared/clock/system.go")
	if err != nil {
		return err
	}
	if _, err := os.Stat(system); err != nil {
		return err // the overlay would replace no file
	}
	source, overlay := filepath.Join(folder, "system.go"), filepath.Join(folder, "overlay.json")
	text, err := json.Marshal(struct{ Replace map[string]string }{map[string]string{system: source}})
	if err != nil {
		return err
	}
	if err := errors.Join(replace(source, steeredClock), replace(overlay, string(text))); err != nil {
		return err
	}
	return programtest.Build(context.Background(), folder, "-overlay", overlay, "github.com/causeway-pay/causeway/core/cmd/core")
}

// replace replaces a file at once: a reader sees the old text or the new.
func replace(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// mustReplace is replace for a test that cannot go on without.
func mustReplace(t *testing.T, path, text string) {
	t.Helper()
	if err := replace(path, text); err != nil {
		t.Fatal(err)
	}
}

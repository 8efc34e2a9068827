//go:build unix

package hostile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// steeredClock replaces the system clock of the program under test: the real time plus a duration read from a file. No
// release build contains it.
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
	return time.Now().Add(offset).UTC()
}
`

// buildCore builds core with the steered clock in the place of the machine's, and returns its path.
func buildCore(t *testing.T) string {
	t.Helper()
	folder, sources := t.TempDir(), t.TempDir()
	system, err := filepath.Abs("../../../shared/clock/system.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(system); err != nil {
		t.Fatal(err) // the overlay would replace no file
	}
	mustWrite(t, filepath.Join(sources, "system.go"), steeredClock)
	overlay, err := json.Marshal(struct{ Replace map[string]string }{
		map[string]string{system: filepath.Join(sources, "system.go")},
	})
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(sources, "overlay.json"), string(overlay))
	err = programtest.Build(t.Context(), folder, "-overlay", filepath.Join(sources, "overlay.json"),
		"github.com/causeway-pay/causeway/core/cmd/core")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "core")
}

// mustWrite replaces a file at once: a reader sees the old text or the new.
func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

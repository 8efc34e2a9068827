//go:build unix

package hostile_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// built returns the folder of a core that reads the steered clock instead of the machine's.
var built = sync.OnceValues(func() (folder string, err error) {
	return programtest.Variant{
		Name: "hostile", Programs: []string{"core"},
		Replaced: map[string]string{"shared/clock/system.go": fleet.SteeredClock},
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

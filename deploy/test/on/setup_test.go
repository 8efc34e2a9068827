package on_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// bin is the folder of the programs under test.
var bin string

// root is the folder of the repository.
var root = mustRoot()

func TestMain(m *testing.M) {
	programtest.Main(m, &bin, "core", "mle-filter", "compat-proxy", "edge", "standalone")
}

func mustRoot() string {
	root, err := programtest.Root()
	if err != nil {
		panic(err)
	}
	return root
}

// mustRead returns a file of the repository.
func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// mustRun runs a command and returns its output.
func mustRun(tb testing.TB, dir, name string, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

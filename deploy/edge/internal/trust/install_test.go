package trust_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var installing sync.Mutex

// library is a folder of the Python library that reads calendars, installed once for each state of its requirements into the repository's .cache.
func library(tb testing.TB) string {
	tb.Helper()
	installing.Lock()
	defer installing.Unlock()
	requirements, err := filepath.Abs("calendartest/requirements.txt")
	if err != nil {
		tb.Fatal(err)
	}
	locked, err := os.ReadFile(requirements)
	if err != nil {
		tb.Fatal(err)
	}
	id := sha256.Sum256(locked)
	cache, err := filepath.Abs("../../../../.cache/sdk")
	if err != nil {
		tb.Fatal(err)
	}
	final := filepath.Join(cache, "icalendar-"+hex.EncodeToString(id[:8]))
	if _, err := os.Stat(final); err == nil {
		return final
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		tb.Fatal(err)
	}
	into, err := os.MkdirTemp(cache, ".icalendar-") //nolint:usetesting // it is renamed, so it must be on the cache's disk
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(into) }() // nothing is there when it was renamed
	// Some systems ship Python without pip but with venv, which brings one; some the other way round.
	const script = `python3 -m pip --version >/dev/null 2>&1 || { python3 -m venv "$1/.venv" && PATH="$1/.venv/bin:$PATH"; }
exec python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" --requirement "$2"`
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "sh", "-c", script, "sh", into, requirements).CombinedOutput(); err != nil {
		tb.Fatalf("install the icalendar library: %v (this test needs python3 on PATH and the package registry)\n%s", err, out)
	}
	if err := os.Rename(into, final); err != nil {
		if _, there := os.Stat(final); there != nil { // another run was faster, or it is a true failure
			tb.Fatal(err)
		}
	}
	return final
}

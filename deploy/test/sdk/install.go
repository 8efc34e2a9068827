package sdk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// The real clients are installed into the repository's .cache/sdk, once for each state of their lock file, so that a second run needs
// no network. A half-finished install never gets the final name.

// InstallNode returns a folder of the node modules that the package in a folder wants, under a name of their own.
func InstallNode(t *testing.T, name, folder string) string {
	t.Helper()
	dir := install(t, name, filepath.Join(folder, "package-lock.json"), func(ctx context.Context, into string) *exec.Cmd {
		for _, name := range []string{"package.json", "package-lock.json"} {
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(into, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		cmd.Dir = into
		return cmd
	})
	return filepath.Join(dir, "node_modules")
}

// InstallPython returns a folder of the Python packages that the requirements.txt in a folder wants, under a name of their own.
// Some of them are compiled for one version of Python.
func InstallPython(t *testing.T, name, folder string) string {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		t.Fatalf("python3: %v (this test needs it on PATH)", err)
	}
	requirements := filepath.Join(folder, "requirements.txt")
	// Some systems ship Python without pip but with venv, which brings one; some the other way round.
	const script = `python3 -m pip --version >/dev/null 2>&1 || { python3 -m venv "$1/.venv" && PATH="$1/.venv/bin:$PATH"; }
exec python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" --requirement "$2"`
	return install(t, name+strings.TrimSpace(string(version)), requirements, func(ctx context.Context, into string) *exec.Cmd {
		return exec.CommandContext(ctx, "sh", "-c", script, "sh", into, requirements) //nolint:gosec // the requirements are ours
	})
}

// installJava returns a folder of the Java libraries that the pom.xml in a folder wants, under a name of their own.
func installJava(t *testing.T, name, folder string) string {
	t.Helper()
	pom := filepath.Join(folder, "pom.xml")
	return install(t, name, pom, func(ctx context.Context, into string) *exec.Cmd {
		//nolint:gosec // the libraries are ours to choose
		return exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "--no-transfer-progress", "--file", pom,
			"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+into)
	})
}

// installs has a lock for each thing that is installed: tests that want the same one wait for each other, and Maven's own folder is not made
// for two that fill it.
var installs sync.Map

// install runs the command that fills a folder, unless that was done for this state of the lock file, and returns the folder.
func install(t *testing.T, name, lockFile string, fill func(ctx context.Context, into string) *exec.Cmd) string {
	t.Helper()
	lock, _ := installs.LoadOrStore(name, &sync.Mutex{})
	if mu, ok := lock.(*sync.Mutex); ok {
		mu.Lock()
		defer mu.Unlock()
	}
	locked, err := os.ReadFile(lockFile)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(locked)
	cache := filepath.Join(programtest.MustRoot(t), ".cache", "sdk")
	final := filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(final); err == nil {
		return final
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	into, err := os.MkdirTemp(cache, "."+name+"-") //nolint:usetesting // it is renamed, so it must be on the cache's disk
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(into) }() // nothing is there when it was renamed
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := fill(ctx, into)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install the %s client: %v (this test needs %s on PATH and the package registries)\n%s", name, err, cmd.Path, out)
	}
	if err := os.Rename(into, final); err != nil {
		if _, there := os.Stat(final); there != nil { // another run was faster, or it is a true failure
			t.Fatal(err)
		}
	}
	return final
}

// absolute is a path in this folder.
func absolute(t *testing.T, path string) string {
	t.Helper()
	return filepath.Join(programtest.MustRoot(t), "deploy", "test", "sdk", path)
}

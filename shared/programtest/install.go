//go:build unix

package programtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Install returns a folder of .cache/sdk that a command has filled. It runs the command once for
// each name and version, so a second run needs no network. version is the content of a lock file or
// a version number. fill returns the command, which installs into a folder. Processes wait for each
// other, and a partial installation never gets the final name.
func Install(
	ctx context.Context, name string, version []byte, fill func(into string) (Command, error),
) (folder string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	cache, sum := filepath.Join(root, ".cache", "sdk"), sha256.Sum256(version)
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(cache, "."+name+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	final := filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(final); !errors.Is(err, fs.ErrNotExist) {
		return final, err
	}
	into, err := os.MkdirTemp(cache, "."+name+"-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(into) }() // nothing is there after the rename
	c, err := fill(into)
	if err != nil {
		return "", err
	}
	if stdout, stderr, err := Output(ctx, c); err != nil {
		const need = "it needs that program on PATH and its package registry"
		return "", fmt.Errorf("install %s by %s: %w (%s)\n%s%s", name, c.Path, err, need, stdout, stderr)
	}
	return final, os.Rename(into, final)
}

// MustInstall is Install for a test.
func MustInstall(tb testing.TB, name string, version []byte, fill func(into string) (Command, error)) string {
	tb.Helper()
	folder, err := Install(tb.Context(), name, version, fill)
	if err != nil {
		tb.Fatal(err)
	}
	return folder
}

// pip installs into $1 by the requirements file $2. Some systems have Python without pip but with
// venv, which contains pip. Others have pip without venv.
const pip = `python3 -m pip --version >/dev/null 2>&1 || { python3 -m venv "$1/.venv" && PATH="$1/.venv/bin:$PATH"; }
exec python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" --requirement "$2"`

// InstallPython installs the packages of a folder's requirements.txt under a name, and returns
// their folder for PYTHONPATH. Some packages are compiled for one version of Python. So each
// version gets its own installation.
func InstallPython(ctx context.Context, name, folder string) (packages string, err error) {
	requirements, err := filepath.Abs(filepath.Join(folder, "requirements.txt"))
	if err != nil {
		return "", err
	}
	list, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	python := Command{Path: "python3", Args: []string{"-c", "import sys; print('%d.%d' % sys.version_info[:2])"}}
	version, _, err := Output(ctx, python)
	if err != nil {
		return "", fmt.Errorf("version of python3: %w", err)
	}
	return Install(ctx, name+strings.TrimSpace(version), list, func(into string) (Command, error) {
		return Command{Path: "sh", Args: []string{"-c", pip, "sh", into, requirements}}, nil
	})
}

// MustInstallPython is InstallPython for a test.
func MustInstallPython(tb testing.TB, name, folder string) string {
	tb.Helper()
	packages, err := InstallPython(tb.Context(), name, folder)
	if err != nil {
		tb.Fatal(err)
	}
	return packages
}

// MustInstallNode installs the package of a folder under a name. The package-lock.json in it fixes
// all versions. It returns the folder of the modules for NODE_PATH.
func MustInstallNode(tb testing.TB, name, folder string) string {
	tb.Helper()
	files := map[string][]byte{"package.json": nil, "package-lock.json": nil}
	for file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			tb.Fatal(err)
		}
		files[file] = text
	}
	dir := MustInstall(tb, name, files["package-lock.json"], func(into string) (Command, error) {
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(into, file), text, 0o600); err != nil {
				return Command{}, err
			}
		}
		args := []string{"ci", "--ignore-scripts", "--no-audit", "--no-fund"}
		return Command{Path: "npm", Args: args, Dir: into}, nil
	})
	return filepath.Join(dir, "node_modules")
}

// InstallGo builds a program of another module, such as "example.com/x/cmd/y@v1.2.3", and returns
// its path.
func InstallGo(ctx context.Context, program string) (string, error) {
	at, _, _ := strings.Cut(program, "@")
	name := path.Base(at)
	folder, err := Install(ctx, name, []byte(program), func(into string) (Command, error) {
		return Command{
			Path: "go", Args: []string{"install", program}, Env: []string{"GOBIN=" + into, "GOWORK=off", "GOFLAGS="},
		}, nil
	})
	return filepath.Join(folder, name), err
}

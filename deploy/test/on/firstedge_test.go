package on_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFirstCommandsOfTheEdge makes the certificate of edge's README, and lets edge check it.
func TestFirstCommandsOfTheEdge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "configs", "edge.yaml"), mustRead(t, "configs/edge.yaml"))
	mustRun(t, dir, "sh", "-e", "-c", block(t, "deploy/edge/README.md", "mkdir -p data/edge/certificates"))
	check, _, _ := strings.Cut(block(t, "deploy/edge/README.md", "go run ./deploy/edge/cmd/edge check"), "\n")
	check = strings.Replace(check, "go run ./deploy/edge/cmd/edge", filepath.Join(bin, "edge"), 1)
	out := mustRun(t, dir, "sh", "-c", check)
	if !strings.Contains(out, "nothing is wrong") || !strings.Contains(out, "self-signed") {
		t.Errorf("got %s, want no fault, and a warning", out)
	}
}

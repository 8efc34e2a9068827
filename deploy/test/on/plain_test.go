package on_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// addressInUnit finds host and port in a setting or a command line of the systemd units.
var addressInUnit = regexp.MustCompile(`\b(\d+\.\d+\.\d+\.\d+):\d+`)

// TestUnitsKeepPlainHTTPOnTheMachine checks that every address in the systemd units, their settings
// and the documents is a loopback one. The exceptions are the two that Envoy serves to clients.
// Other connections are plain HTTP and contain card numbers.
func TestUnitsKeepPlainHTTPOnTheMachine(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, text := range textsBelow(t, "deploy/on/systemd", "deploy/docs/operate") {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			for _, found := range addressInUnit.FindAllStringSubmatch(line, -1) {
				seen++
				clients := strings.Contains(line, "  https: 0.0.0.0:8443") || strings.Contains(line, "  http: 0.0.0.0:8000")
				if !net.ParseIP(found[1]).IsLoopback() && !clients {
					t.Errorf("%s: plain HTTP on the network: %s", name, line)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d addresses, want all of the units", seen)
	}
}

// urlOfServer finds the URL of a PostgreSQL server with its host and its parameters.
var urlOfServer = regexp.MustCompile("postgres(?:ql)?://([^\\s`'\"\\\\]+)")

// TestServersAreVerified checks that each URL of a PostgreSQL server in documents and settings
// verifies the server. Without sslmode, a machine in between gets the password. Only the server of
// compose is without TLS: its host is a name in the network of one machine.
func TestServersAreVerified(t *testing.T) {
	t.Parallel()
	seen := 0
	paths := []string{
		"deploy/on", "deploy/docs", "deploy/README.md", "core/README.md", "core/docs", "mle-filter/README.md",
		"mle-filter/docs",
	}
	for name, text := range textsBelow(t, paths...) {
		for line := range strings.Lines(text) {
			for _, found := range urlOfServer.FindAllStringSubmatch(line, -1) {
				if !strings.ContainsAny(found[1], "@/") {
					continue // the scheme alone, or a placeholder
				}
				seen++
				inCompose := strings.Contains(found[1], "@postgres:5432/") && strings.Contains(found[1], "sslmode=disable")
				if !inCompose && !strings.Contains(found[1], "sslmode=verify-full") {
					t.Errorf("%s: the server is not verified: %s", name, line)
				}
			}
		}
	}
	if seen < 6 {
		t.Errorf("found %d URLs, want those of the documents", seen)
	}
}

// textsBelow returns the content of all files at or below paths of the repository.
func textsBelow(t *testing.T, paths ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range paths {
		err := filepath.WalkDir(filepath.Join(root, path), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			out[strings.TrimPrefix(path, root+"/")] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

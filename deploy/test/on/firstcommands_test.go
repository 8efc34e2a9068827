package on_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// block returns the first indented block of a document that begins with a command.
func block(t *testing.T, document, begin string) string {
	t.Helper()
	_, text, found := strings.Cut(string(mustRead(t, document)), "\n    "+begin)
	if !found {
		t.Fatalf("%s has no block that begins with %q", document, begin)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	return begin + text
}

// TestFirstCommandsOfTheFilter pastes the first commands of mle-filter's README twice. The second
// start must open the keys that the first one stored.
func TestFirstCommandsOfTheFilter(t *testing.T) {
	t.Parallel()
	const command = "go run ./mle-filter/cmd/mle-filter"
	commands, _, found := strings.Cut(block(t, "mle-filter/README.md", "mkdir -p data"), command+" --help")
	if !found {
		t.Fatalf("mle-filter/README.md: %s", commands)
	}
	commands = strings.Replace(commands, command, "exec "+filepath.Join(bin, "mle-filter")+" --listen 127.0.0.1:0", 1)
	dir := t.TempDir()
	for range 2 {
		p := programtest.Start(t, programtest.Command{Path: "sh", Args: []string{"-c", commands}, Dir: dir})
		p.MustAddress(t, "listen")
		p.Stop(t)
	}
}

package standalone_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Links from our documents into the tree break silently when a file moves.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	for _, document := range []string{
		"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "deploy/README.md", "deploy/standalone/README.md", "deploy/test/README.md", "deploy/test/sdk/README.md",
		"deploy/test/hook/README.md",
	} {
		path := filepath.Join("../../..", document)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", document, m[1], err)
			}
		}
	}
}

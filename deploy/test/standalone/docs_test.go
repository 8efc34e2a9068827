package standalone_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	documentLink    = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]+))?\)`)
	documentHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinksOfTheDocuments fails if a document links to a missing file or to a missing heading.
func TestLinksOfTheDocuments(t *testing.T) {
	t.Parallel()
	root := absolute(t, "../../..")
	pages := documents(t)
	links := 0
	for name, text := range pages {
		for _, m := range documentLink.FindAllStringSubmatch(text, -1) {
			path, anchor := filepath.Join(filepath.Dir(name), m[1]), m[2]
			if strings.Contains(m[1], "://") {
				continue
			}
			if m[1] == "" {
				path = name
			}
			links++
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
			if anchor != "" && strings.HasSuffix(path, ".md") && !hasHeading(pages[path], anchor) {
				t.Errorf("%s links to %s#%s: the page has no such heading", name, path, anchor)
			}
		}
	}
	if links < 100 {
		t.Errorf("links found = %d, want at least 100", links)
	}
}

// hasHeading reports whether a page has a heading with the anchor.
func hasHeading(page, anchor string) bool {
	for _, m := range documentHeading.FindAllStringSubmatch(page, -1) {
		text := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(strings.TrimSpace(text), " ", "-") == anchor {
			return true
		}
	}
	return false
}

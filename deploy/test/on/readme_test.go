package on_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme: what the page names is there: its links, the files and folders of this repository, the alerts, and the commands of our programs.
func TestReadme(t *testing.T) {
	t.Parallel()
	page := string(mustRead(t, "deploy/README.md"))
	for _, link := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(root, "deploy", link[1])); err != nil {
			t.Errorf("a link: %v", err)
		}
	}
	for _, path := range regexp.MustCompile(`\bdeploy/[a-zA-Z0-9./_*-]+`).FindAllString(page, -1) {
		path = strings.TrimRight(path, ".")
		if found, err := filepath.Glob(filepath.Join(root, path)); err != nil || len(found) == 0 {
			t.Errorf("%s is not there: %v", path, err)
		}
	}
	known := map[string]bool{}
	for _, r := range ruleExpressions(t) {
		known[r.where] = true
	}
	for _, alert := range regexp.MustCompile("`(Causeway[A-Za-z]+)`").FindAllStringSubmatch(page, -1) {
		if !known[alert[1]] {
			t.Errorf("there is no alert %s", alert[1])
		}
	}
	m := newMachine(t)
	for program, command := range map[string]string{"core": "core help", "edge": "edge --help", "mle-filter": "mle-filter --help"} {
		help := m.must(t, command)
		for _, word := range regexp.MustCompile("[/`]"+program+" ([a-z]+)[^a-z/]").FindAllStringSubmatch(page, -1) {
			if !strings.Contains(help, program+" "+word[1]) {
				t.Errorf("%s has no command %s", program, word[1])
			}
		}
	}
}

package on_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagesForOperators compares the pages for operators with the repository: the files and
// folders, the alerts, and the commands of our programs that they name exist.
func TestPagesForOperators(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "deploy/docs/operate/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages: %d, %v", len(pages), err)
	}
	alerts := map[string]bool{}
	for _, r := range ruleExpressions(t) {
		alerts[r.where] = true
	}
	m := newMachine(t)
	help := map[string]string{
		"core": m.must(t, "core help"), "edge": m.must(t, "edge --help"), "mle-filter": m.must(t, "mle-filter --help"),
	}
	for _, path := range append(pages, filepath.Join(root, "deploy/README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, page := filepath.Base(path), string(text)
		for _, path := range regexp.MustCompile(`\bdeploy/[a-zA-Z0-9./_*-]+`).FindAllString(page, -1) {
			path = strings.TrimRight(path, ".")
			if found, err := filepath.Glob(filepath.Join(root, path)); err != nil || len(found) == 0 {
				t.Errorf("%s: %s does not exist: %v", name, path, err)
			}
		}
		for _, alert := range regexp.MustCompile("`(Causeway[A-Za-z]+)`").FindAllStringSubmatch(page, -1) {
			if !alerts[alert[1]] {
				t.Errorf("%s: there is no alert %s", name, alert[1])
			}
		}
		for program, usage := range help {
			command := regexp.MustCompile("[/`]" + program + " ([a-z]+)[^a-z/]")
			for _, word := range command.FindAllStringSubmatch(page, -1) {
				if !strings.Contains(usage, program+" "+word[1]) {
					t.Errorf("%s: %s has no command %s", name, program, word[1])
				}
			}
		}
	}
}

// TestStepsForOperators: pages name the steps that must come before a command. Without them it
// destroys data or fails.
func TestStepsForOperators(t *testing.T) {
	t.Parallel()
	rotate := string(mustRead(t, "deploy/docs/operate/rotate.md"))
	before, _, found := strings.Cut(rotate, "destroy it together with the last of them")
	if !found || !strings.Contains(before, "[take a backup](backup.md)") {
		t.Error("rotate.md: a key is destroyed before a backup is taken under its successor")
	}
	backup := string(mustRead(t, "deploy/docs/operate/backup.md"))
	before, _, _ = strings.Cut(backup, "core restore --from")
	if !strings.Contains(before, "\n## Payments after the backup\n") ||
		!strings.Contains(before, "charges the card again") {
		t.Error("backup.md: the restore comes before the warning that retries charge the card again")
	}
	for _, page := range []string{"deploy/docs/operate/upgrade.md", "deploy/on/postgres/README.md"} {
		text := string(mustRead(t, page))
		if !strings.Contains(text, "backup.md#payments-after-the-backup") {
			t.Errorf("%s names a restore without its effect on payments", page)
		}
	}
	patroni := string(mustRead(t, "deploy/on/patroni/README.md"))
	forced, _, _ := strings.Cut(patroni, "failover --candidate NODE --force")
	if !strings.Contains(forced, "Power off each node") ||
		!strings.Contains(patroni, "systemctl --root=/mnt disable patroni") {
		t.Error("patroni/README.md: after a forced failover, the old primary can start and remove its last payments")
	}
	unconfigured, _, found := strings.Cut(patroni, "export PATRONICTL_CONFIG_FILE=")
	if !found {
		t.Error("patroni/README.md does not set PATRONICTL_CONFIG_FILE")
	}
	command := regexp.MustCompile(`patronictl (?:pause|failover|switchover|restart|reinit|reload)\b.*`)
	if got := command.FindString(unconfigured); got != "" {
		t.Errorf("patroni/README.md: %q finds no cluster: it has no -c, and comes before PATRONICTL_CONFIG_FILE is set", got)
	}
}

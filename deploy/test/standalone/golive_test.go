package standalone_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// goLive is the page with the steps to live mode.
const goLive = "../../../deploy/docs/operate/go-live.md"

// trialWants are the expected outputs of the steps of the trial, as regular expressions.
var trialWants = []string{
	`^acct_\w+\n$`,
	`(?s)"mode":"live","status":"captured","amount":1250.*"object":"list".*` +
		`"mode":"test","status":"captured","amount":1250`,
	`(?s)"object":"capture".*"amount":500.*"status":"voided".*"code":"card_declined"`,
	`(?s)"object":"refund".*"status":"succeeded","amount":250`,
	`(?s)"id":"txn_\w+","object":"transaction","mode":"live","status":"\w+","amount":1000`,
	`^acct_\w+\n$`,
	`(?s)^acct_\w+\n.*"status":"captured","amount":1100.*provider-a.* disabled .*provider-b.*second.*enabled`,
	`^$`,
}

// TestTrialOfGoLive pastes the trial of the page into a shell: a standalone's live mode, with
// another standalone as the provider.
func TestTrialOfGoLive(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(goLive)
	if err != nil {
		t.Fatal(err)
	}
	trial := section(t, string(text), "A trial on one machine")
	root := t.TempDir()
	clone := filepath.Join(root, "clone")
	command := regexp.MustCompile(`(?m)^    make run DATA=\.\./(\S+) ARGS='(.*)'$`).FindStringSubmatch(trial)
	if command == nil {
		t.Fatalf("no command starts the provider in:\n%s", trial)
	}
	up := startIn(t, filepath.Join(root, command[1]), strings.Fields(freePorts.ReplaceAllString(command[2], ":0"))...)
	p := startIn(t, filepath.Join(clone, "data"))

	steps := regexp.MustCompile(`(?m)^\d+\. `).Split(trial, -1)[1:]
	if len(steps) != len(trialWants) {
		t.Fatalf("steps = %d, want %d", len(steps), len(trialWants))
	}
	script := "set -eu\n" + commands(section(t, string(text), "The commands"), "    ")
	for _, step := range steps {
		inline := regexp.MustCompile("`(shred .*?)`").FindStringSubmatch(step)
		script += commands(step, "       ")
		if inline != nil {
			script += inline[1] + "\n"
		}
		script += "echo '== end of a step'\n"
	}
	out := bash(t, clone, strings.NewReplacer(
		"go run ./core/cmd/core", filepath.Join(bin, "core"),
		"http://127.0.0.1:9090", up.HTTP, "http://127.0.0.1:8080", p.HTTP,
	).Replace(script))
	got := strings.Split(out, "== end of a step\n")
	for i, want := range trialWants {
		if i >= len(got) || !regexp.MustCompile(want).MatchString(got[i]) {
			t.Fatalf("step %d: want %s in\n%s\nof the script\n%s", i+1, want, strings.Join(got[min(i, len(got)-1):], ""), script)
		}
	}
	checkProvider(t, merchantOf(t, up))
}

// freePorts matches the ports of the page's commands.
var freePorts = regexp.MustCompile(`:9\d{3}\b`)

// checkProvider checks the money of the trial at the provider, by amount.
func checkProvider(t *testing.T, provider *merchant) {
	t.Helper()
	got := map[int64]v1.Transaction{}
	for _, one := range provider.transactions(t) {
		if _, twice := got[one.AmountAuthorized]; twice && one.AmountAuthorized > 0 {
			t.Errorf("the provider has %d twice", one.AmountAuthorized)
		}
		got[one.AmountAuthorized] = one
	}
	for amount, want := range map[int64]struct{ captured, refunded int64 }{
		1250: {1250, 250}, 1500: {500, 0}, 1100: {1100, 0},
	} {
		if one := got[amount]; one.AmountCaptured != want.captured || one.AmountRefunded != want.refunded {
			t.Errorf("the provider has %d/%d of %d, want %d/%d",
				one.AmountCaptured, one.AmountRefunded, amount, want.captured, want.refunded)
		}
	}
}

// section returns a section of a page, without its heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(page, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("the page has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// commands returns the lines of a text that have an indent.
func commands(text, indent string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if command, found := strings.CutPrefix(line, indent); found {
			out.WriteString(command)
		}
	}
	return out.String()
}

// startIn is start in a new folder.
func startIn(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return start(t, dir, args...)
}

// bash runs a script in a folder, and returns its standard output.
func bash(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s\n%s", err, log.String(), out.String())
	}
	return out.String()
}

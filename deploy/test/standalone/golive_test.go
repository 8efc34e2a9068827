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

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// goLive is the page with the steps to live mode.
const goLive = "../../../deploy/docs/operate/go-live.md"

// trialWants are the expected outputs of the steps of the trial, as regular expressions.
var trialWants = []string{
	`^acct_\w+ is accepted: http://127.0.0.1:\d+\n$`,
	`(?s)"mode":"live","status":"captured","amount":1250.*"object":"list".*` +
		`"mode":"test","status":"captured","amount":1250`,
	`(?s)"object":"capture".*"amount":500.*"status":"voided".*"code":"card_declined"`,
	`(?s)"object":"refund".*"status":"succeeded","amount":250`,
	`(?s)^acct_\w+ has the new credentials: .*txn_\w+ .*authorize .*1000 usd.*:1000.*` +
		`txn_\w+ approved: .*"status":"captured","amount":1000`,
	`^acct_\w+ has the new credentials: http://127.0.0.1:\d+\n$`,
	`(?s)^acct_\w+ is disabled: .*"status":"captured","amount":1100.*provider-a.* disabled .*provider-b.*second.*enabled`,
	`(?s)^[^\n]*"responseCode":"1"[^\n]*\n[^\n]*"responseCode":"1"[^\n]*\n$`,
	`(?s)^[^\n]*"status":"PENDING"[^\n]*\n[^\n]*"status":"VOIDED"[^\n]*\n$`,
	`(?s)"amount":1250.*"settlement":"settled".*cap_\w+ +failed .*1200 usd.*VOIDED`,
	`^cap_\w+ not_settled: 1200 usd, report: VOIDED\ncapture[^\n]*\n$`,
	`(?s)^[^\n]*"responseCode":"1"[^\n]*\n[^\n]*"status":"PENDING"[^\n]*\n$`,
	`(?s)causeway_account_calls_total\{.*causeway_settlement_exceptions\{`,
	`^$`,
}

// TestTrialOfGoLive pastes the trial of the page into a shell: a standalone's live mode, with
// another standalone as the provider. Its long waits move the clock of both.
func TestTrialOfGoLive(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(goLive)
	if err != nil {
		t.Fatal(err)
	}
	trial := section(t, string(text), "A trial on one machine")
	root := t.TempDir()
	clone := filepath.Join(root, "clone")
	runs := regexp.MustCompile(`(?m)^    make run (?:DATA=\.\./(\S+) )?ARGS='(.*)'$`).FindAllStringSubmatch(trial, -1)
	if len(runs) != 2 {
		t.Fatalf("commands that start the provider and Causeway: got %d, want 2 in:\n%s", len(runs), trial)
	}
	clock := fleet.NewClock(t)
	up := startTrial(t, clock, filepath.Join(root, runs[0][1]), runs[0][2])
	p := startTrial(t, clock, filepath.Join(clone, "data"), runs[1][2])

	folder, err := steered()
	if err != nil {
		t.Fatal(err)
	}
	script := trialScript(t, string(text), trial)
	out := bash(t, clone, strings.NewReplacer(
		"go run ./core/cmd/core", clock.Variable()+" "+filepath.Join(folder, "core"),
		"go run ./compat-proxy/cmd/compat-proxy", filepath.Join(bin, "compat-proxy"),
		"http://127.0.0.1:9090", up.HTTP, "http://127.0.0.1:8080", p.HTTP, "http://127.0.0.1:9080", p.adminURL(t),
		"$(date -u +%FT%TZ)", "2099-01-01T00:00:00Z", attemptWait, clock.AdvanceCommand(41*time.Second)+"\n",
		"-d '+2 minutes'", `-d "+2 minutes +`+clock.Seconds()+` seconds"`,
		dayWait, clock.AdvanceCommand(4*time.Minute)+"\nuntil core settlements list | grep -q cap_; do sleep 0.2; done\n",
	).Replace(script))
	got := strings.Split(out, "== end of a step\n")
	for i, want := range trialWants {
		if i >= len(got) || !regexp.MustCompile(want).MatchString(got[i]) {
			rest := strings.Join(got[min(i, len(got)-1):], "")
			t.Fatalf("step %d: want %s in\n%s\nof the script\n%s", i+1, want, rest, script)
		}
	}
	checkProvider(t, merchantOf(t, up))
}

// The long waits of the trial.
const attemptWait, dayWait = "sleep 20; ", "sleep 200\n"

// trialScript returns the commands of the trial. After each step it prints a line.
func trialScript(t *testing.T, page, trial string) string {
	t.Helper()
	steps := regexp.MustCompile(`(?m)^\d+\. `).Split(trial, -1)[1:]
	if len(steps) != len(trialWants) {
		t.Fatalf("steps = %d, want %d", len(steps), len(trialWants))
	}
	script := "set -eu\n" + commands(section(t, page, "2. The commands"))
	for _, step := range steps {
		script += commands(step)
		if inline := regexp.MustCompile("`(rm .*?)`").FindStringSubmatch(step); inline != nil {
			script += inline[1] + "\n"
		}
		script += "echo '== end of a step'\n"
	}
	for _, wait := range []string{attemptWait, dayWait} {
		if got := strings.Count(script, wait); got != 1 {
			t.Errorf("the script waits %d times by %q, want once", got, wait)
		}
	}
	return script
}

// TestLivePaymentOfGoLive pays by the page's function that reads a card from the terminal. After an
// invalid line it reads another one.
func TestLivePaymentOfGoLive(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(goLive)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, t.TempDir())
	functions := commands(section(t, string(text), "2. The commands"))
	got := bash(t, t.TempDir(), "set -eu\nread -rs key\nhost="+p.HTTP+"\n"+functions+"live_pay 100 usd\n",
		p.Keys.SKTest, "4111 1111-1111 1111", "123", "12/2031", "08", "31", "2031",
		`A"da`, "Ada", "Example Lovelace", "ada@example.org",
		"1 Main Street", "Austin", "TX", "73301", "usa", "US")
	if !strings.Contains(got, `"status":"captured","amount":100`) {
		t.Errorf("live_pay: got %s", got)
	}
}

// startTrial starts a standalone with the arguments of the page, on free ports.
func startTrial(t *testing.T, clock *fleet.Clock, dir, args string) *process {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	all := append(strings.Fields(freePorts.ReplaceAllString(args, ":0")), "--log", "info")
	return startSteered(t, clock, dir, all...)
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
		1000: {1000, 0}, 1250: {1250, 250}, 1500: {500, 0}, 1100: {1100, 0}, 1200: {0, 0},
		1600: {1600, 600}, 1700: {1700, 0}, 1900: {1900, 900}, 2000: {2000, 0},
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

// commands returns the code of the numbered list in a text, without the indent of its first line.
func commands(text string) string {
	var out strings.Builder
	indent := regexp.MustCompile(`(?m)^ {7,}`).FindString(text)
	for line := range strings.Lines(text) {
		if command, found := strings.CutPrefix(line, indent); found && indent != "" {
			out.WriteString(command)
		}
	}
	return out.String()
}

// bash runs a script in a folder with lines of input, and returns its standard output.
func bash(t *testing.T, dir, script string, input ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Stdin = strings.NewReader(strings.Join(input, "\n") + "\n")
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s\n%s", err, log.String(), out.String())
	}
	return out.String()
}

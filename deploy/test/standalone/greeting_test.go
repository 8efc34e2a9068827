package standalone_test

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// greet starts the binary without --json and returns the greeting.
func greet(tb testing.TB, dir string) (text string, p *process) {
	tb.Helper()
	p = launch(tb, "--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0")
	programtest.WaitFor(tb, "the standalone greets", func() bool {
		_, last, _ := strings.Cut(p.stdout.String(), "/v1/health")
		return strings.Contains(last, "\n")
	})
	return p.stdout.String(), p
}

// pasted returns the indented blocks for pasting: from "curl", or its body, to an empty line.
func pasted(text string) []string {
	var blocks []string
	for block := range strings.SplitSeq(text, "\n\n") {
		if begin := strings.TrimSpace(block); strings.HasPrefix(begin, "curl ") || strings.HasPrefix(begin, "body=") {
			blocks = append(blocks, strings.TrimRight(block, "\n"))
		}
	}
	return blocks
}

func TestEachPrintedRequestWorks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my data") // with a space, like some home folders
	text, p := greet(t, dir)
	wants := []struct{ name, want string }{
		{"v1 create", `"status":"captured"`},
		{"v1 list", `"object":"list"`},
		{"provider-a sale, xml", `<resultCode>Ok</resultCode>`},
		{"provider-a sale, json", `"resultCode":"Ok"`},
		{"provider-b sale, signed", `"status":"AUTHORIZED"`},
		{"v1 health over https", `"status":"ok"`},
	}
	blocks := pasted(text)
	if got, want := len(blocks), len(wants); got != want {
		t.Fatalf("requests = %d, want %d, in:\n%s", got, want, text)
	}
	for round := range 2 { // they must work repeatedly
		for i, w := range wants {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			// Within a second the same signed request would be the same payment. A person does not paste
			// twice within a second.
			block := strings.Replace(blocks[i], `"code": "first"`, `"code": "round `+strconv.Itoa(round)+`"`, 1)
			out, err := exec.CommandContext(ctx, "bash", "-c", block).CombinedOutput()
			cancel()
			if err != nil || !strings.Contains(string(out), w.want) {
				t.Errorf("round %d, %s: %v, output = %s, want %s in it; pasted:\n%s", round, w.name, err, out, w.want, blocks[i])
			}
		}
	}
	list := exec.CommandContext(t.Context(), "bash", "-c", blocks[1])
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := mustDecode[v1.TransactionList](t, response{status: http.StatusOK, body: string(out)})
	if got, want := len(all.Data), 8; got != want {
		t.Errorf("listed = %d, want %d: two rounds of four payments", got, want)
	}
	for _, txn := range all.Data {
		if txn.Status != v1.TransactionStatusCaptured || txn.Amount != 1250 {
			t.Errorf("%s: %s %d, want captured 1250", txn.ID, txn.Status, txn.Amount)
		}
	}
	if log := p.Log.String(); log != "" {
		t.Errorf("stderr = %s, want none next to the greeting", log)
	}
	p.Stop(t)
}

func TestGreetingIsPlainOffATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, p := greet(t, dir)
	if strings.Contains(text, "\x1b") {
		t.Errorf("colour into a pipe: %q", text)
	}
	if strings.Contains(text, "redacted") || strings.Contains(text, "<no value>") {
		t.Errorf("something is missing in:\n%s", text)
	}
	command := regexp.MustCompile(`\n  go run \./core/cmd/core accounts add --merchant mer_[0-9a-z]{13} .*` +
		` --setting NAME=VALUE .* --data '.*/core'\n`)
	if !command.MatchString(text) {
		t.Errorf("the command that adds an account for live mode is missing in:\n%s", text)
	}
	p.Stop(t)
	if r := start(t, dir); !strings.Contains(text, r.Keys.SKTest) || !strings.Contains(text, r.ProviderA.TransactionKey) ||
		!strings.Contains(text, r.ProviderB.SharedSecret) || !strings.Contains(text, r.ProviderB.P12Password) ||
		!strings.Contains(text, r.CA) {
		t.Errorf("a person and a program read different credentials; person:\n%s", text)
	}
}

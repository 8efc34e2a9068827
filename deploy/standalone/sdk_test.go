package main_test

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// values are what a client is asked for, or read, by name: a line that its program takes or prints. What is not there is "".
type values map[string]string

// sdkScript is a steps.json: what every client of a dialect does, and what it must read.
type sdkScript struct {
	Reads    values             `json:"reads"`    // what clients print of an answer: a name, and where it stands; for programs that are not told otherwise
	Free     []string           `json:"free"`     // what of it may be anything where a step does not say
	Brief    string             `json:"brief"`    // the last step of a walk that is to be a short one
	Requests map[string]values  `json:"requests"` // what steps begin from
	Answers  map[string]values  `json:"answers"`  // what their wants begin from
	Steps    []sdkStep          `json:"steps"`
	Books    map[string]sdkBook `json:"books"` // what v1 has of a step's payment in the end
}

// sdkStep is one request, or what befalls an earlier step's payment.
type sdkStep struct {
	Settle  string `json:"settle"`
	Expire  string `json:"expire"`
	Step    string `json:"step"`
	Request string `json:"request"`
	Send    values `json:"send"`
	Answer  string `json:"answer"`
	Want    values `json:"want"`
}

type sdkBook struct {
	Status     v1.TransactionStatus `json:"status"`
	Amount     v1.Money             `json:"amount"`
	Authorized v1.Money             `json:"authorized"`
	Captured   v1.Money             `json:"captured"`
	Refunded   v1.Money             `json:"refunded"`
	Settlement v1.Settlement        `json:"settlement"`
}

// sdk is a real client, installed.
type sdk struct {
	name    string
	command []string
	env     []string
	brief   bool     // it does not go all the way
	blind   []string // what it cannot read in answers, for its models have no place for it
}

// sdkDialect is what the clients of one dialect have in common.
type sdkDialect interface {
	// number is the field in which a client prints the number of what an answer is about.
	number() string
	// complete returns a request as it is sent, and what is wanted of its answer beside what the script says.
	complete(w *sdkWalk, step string, send values) (sent, want values)
	// check looks at what v1 has in the end, beside the script's books.
	check(t *testing.T, w *sdkWalk, payments map[string]v1.Transaction)
}

// script reads the script of a dialect.
func script(t *testing.T, path string) *sdkScript {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s sdkScript
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	return &s
}

// walk has one client do all of a script, and looks at each step from both sides.
func walk(t *testing.T, p *process, client sdk, s *sdkScript, dialect sdkDialect) {
	t.Helper()
	w := &sdkWalk{
		script: s, dialect: dialect, name: client.name, blind: client.blind, p: p, m: merchantOf(t, p), ask: client.open(t, p),
		read: map[string]values{}, ids: map[string]bool{},
	}
	for _, step := range s.Steps {
		switch {
		case step.Settle != "":
			w.befall(t, step.Settle, "settle")
		case step.Expire != "":
			w.befall(t, step.Expire, "expire")
		default:
			w.step(t, step)
		}
		if client.brief && step.Step == s.Brief {
			break
		}
	}
	w.checkBooks(t)
	checkNoTrace(t, w.m)
}

// sdkWalk is one client on its way through the script.
type sdkWalk struct {
	script  *sdkScript
	dialect sdkDialect
	name    string
	blind   []string
	p       *process
	m       *merchant
	ask     func(values) values
	at      string            // the step it is at
	read    map[string]values // what it read, by step
	ids     map[string]bool   // the numbers that were new when it read them
}

// befall settles a step's payment, or lets it expire.
func (w *sdkWalk) befall(t *testing.T, step, what string) {
	t.Helper()
	got := w.m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+txn(t, w.read[step][w.dialect.number()])+"/"+what, "", "")
	if got.status != http.StatusOK {
		t.Fatalf("%s %s = %d %s", what, step, got.status, got.body)
	}
}

func (w *sdkWalk) step(t *testing.T, s sdkStep) {
	t.Helper()
	send, known := w.script.Requests[s.Request]
	want, answered := w.script.Answers[s.Answer]
	if !known || !answered {
		t.Fatalf("%s: no request %q or answer %q", s.Step, s.Request, s.Answer)
	}
	w.at = s.Step
	send, more := w.dialect.complete(w, s.Step, w.filled(send, s.Send))
	got := w.ask(send)
	w.read[s.Step] = got
	want = w.filled(values{"step": s.Step}, more, want, s.Want)
	all := maps.Clone(want)
	maps.Copy(all, got)
	for field := range all {
		if want[field] == "" && slices.Contains(w.script.Free, field) || got[field] == "" && slices.Contains(w.blind, field) {
			continue
		}
		if !w.fits(got[field], want[field]) {
			t.Errorf("%s: %s = %q, want %q", s.Step, field, got[field], want[field])
		}
	}
}

// filled merges lines, the later ones first, and puts what earlier steps read in the place of ${step} and ${step.field}, the client's
// name in that of ${client}, and the step's own in that of ${this}.
func (w *sdkWalk) filled(lines ...values) values {
	out := values{}
	for _, line := range lines {
		for field, value := range line {
			if out[field] = os.Expand(value, w.known); out[field] == "" {
				delete(out, field)
			}
		}
	}
	return out
}

// known is what stands for a name between ${ and }.
func (w *sdkWalk) known(name string) string {
	switch name {
	case "client":
		return w.name
	case "this":
		return w.at
	}
	step, of, found := strings.Cut(name, ".")
	if !found {
		of = w.dialect.number()
	}
	return w.read[step][of]
}

// sdkPatterns are the wants that differ from run to run.
var sdkPatterns = map[string]*regexp.Regexp{
	"#new": regexp.MustCompile(`^[1-9][0-9]+$`), "#id": regexp.MustCompile(`^[1-9][0-9]+$`),
	"#code": regexp.MustCompile(`^[0-9A-Z]{6}$`), "#network": regexp.MustCompile(`^[0-9A-Z]{15,}$`),
}

// fits reports whether a value is the wanted one, or like it when that begins with ~. A new number was never read before.
func (w *sdkWalk) fits(got, want string) bool {
	if like, is := strings.CutPrefix(want, "~"); is {
		return regexp.MustCompile(like).MatchString(got)
	}
	pattern := sdkPatterns[want]
	if pattern == nil {
		return got == want
	}
	if want == "#new" {
		seen := w.ids[got]
		w.ids[got] = true
		return !seen && pattern.MatchString(got)
	}
	return pattern.MatchString(got)
}

// txn returns the v1 id of a legacy number.
func txn(t *testing.T, number string) string {
	t.Helper()
	got, err := id.Decimal(id.Transaction, number)
	if err != nil {
		t.Fatalf("%q: %v", number, err)
	}
	return got
}

// checkBooks wants the payments in v1 as the client left them, each once and under the client's own name for it.
func (w *sdkWalk) checkBooks(t *testing.T) {
	t.Helper()
	byID := map[string]v1.Transaction{}
	for _, x := range w.m.transactions(t) {
		byID[x.ID] = x
	}
	for step, want := range w.script.Books {
		if w.read[step] == nil {
			continue // a brief walk
		}
		x := byID[txn(t, w.read[step][w.dialect.number()])]
		got := sdkBook{x.Status, x.Amount, x.AmountAuthorized, x.AmountCaptured, x.AmountRefunded, x.Settlement}
		if got != want {
			t.Errorf("%s = %+v, want %+v", step, got, want)
		}
		if x.Reference == nil || *x.Reference != w.name+"-"+step {
			t.Errorf("%s: reference = %v, want the client's own name for it, %s-%s", step, x.Reference, w.name, step)
		}
		if x.Billing == nil || x.Billing.LastName == nil || *x.Billing.LastName != "Wåhlin" {
			t.Errorf("%s: billing = %+v, want the client's name in it, unbroken", step, x.Billing)
		}
	}
	w.dialect.check(t, w, byID)
}

// checkNoTrace wants no word of the legacy side in any payment v1 shows. (The scope compat:use, which a key may have, is v1's own.)
func checkNoTrace(t *testing.T, m *merchant) {
	t.Helper()
	words := []string{
		"compat", "proxy", "provider", "authorize.net", "authorizenet", "legacy", "sdk-", "transid", "refid", "ref_id", "invoicenumber", "invoice_number",
		"transactionkey", "transactiontype", "authcapture", "priorauth", "responsecode\"", "clientid", "duplicatewindow", "billto", "poNumber",
	}
	for _, path := range []string{"/v1/transactions", "/v1/refunds"} {
		body := strings.ToLower(m.must(t, http.MethodGet, path, "", "").body)
		for _, word := range words {
			if _, after, found := strings.Cut(body, strings.ToLower(word)); found {
				t.Errorf("%s speaks of %q, before %.40s", path, word, after)
			}
		}
	}
}

// open starts the client's program and returns how to have it execute a request. The test's end stops it.
func (s sdk) open(t *testing.T, p *process) func(values) values {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute) // it ends by itself, in the cleanup
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Dir = t.TempDir() // clients leave log files where they run
	cmd.Env = append(os.Environ(), s.env...)
	stderr := &lockedBuffer{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v (this test needs it on PATH)", s.name, err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which is how it is told to end
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("%s: %v\n%s", s.name, err, stderr)
		}
		cancel()
	})
	lines := bufio.NewReader(out)
	return func(send values) values {
		t.Helper()
		line, err := json.Marshal(send)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.Write(append(line, '\n'))
		if err != nil {
			t.Fatalf("%s: %s: %v\n%s", s.name, send["step"], err, stderr)
		}
		answer, err := lines.ReadString('\n')
		var got values
		if err == nil {
			err = json.Unmarshal([]byte(answer), &got)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v\nprinted %q\n%s\nstandalone:\n%s", s.name, send["step"], err, answer, stderr, p.stderr)
		}
		return got
	}
}

package main_test

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// values are what a client is asked for, or read, by name: a line that its program takes or prints. What is not there is "".
type values map[string]string

// sdkScript is sdktest/steps.json: what every client does, and what it must read.
type sdkScript struct {
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
}

// TestClients sends unmodified clients of provider-a through the days of a merchant, side by side, over HTTPS by the development authority.
func TestClients(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	mapRefunder(t, p, filepath.Join(data, "compat-credentials.yaml"))
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		walk(t, p, nodeClient(t, p, "sdktest/node/walk.js"))
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		walk(t, p, pythonClient(t, p, "sdktest/python/walk.py"))
	})
	t.Run("java", func(t *testing.T) {
		t.Parallel()
		walk(t, p, javaClient(t, p, "sdktest/java/Walk.java"))
	})
}

// mapRefunder gives the running proxy a second login, which may refund a card without naming a payment.
func mapRefunder(t *testing.T, p *process, logins string) {
	t.Helper()
	apiKey, own := filepath.Join(t.TempDir(), "api-key"), filepath.Join(t.TempDir(), "transaction-key")
	for path, text := range map[string]string{apiKey: p.Keys.SKTest, own: "refunderKey00001"} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	credentialsOf(t, logins, "map", "--name", "refunder", "--transaction-key-file", own, "--api-key-file", apiKey, "--unlinked-refunds")
	(&loginDesk{p: p, proxy: &replica{base: p.HTTP, stderr: p.stderr}}).until(t, "refunder", "refunderKey00001", "1/1")
}

func nodeClient(t *testing.T, p *process, program string) sdk {
	t.Helper()
	return sdk{
		name: "node", command: []string{"node", absolute(t, program)},
		env: []string{"NODE_PATH=" + installNode(t, "node", "sdktest/node"), "NODE_EXTRA_CA_CERTS=" + p.CA},
	}
}

func pythonClient(t *testing.T, p *process, program string) sdk {
	t.Helper()
	return sdk{
		name: "python", command: []string{"python3", absolute(t, program)},
		env: []string{"PYTHONPATH=" + installPython(t), "PYTHONDONTWRITEBYTECODE=1", "REQUESTS_CA_BUNDLE=" + p.CA},
	}
}

// javaClient makes a trust store of the development authority, as a user would.
func javaClient(t *testing.T, p *process, program string) sdk {
	t.Helper()
	libraries := installJava(t)
	store := t.TempDir() + "/trust.p12"
	keytool := exec.CommandContext(t.Context(), "keytool", "-importcert", "-noprompt", "-alias", "causeway", "-file", p.CA,
		"-keystore", store, "-storetype", "PKCS12", "-storepass", "changeit")
	if out, err := keytool.CombinedOutput(); err != nil {
		t.Fatalf("keytool: %v\n%s", err, out)
	}
	return sdk{name: "java", command: []string{
		"java", "-XX:TieredStopAtLevel=1", "-Djavax.net.ssl.trustStore=" + store, "-Djavax.net.ssl.trustStorePassword=changeit",
		"-cp", libraries + "/*", absolute(t, program),
	}}
}

// walk has one client do all of the script, and looks at each step from both sides.
func walk(t *testing.T, p *process, client sdk) {
	t.Helper()
	text, err := os.ReadFile("sdktest/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	var script sdkScript
	if err := json.Unmarshal(text, &script, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	w := &sdkWalk{script: &script, name: client.name, p: p, m: merchantOf(t, p), ask: client.open(t, p), read: map[string]values{}, ids: map[string]bool{}}
	for _, s := range script.Steps {
		switch {
		case s.Settle != "":
			w.befall(t, s.Settle, "settle")
		case s.Expire != "":
			w.befall(t, s.Expire, "expire")
		default:
			w.step(t, s)
		}
	}
	w.checkBooks(t)
	checkNoTrace(t, w.m)
}

// sdkWalk is one client on its way through the script.
type sdkWalk struct {
	script *sdkScript
	name   string
	p      *process
	m      *merchant
	ask    func(values) values
	read   map[string]values // what it read, by step
	ids    map[string]bool   // the payment numbers it read
}

// befall settles a step's payment, or lets it expire.
func (w *sdkWalk) befall(t *testing.T, step, what string) {
	t.Helper()
	got := w.m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+txn(t, w.read[step]["trans_id"])+"/"+what, "", "")
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
	ref := ("ref-" + s.Step)[:min(len(s.Step)+4, 20)]
	send = w.filled(send, values{"login": w.p.ProviderA.Name, "key": w.p.ProviderA.TransactionKey, "step": s.Step, "ref_id": ref}, s.Send)
	if (send["zip"] != "" || send["invoice"] != "") && send["method"] == "transaction" { // the client's own name for the payment
		invoice := s.Step
		if send["invoice"] != "" {
			invoice = send["invoice"]
		}
		send["invoice"] = w.name + "-" + invoice
	}
	got := w.ask(send)
	w.read[s.Step] = got
	want = w.filled(values{"step": s.Step, "ref_id": ref}, want, s.Want)
	all := maps.Clone(want)
	maps.Copy(all, got)
	for field := range all {
		if field == "text" && want[field] == "" {
			continue
		}
		if !w.fits(got[field], want[field]) {
			t.Errorf("%s: %s = %q, want %q", s.Step, field, got[field], want[field])
		}
	}
}

// filled merges lines, the later ones first, and puts what earlier steps read in the place of ${step} and ${step.field}, and the client's
// name in that of ${client}.
func (w *sdkWalk) filled(lines ...values) values {
	out := values{}
	for _, line := range lines {
		for field, value := range line {
			value = os.Expand(value, func(name string) string {
				if name == "client" {
					return w.name
				}
				step, of, found := strings.Cut(name, ".")
				if !found {
					of = "trans_id"
				}
				return w.read[step][of]
			})
			if out[field] = value; value == "" {
				delete(out, field)
			}
		}
	}
	return out
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
		x := byID[txn(t, w.read[step]["trans_id"])]
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
	for id := range w.ids {
		if byID[txn(t, id)].ID != "" {
			delete(w.ids, id)
		}
	}
	if got, want := len(w.ids), w.refunds(); got != want {
		t.Errorf("numbers that are no payment in v1 = %d, want those of the %d refunds", got, want)
	}
}

// refunds is how many refunds the client made.
func (w *sdkWalk) refunds() int {
	n := 0
	for _, s := range w.script.Steps {
		if s.Answer == "refunded" {
			n++
		}
	}
	return n
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
	cmd.Env = append(os.Environ(), append(s.env, "SDK_GATEWAY="+p.HTTPS+"/xml/v1/request.api")...)
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

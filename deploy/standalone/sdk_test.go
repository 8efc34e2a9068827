package main_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// sdkStep is one line of sdktest/*/walk.*: what the real client read from our answer.
type sdkStep struct {
	Step          string `json:"step"`
	RefID         string `json:"ref_id"`
	Result        string `json:"result"`
	Code          string `json:"code"`
	ResponseCode  string `json:"response_code"`
	Reason        string `json:"reason"`
	TransID       string `json:"trans_id"`
	AuthCode      string `json:"auth_code"`
	AccountNumber string `json:"account_number"`
	AccountType   string `json:"account_type"`
}

// sdk is a real client, installed.
type sdk struct {
	name    string
	trust   string // the variable that names an authority to it
	command []string
	env     []string
}

func TestNodeClient(t *testing.T) {
	t.Parallel()
	walk(t, sdk{
		name: "node", trust: "NODE_EXTRA_CA_CERTS", command: []string{"node", absolute(t, "sdktest/node/walk.js")},
		env: []string{"NODE_PATH=" + installNode(t, "node", "sdktest/node")},
	})
}

func TestPythonClient(t *testing.T) {
	t.Parallel()
	walk(t, sdk{
		name: "python", trust: "REQUESTS_CA_BUNDLE", command: []string{"python3", absolute(t, "sdktest/python/walk.py")},
		env: []string{"PYTHONPATH=" + installPython(t), "PYTHONDONTWRITEBYTECODE=1"},
	})
}

// walk sends one client through the day of a merchant, and looks at each step from both sides.
func walk(t *testing.T, client sdk) {
	t.Helper()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	ids := map[string]string{}
	steps := client.run(t, p)
	want := []sdkStep{
		{Step: "sale", Result: "Ok", Code: "I00001", ResponseCode: "1", Reason: "1"},
		{Step: "authorize", Result: "Ok", Code: "I00001", ResponseCode: "1", Reason: "1"},
		{Step: "capture", Result: "Ok", Code: "I00001", ResponseCode: "1", Reason: "1"},
		{Step: "authorize-2", Result: "Ok", Code: "I00001", ResponseCode: "1", Reason: "1"},
		{Step: "void", Result: "Ok", Code: "I00001", ResponseCode: "1", Reason: "1"},
		{Step: "decline", Result: "Ok", Code: "I00001", ResponseCode: "2", Reason: "2"},
		{Step: "wrong-key", Result: "Error", Code: "E00007"},
		{Step: "refund-early", Result: "Error", Code: "E00027", ResponseCode: "3", Reason: "54"},
	}
	checkSteps(t, steps, want)
	for _, s := range steps {
		ids[s.Step] = s.TransID
	}
	if ids["capture"] != ids["authorize"] || ids["void"] != ids["authorize-2"] || ids["refund-early"] != "0" || ids["wrong-key"] != "" {
		t.Errorf("transaction ids do not follow the contract: %v", ids)
	}
	settled := m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+txn(t, ids["sale"])+"/settle", "", "")
	if settled.status != http.StatusOK {
		t.Fatalf("settle = %d %s", settled.status, settled.body)
	}
	checkSteps(t, client.run(t, p, ids["sale"]), []sdkStep{{Step: "refund", Result: "Ok", Code: "I00001", ResponseCode: "1", Reason: "1"}})
	checkInV1(t, m, client.name, ids)
	checkNoTrace(t, m)
}

// checkSteps compares what does not differ from run to run.
func checkSteps(t *testing.T, got, want []sdkStep) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("steps = %d, want %d: %+v", len(got), len(want), got)
	}
	for i, g := range got {
		approved := g.ResponseCode == "1" && g.Step != "refund"
		if approved != (len(g.AuthCode) == 6) {
			t.Errorf("%s: auth code %q", g.Step, g.AuthCode)
		}
		if g.ResponseCode != "" && (g.AccountNumber != "XXXX1111" || g.AccountType != "Visa") {
			t.Errorf("%s: account %s %s, want XXXX1111 Visa", g.Step, g.AccountNumber, g.AccountType)
		}
		if g.RefID != "ref-"+g.Step {
			t.Errorf("%s: ref id = %q, want ref-%s", g.Step, g.RefID, g.Step)
		}
		g.RefID, g.TransID, g.AuthCode, g.AccountNumber, g.AccountType = "", "", "", "", ""
		if g != want[i] {
			t.Errorf("step %d = %+v, want %+v", i, g, want[i])
		}
	}
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

// checkInV1 wants each payment in the list of v1, as it should be there.
func checkInV1(t *testing.T, m *merchant, name string, ids map[string]string) {
	t.Helper()
	type books struct {
		status                                 v1.TransactionStatus
		amount, authorized, captured, refunded v1.Money
		settlement                             v1.Settlement
	}
	want := map[string]books{
		"sale":        {v1.TransactionStatusCaptured, 1250, 1250, 1250, 250, v1.SettlementSettled},
		"authorize":   {v1.TransactionStatusCaptured, 2000, 2000, 500, 0, v1.SettlementPending},
		"authorize-2": {v1.TransactionStatusVoided, 3000, 3000, 0, 0, v1.SettlementNone},
		"decline":     {v1.TransactionStatusDeclined, 700, 0, 0, 0, v1.SettlementNone},
	}
	all := m.transactions(t)
	if got, want := len(all), len(want); got != want {
		t.Errorf("transactions = %d, want %d", got, want)
	}
	byID := map[string]v1.Transaction{}
	for _, x := range all {
		byID[x.ID] = x
	}
	for step, w := range want {
		x := byID[txn(t, ids[step])]
		if got := (books{x.Status, x.Amount, x.AmountAuthorized, x.AmountCaptured, x.AmountRefunded, x.Settlement}); got != w {
			t.Errorf("%s = %+v, want %+v", step, got, w)
		}
		if x.Reference == nil || *x.Reference != name+"-"+step {
			t.Errorf("%s: reference = %v, want the client's own name for it, %s-%s", step, x.Reference, name, step)
		}
		if x.Billing == nil || x.Billing.LastName == nil || *x.Billing.LastName != "Wåhlin" {
			t.Errorf("%s: billing = %+v, want the client's name in it, unbroken", step, x.Billing)
		}
	}
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

// run starts the client's script and returns its lines.
func (s sdk) run(t *testing.T, p *process, args ...string) []sdkStep {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command[0], append(s.command[1:], args...)...)
	cmd.Dir = t.TempDir() // clients leave log files where they run
	cmd.Env = append(os.Environ(), append(s.env, s.trust+"="+p.CA, "SDK_GATEWAY="+p.HTTPS+"/xml/v1/request.api",
		"SDK_LOGIN="+p.ProviderA.Name, "SDK_KEY="+p.ProviderA.TransactionKey)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s\nstandalone:\n%s", s.name, err, stdout.String(), stderr.String(), p.stderr)
	}
	var steps []sdkStep
	for line := range strings.Lines(stdout.String()) {
		var step sdkStep
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			t.Fatalf("%s printed %q: %v", s.name, line, err)
		}
		steps = append(steps, step)
	}
	return steps
}

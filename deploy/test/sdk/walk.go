package sdk

import (
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// dialect is the common part of all clients of one dialect.
type dialect interface {
	// number returns the name of the line with the number of the response's object.
	number() string
	// complete returns a complete request, and the expected response in addition to the script's.
	complete(w *walker, step string, send values) (sent, want values)
	// check checks the final state of v1, in addition to the script's.
	check(t *testing.T, w *walker, payments map[string]v1.Transaction)
}

// walk runs all steps of a script with one client, and compares each response with v1. The function
// execute sends a request by the client.
func walk(t *testing.T, s *System, client Client, execute func(*testing.T, values) values, steps *script, d dialect) {
	t.Helper()
	w := &walker{
		script: steps, dialect: d, name: client.Name, brief: client.Brief, blind: client.blind, s: s, execute: execute,
		read: map[string]values{}, ids: map[string]bool{},
	}
	for _, step := range steps.Steps {
		switch {
		case step.Settle != "":
			w.control(t, step.Settle, "settle")
		case step.Expire != "":
			w.control(t, step.Expire, "expire")
		default:
			w.step(t, step)
		}
		if client.Brief && step.Step == steps.Brief {
			break
		}
	}
	w.checkStored(t)
	checkNoTrace(t, s)
}

// walker is one client during its walk.
type walker struct {
	script  *script
	dialect dialect
	name    string
	brief   bool // the walk ends early
	blind   []string
	s       *System
	execute func(*testing.T, values) values
	at      string            // the present step
	read    map[string]values // read lines, by step
	ids     map[string]bool   // numbers that were new
}

// control settles the payment of a step, or lets it expire.
func (w *walker) control(t *testing.T, step, what string) {
	t.Helper()
	path := "/v1/test_helpers/transactions/" + transaction(t, w.read[step][w.dialect.number()]) + "/" + what
	if status, body := w.s.send(t, http.MethodPost, path); status != http.StatusOK {
		t.Fatalf("%s %s = %d %s", what, step, status, body)
	}
}

func (w *walker) step(t *testing.T, s step) {
	t.Helper()
	send, known := w.script.Requests[s.Request]
	want, expected := w.script.Responses[s.Response]
	if !known || !expected {
		t.Fatalf("%s: no request %q or response %q", s.Step, s.Request, s.Response)
	}
	w.at = s.Step
	send, more := w.dialect.complete(w, s.Step, w.filled(send, s.Send))
	got := w.execute(t, send)
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

// filled merges lines, later ones first, and replaces the placeholders. ${step} and ${step.field}
// stand for lines that earlier steps read, ${client} for the client's name, and ${this} for the
// step's own.
func (w *walker) filled(lines ...values) values {
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

// known returns the value of the placeholder with a name.
func (w *walker) known(name string) string {
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

// patterns are expected values that differ from run to run.
var patterns = map[string]*regexp.Regexp{
	"#new": regexp.MustCompile(`^[1-9][0-9]+$`), "#id": regexp.MustCompile(`^[1-9][0-9]+$`),
	"#code": regexp.MustCompile(`^[0-9A-Z]{6}$`), "#network": regexp.MustCompile(`^[0-9A-Z]{15,}$`),
}

// fits reports whether a value equals the expected one, or matches its pattern if that begins with
// ~. A new number was never read before.
func (w *walker) fits(got, want string) bool {
	if like, is := strings.CutPrefix(want, "~"); is {
		return regexp.MustCompile(like).MatchString(got)
	}
	pattern := patterns[want]
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

// transaction returns the v1 id of a legacy number.
func transaction(t *testing.T, number string) string {
	t.Helper()
	got, err := id.Decimal(id.Transaction, number)
	if err != nil {
		t.Fatalf("%q: %v", number, err)
	}
	return got
}

// checkStored checks that v1 has the client's payments in their final state, each once and under
// the client's own name for it.
func (w *walker) checkStored(t *testing.T) {
	t.Helper()
	byID := map[string]v1.Transaction{}
	for _, x := range w.s.Transactions(t) {
		byID[x.ID] = x
	}
	for step, want := range w.script.Final {
		if w.read[step] == nil {
			if !w.brief {
				t.Errorf("%s: the script has a final state, and no such step", step)
			}
			continue
		}
		x := byID[transaction(t, w.read[step][w.dialect.number()])]
		got := record{x.Status, x.Amount, x.AmountAuthorized, x.AmountCaptured, x.AmountRefunded, x.Settlement}
		if got != want {
			t.Errorf("%s = %+v, want %+v", step, got, want)
		}
		if x.Reference == nil || *x.Reference != w.name+"-"+step {
			t.Errorf("%s: reference = %v, want the client's own name for it, %s-%s", step, x.Reference, w.name, step)
		}
		if x.Billing == nil || x.Billing.LastName == nil || *x.Billing.LastName != "Wåhlin" {
			t.Errorf("%s: billing = %+v, want the client's name in it unchanged", step, x.Billing)
		}
	}
	w.dialect.check(t, w, byID)
}

// checkNoTrace checks that no payment in v1 has a word of the legacy dialects. The scope compat:use
// is v1's own.
func checkNoTrace(t *testing.T, s *System) {
	t.Helper()
	words := []string{
		"compat", "proxy", "provider", "authorize.net", "authorizenet", "legacy", "sdk-", "transid", "refid", "ref_id",
		"invoicenumber", "invoice_number",
		"transactionkey", "transactiontype", "authcapture", "priorauth", "responsecode\"", "clientid", "duplicatewindow",
		"billto", "poNumber",
	}
	for _, path := range []string{"/v1/transactions", "/v1/refunds"} {
		status, body := s.send(t, http.MethodGet, path+"?limit=100")
		if status != http.StatusOK || path == "/v1/transactions" && !strings.Contains(body, `"id":"txn_`) {
			t.Fatalf("%s: got %d %s, want payments", path, status, body)
		}
		body = strings.ToLower(body)
		for _, word := range words {
			if _, after, found := strings.Cut(body, strings.ToLower(word)); found {
				t.Errorf("%s contains %q, before %.40s", path, word, after)
			}
		}
	}
}

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

// dialect is what the clients of one dialect have in common.
type dialect interface {
	// number is the field in which a client prints the number of what an answer is about.
	number() string
	// complete returns a request as it is sent, and what is wanted of its answer beside what the script says.
	complete(w *walker, step string, send values) (sent, want values)
	// check looks at what v1 has in the end, beside the script's books.
	check(t *testing.T, w *walker, payments map[string]v1.Transaction)
}

// walk has one client do all of a script, and looks at each step from both sides.
func walk(t *testing.T, s *System, client Client, steps *script, d dialect) {
	t.Helper()
	w := &walker{
		script: steps, dialect: d, name: client.Name, blind: client.blind, s: s, ask: client.open(t, s),
		read: map[string]values{}, ids: map[string]bool{},
	}
	for _, step := range steps.Steps {
		switch {
		case step.Settle != "":
			w.befall(t, step.Settle, "settle")
		case step.Expire != "":
			w.befall(t, step.Expire, "expire")
		default:
			w.step(t, step)
		}
		if client.Brief && step.Step == steps.Brief {
			break
		}
	}
	w.checkBooks(t)
	checkNoTrace(t, s)
}

// walker is one client on its way through the script.
type walker struct {
	script  *script
	dialect dialect
	name    string
	blind   []string
	s       *System
	ask     func(values) values
	at      string            // the step it is at
	read    map[string]values // what it read, by step
	ids     map[string]bool   // the numbers that were new when it read them
}

// befall settles a step's payment, or lets it expire.
func (w *walker) befall(t *testing.T, step, what string) {
	t.Helper()
	path := "/v1/test_helpers/transactions/" + transaction(t, w.read[step][w.dialect.number()]) + "/" + what
	if status, body := w.s.ask(t, http.MethodPost, path); status != http.StatusOK {
		t.Fatalf("%s %s = %d %s", what, step, status, body)
	}
}

func (w *walker) step(t *testing.T, s step) {
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

// known is what stands for a name between ${ and }.
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

// patterns are the wants that differ from run to run.
var patterns = map[string]*regexp.Regexp{
	"#new": regexp.MustCompile(`^[1-9][0-9]+$`), "#id": regexp.MustCompile(`^[1-9][0-9]+$`),
	"#code": regexp.MustCompile(`^[0-9A-Z]{6}$`), "#network": regexp.MustCompile(`^[0-9A-Z]{15,}$`),
}

// fits reports whether a value is the wanted one, or like it when that begins with ~. A new number was never read before.
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

// checkBooks wants the payments in v1 as the client left them, each once and under the client's own name for it.
func (w *walker) checkBooks(t *testing.T) {
	t.Helper()
	byID := map[string]v1.Transaction{}
	for _, x := range w.s.Transactions(t) {
		byID[x.ID] = x
	}
	for step, want := range w.script.Books {
		if w.read[step] == nil {
			continue // a brief walk
		}
		x := byID[transaction(t, w.read[step][w.dialect.number()])]
		got := book{x.Status, x.Amount, x.AmountAuthorized, x.AmountCaptured, x.AmountRefunded, x.Settlement}
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
func checkNoTrace(t *testing.T, s *System) {
	t.Helper()
	words := []string{
		"compat", "proxy", "provider", "authorize.net", "authorizenet", "legacy", "sdk-", "transid", "refid", "ref_id", "invoicenumber", "invoice_number",
		"transactionkey", "transactiontype", "authcapture", "priorauth", "responsecode\"", "clientid", "duplicatewindow", "billto", "poNumber",
	}
	for _, path := range []string{"/v1/transactions", "/v1/refunds"} {
		_, body := s.ask(t, http.MethodGet, path)
		body = strings.ToLower(body)
		for _, word := range words {
			if _, after, found := strings.Cut(body, strings.ToLower(word)); found {
				t.Errorf("%s speaks of %q, before %.40s", path, word, after)
			}
		}
	}
}

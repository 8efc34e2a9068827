package api_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/causeway-pay/causeway/core/internal/api"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestPublishedContract: the published contract has no field for our generator, and references
// without other members.
func TestPublishedContract(t *testing.T) {
	t.Parallel()
	b := setup(t)
	published := b.get(t, "/v1/openapi.json", header("Authorization")).body
	source, err := yaml.YAMLToJSON(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{`"x-order"`, `"x-go-`, "causeway-pay"} {
		if strings.Contains(string(published), own) {
			t.Errorf("the published contract has %s", own)
		}
		if !strings.Contains(string(source), own) {
			t.Errorf("the contract has no %s to leave out", own)
		}
	}
	for what, contract := range map[string][]byte{"source": source, "published": published} {
		var doc any
		if err := json.Unmarshal(contract, &doc); err != nil {
			t.Fatal(err)
		}
		wantBareReferences(t, what, doc)
	}
}

// TestPublishedExtensions: the published contract has only the extensions that its readers need.
func TestPublishedExtensions(t *testing.T) {
	t.Parallel()
	published := setup(t).get(t, "/v1/openapi.json", header("Authorization")).body
	got := slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, m := range regexp.MustCompile(`"(x-[a-z-]+)":`).FindAllSubmatch(published, -1) {
			if !yield(string(m[1])) {
				return
			}
		}
	}))
	if want := []string{"x-enum-varnames", "x-extensible-enum", "x-property-names"}; !slices.Equal(got, want) {
		t.Errorf("got the extensions %q, want %q", got, want)
	}
}

// TestExampleOfAPayment: the contract has an example of a payment, which the service accepts.
func TestExampleOfAPayment(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(doc.Components.Schemas["TransactionCreate"].Value.Example)
	if err != nil {
		t.Fatal(err)
	}
	if got := MustDecode[v1.Transaction](t, setup(t).post(t, "/v1/transactions", string(body)), 201); got.Billing == nil || got.Card == nil {
		t.Errorf("got %+v, want a payment with a card and an address", got)
	}
}

// wantBareReferences fails if a reference of a document has other members.
func wantBareReferences(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if _, isRef := v["$ref"].(string); isRef && len(v) > 1 {
			t.Errorf("%s: got %v, want the reference alone", at, v)
		}
		for name, member := range v {
			wantBareReferences(t, at+"."+name, member)
		}
	case []any:
		for i, item := range v {
			wantBareReferences(t, fmt.Sprintf("%s.%d", at, i), item)
		}
	}
}

// TestPageHasNoSchemaOfDeliveries: the page has one schema for the events of all types.
func TestPageHasNoSchemaOfDeliveries(t *testing.T) {
	t.Parallel()
	page, _ := read(t, setup(t).server.URL+"/docs")
	for name, want := range map[string]bool{
		"WebhookEvent": true, "EventData": true, "MLEKeyRotation": true, "EventEnvelope": false, "TransactionCapturedEvent": false,
		"TransactionEventData": false,
	} {
		if got := strings.Contains(page, `"schema-`+name+`"`); got != want {
			t.Errorf("the page has %s: got %t, want %t", name, got, want)
		}
	}
}

func TestContractAsJSON(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.get(t, "/v1/openapi.json", header("Authorization"))
	if a.status != http.StatusOK {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	doc, err := openapi3.NewLoader().LoadFromData(a.body)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if doc.Paths.Find("/v1/transactions") == nil {
		t.Error("the contract has no transactions")
	}
	source, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Security) != 1 || len(source.Security) != 1 {
		t.Errorf("got the requirements %v, want %v", doc.Security, source.Security)
	}
	open := []string{}
	for path, item := range source.Paths.Map() {
		for method, operation := range item.Operations() {
			got, want := doc.Paths.Find(path).GetOperation(method).Security, operation.Security
			if (got == nil) != (want == nil) || got != nil && len(*got) != len(*want) {
				t.Errorf("%s %s: got the requirements %v, want %v", method, path, got, want)
			}
			if want != nil {
				open = append(open, path)
			}
		}
	}
	slices.Sort(open)
	if want := []string{
		"/v1/health", "/v1/js/causeway-1.js", "/v1/mle/requirements", "/v1/openapi.json", "/v1/trust",
		"/v1/trust/calendar.ics", "/v1/trust/fingerprints",
	}; !slices.Equal(open, want) {
		t.Errorf("need no key: got %q, want %q", open, want)
	}
}

// read fetches a page that is not described by the contract.
func read(t *testing.T, url string) (body string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %d %s, %v", resp.StatusCode, b, err)
	}
	return string(b), resp.Header
}

func TestDocs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page, headers := read(t, b.server.URL+"/docs")
	if got, want := headers.Get("Content-Type"), "text/html; charset=utf-8"; got != want {
		t.Errorf("content type: got %q, want %q", got, want)
	}
	for _, want := range []string{
		`<code>/v1/transactions/{id}/captures</code>`, `id="schema-Transaction"`, `<code>invalid_api_key</code>`, `<code>pm_card_visa</code>`,
		`>4242424242424242<`, `<code>mle_required</code>`, `<code>mle_decrypt_failed</code>`, `<code>misdirected_request</code>`,
		`<code>headers_too_large</code>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "/") && m[1] != "data:," {
			t.Errorf("the page loads or links to %s: it must work offline", m[1])
		}
	}
	if strings.Contains(page, "<script>") || strings.Contains(page, "style=") {
		t.Error("what stands in the page itself its policy forbids")
	}
	if csp := headers.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
		t.Errorf("content security policy: got %q", csp)
	}
	for file, kind := range map[string]string{"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"} {
		if _, headers := read(t, b.server.URL+"/docs/"+file); headers.Get("Content-Type") != kind {
			t.Errorf("%s: got %q, want %q", file, headers.Get("Content-Type"), kind)
		}
	}
}

// operatorCodes are the codes that only the operator's API has.
var operatorCodes = []string{
	"invalid_operator_token", "insufficient_role", "too_many_logins", "account_exists", "account_check_failed",
}

// TestDocURLs: each code that v1 or a program in front of it can send has one line on the page. The
// doc_url of the error leads to it. The page has no line of another code.
func TestDocURLs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page, _ := read(t, b.server.URL+"/docs")
	want := v1.FrontCodes()
	for code := range api.Codes() {
		if !slices.Contains(operatorCodes, code) {
			want = append(want, code)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for _, m := range regexp.MustCompile(`<tr id="error-([^"]*)"><th scope="row"><code>([^<]*)</code>`).FindAllStringSubmatch(page, -1) {
		if m[1] != m[2] {
			t.Errorf("the line of %s has the anchor of %s", m[2], m[1])
		}
		got = append(got, m[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got anchors of %q\nwant %q", got, want)
	}
	for path, code := range map[string]string{"/v1/none": "route_not_found", "/v1/tokens/x": "not_found"} {
		from, err := url.Parse(b.server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		to, err := from.Parse(MustDecode[v1.ErrorBody](t, b.get(t, path), http.StatusNotFound).Error.DocURL)
		if err != nil {
			t.Fatal(err)
		}
		anchor := to.Fragment
		to.Fragment = ""
		if page, _ := read(t, to.String()); anchor != "error-"+code || !strings.Contains(page, `id="`+anchor+`"`) {
			t.Errorf("%s: got a link to %q, want one to the line of %s", path, anchor, code)
		}
	}
}

// TestNoDocURLOfOperators: the page is for merchants, so it has no line of a code that only the
// operator's API has.
func TestNoDocURLOfOperators(t *testing.T) {
	t.Parallel()
	_, p := operated(t)
	for _, c := range []struct {
		got      response
		status   int
		code, at string
	}{
		{p.get(t, merchants, as("op_x")), 401, "invalid_operator_token", ""},
		{p.get(t, merchants+"/none"), 404, "not_found", "/docs#error-not_found"},
	} {
		if e := MustDecode[v1.ErrorBody](t, c.got, c.status).Error; e.Code != c.code || e.DocURL != c.at {
			t.Errorf("got %s with doc_url %q, want %s with %q", e.Code, e.DocURL, c.code, c.at)
		}
	}
}

// catalogue is configs/simulator.yaml without the cards, read without the simulator's code.
type catalogue struct {
	CVCs map[string]struct {
		Check, Code string
		DeclineCode string `yaml:"decline_code"`
	} `yaml:"cvcs"`
	PostalCodes map[string]struct {
		Code        string `yaml:"avs_code"`
		DeclineCode string `yaml:"decline_code"`
		Approve     int64  `yaml:"approve_amount"`
		Balance     *int64
	} `yaml:"postal_codes"`
	Refusals []struct {
		Operation   string
		Amount      int64
		DeclineCode string `yaml:"decline_code"`
	}
	BankAccounts []struct {
		AccountNumber string `yaml:"account_number"`
		DeclineCode   string `yaml:"decline_code"`
	} `yaml:"bank_accounts"`
	BankAccountLimit struct {
		Amount      int64
		DeclineCode string `yaml:"decline_code"`
	} `yaml:"bank_account_limit"`
	Cards []struct {
		PaymentMethod string `yaml:"payment_method"`
		Number        string
	}
}

// expectedTexts lists the texts that the page must show for each value: the value, its field and
// its effect.
func (c catalogue) expectedTexts() map[string][]string {
	want := map[string][]string{}
	add := func(value, field, declines string, more ...string) {
		outcome := "Approved"
		if declines != "" {
			outcome = strings.ToUpper(declines[:1]) + strings.ReplaceAll(declines[1:], "_", " ")
		}
		want["<code>"+value+"</code></th><td>"+field+"</td>"] = append(more, "<td>"+outcome+"</td>")
	}
	for value, e := range c.CVCs {
		add(value, "card.cvc", e.DeclineCode, "<code>"+e.Check+"</code>", "<code>"+e.Code+"</code>")
	}
	for value, e := range c.PostalCodes {
		var more []string
		if e.Code != "" {
			more = append(more, "letter <code>"+e.Code+"</code>")
		}
		if e.Approve > 0 {
			more = append(more, fmt.Sprintf("approves at most %d", e.Approve))
		}
		if e.Balance != nil {
			more = append(more, fmt.Sprintf("balance %d left", *e.Balance))
		}
		add(value, "billing.address.postal_code", e.DeclineCode, more...)
	}
	for _, e := range c.Refusals {
		field := "amount of a " + e.Operation
		if e.Operation == "void" {
			field = "amount of a payment"
		}
		add(strconv.FormatInt(e.Amount, 10), field, e.DeclineCode, e.Operation)
	}
	for _, e := range c.BankAccounts {
		add(e.AccountNumber, "bank_account.account_number", e.DeclineCode)
	}
	add(fmt.Sprintf("above %d", c.BankAccountLimit.Amount), "amount from a bank account", c.BankAccountLimit.DeclineCode)
	return want
}

// TestDocsShowTheCatalogue: every trigger of the simulator is on the page, with its effect.
func TestDocsShowTheCatalogue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../configs/simulator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c catalogue
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	want := c.expectedTexts()
	if got := len(want); got < 20 || len(c.Cards) < 40 {
		t.Fatalf("read %d values and %d cards of the catalogue, want more", got, len(c.Cards))
	}
	page, _ := read(t, setup(t).server.URL+"/docs")
	_, section, _ := strings.Cut(page, `<article id="cards">`)
	section, _, _ = strings.Cut(section, "</article>")
	for row, more := range want {
		_, rest, found := strings.Cut(section, row)
		rest, _, _ = strings.Cut(rest, "</tr>")
		if !found {
			t.Errorf("the page lacks %s", row)
			continue
		}
		for _, text := range more {
			if !strings.Contains(rest, text) {
				t.Errorf("%s: the page has %s, want %s in it", row, rest, text)
			}
		}
	}
	for _, card := range c.Cards {
		if !strings.Contains(section, card.PaymentMethod) || !strings.Contains(section, "<code>"+card.Number+"</code>") {
			t.Errorf("the page lacks the card %s %s", card.PaymentMethod, card.Number)
		}
	}
}

package core_test

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

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
}

// read fetches what is no answer of the contract.
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
		`>4242424242424242<`,
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

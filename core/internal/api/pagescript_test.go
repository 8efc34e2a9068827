package api_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/browser"
)

// TestPageScript: pages of any origin can load the script and check its hash, and browsers keep it.
// The documents name the hash of exactly this script.
func TestPageScript(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got, fields := read(t, b.server.URL+"/v1/js/causeway-1.js")
	if got != string(browser.Script) {
		t.Fatalf("got %.100s, want the script", got)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/javascript; charset=utf-8", "Access-Control-Allow-Origin": "*",
		"Cache-Control": "public, max-age=31536000, immutable",
	} {
		if got := fields.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if len(got) >= 10_000 {
		t.Errorf("the script has %d bytes, want less than 10,000", len(got))
	}
	for _, name := range []string{"../../docs/guides/browser.md", "../browser/page.html"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := `integrity="` + browser.Integrity() + `"`; !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s. A script that was released must not change: add another one", name, want)
		}
	}
	for _, path := range []string{"/v1/js/", "/v1/js/causeway-2.js"} {
		if got := b.get(t, path, header("Authorization")); got.status != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", path, got.status)
		}
	}
}

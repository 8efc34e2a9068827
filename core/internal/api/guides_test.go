package api_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/docs/guides"
)

var (
	pageLink   = regexp.MustCompile(`href="([^"#]*)(?:#([^"]*))?"`)
	pageAnchor = regexp.MustCompile(`id="([^"]*)"`)
)

// TestGuides: each guide is a page under the policy of /docs, and names no other server. Each link
// of the guides and of /docs leads to a page, and to an anchor, that exists.
func TestGuides(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pages, headers := map[string]string{}, map[string]http.Header{}
	paths := []string{"/docs"}
	for _, name := range guides.Names() {
		paths = append(paths, "/docs/guides/"+name)
	}
	anchors := map[string]bool{}
	for _, path := range paths {
		pages[path], headers[path] = read(t, b.server.URL+path)
		anchors[path+"#"] = true
		for _, m := range pageAnchor.FindAllStringSubmatch(pages[path], -1) {
			anchors[path+"#"+m[1]] = true
		}
	}
	for path, page := range pages {
		if got, want := headers[path].Get("Content-Security-Policy"), headers["/docs"].Get("Content-Security-Policy"); got != want {
			t.Errorf("%s: got the policy %q, want %q", path, got, want)
		}
		if !strings.Contains(pages["/docs"], `href="`+path+`"`) && path != "/docs" {
			t.Errorf("/docs has no link to %s", path)
		}
		if strings.Contains(page, "<script>") || strings.Contains(page, "style=") {
			t.Errorf("%s has a script or style that its policy forbids", path)
		}
		for _, m := range pageLink.FindAllStringSubmatch(page, -1) {
			to := m[1]
			switch to {
			case "data:,", "/docs/style.css", "/v1/openapi.json":
				continue
			case "":
				to = path
			}
			if !anchors[to+"#"+m[2]] {
				t.Errorf("%s links to %s#%s, which does not exist", path, to, m[2])
			}
		}
	}
}

// TestGuidesShowTheSamplePage: the page in the guide is the one that tests open in a browser.
func TestGuidesShowTheSamplePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../browser/page.html")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := guides.Files.ReadFile("browser.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "```html\n" + strings.TrimSpace(string(page)) + "\n```"; !strings.Contains(string(guide), want) {
		t.Error("browser.md does not show core/internal/browser/page.html as it is: copy it again")
	}
}

// TestNamesOfGuides: each guide has a page.
func TestNamesOfGuides(t *testing.T) {
	t.Parallel()
	files, err := guides.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(guides.Names()), len(files); got != want {
		t.Errorf("names of guides: got %d, want %d", got, want)
	}
}

// TestRedirectsToTheDocs: the host name alone leads to the documentation.
func TestRedirectsToTheDocs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/", "/docs/"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if at := got.Header.Get("Location"); got.StatusCode != http.StatusTemporaryRedirect || at != "/docs" {
			t.Errorf("%s: got %d to %q, want a redirect to /docs", path, got.StatusCode, at)
		}
	}
}

package tlspolicy_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func TestReadmeHasTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	p := tlspolicy.Policy{}
	var versions, suites12, suites13, signatures []string
	for _, v := range p.Versions() {
		versions = append(versions, v.Name)
	}
	for _, s := range p.Suites() {
		if s.Envoy == "" {
			suites13 = append(suites13, s.Name)
		} else {
			suites12 = append(suites12, s.Name)
		}
	}
	for _, s := range p.Signatures() {
		signatures = append(signatures, s.Name)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	for row, want := range map[string][]string{
		"cipher suites of TLS 1.3": suites13, "cipher suites of TLS 1.2": suites12, "signature algorithms": signatures,
		"inside": p.Envoy().ALPN, "on every response over HTTPS": {tlspolicy.HSTSHeader + ": " + tlspolicy.HSTS},
	} {
		var got []string
		for _, match := range quoted.FindAllStringSubmatch(cell(t, string(page), row), -1) {
			got = append(got, match[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", row, got, want)
		}
	}
	if got, want := cell(t, string(page), "versions"), strings.Join(versions, ", ")+"; "; !strings.HasPrefix(got, want) {
		t.Errorf("versions: got %q, want %q first", got, want)
	}
}

// cell returns the cell next to row in the page's table.
func cell(t *testing.T, page, row string) string {
	t.Helper()
	_, after, found := strings.Cut(page, "\n| "+row+" | ")
	text, _, whole := strings.Cut(after, " |\n")
	if !found || !whole {
		t.Fatalf("no row %q", row)
	}
	return text
}

package shell_test

import (
	"regexp"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRoute compares the words of the routes with the contract.
func TestRoute(t *testing.T) {
	t.Parallel()
	paths := regexp.MustCompile(`(?m)^  (/v1/\S+):$`).FindAllStringSubmatch(string(v1.OpenAPI()), -1)
	if len(paths) < 20 {
		t.Fatalf("got %d paths of the contract", len(paths))
	}
	named := regexp.MustCompile(`\{[a-z_]+\}`)
	for _, path := range paths {
		want := "GET " + named.ReplaceAllString(path[1], "{id}")
		if got := shell.Route("GET", named.ReplaceAllString(path[1], "x")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, path := range []string{"/", "/v1", "/v1/4111111111111111", "/compat/x", "/v1/transactions/a/b/c/d/e"} {
		if got := shell.Route("GET", path); got != "" {
			t.Errorf("%s: got %q, want none", path, got)
		}
	}
	if got := shell.Route("EVIL", "/v1/transactions/evil"); got != "OTHER /v1/transactions/{id}" {
		t.Errorf("got %q", got)
	}
}

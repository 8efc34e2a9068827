package standalone_test

import (
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestDefaultRateLimitIsDocumented checks that --help and the README name the limit in the
// response's fields.
func TestDefaultRateLimitIsDocumented(t *testing.T) {
	t.Parallel()
	// start would set a limit
	p := launch(t, "--json", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0")
	p.awaitReady(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.HTTP+"/v1/api_keys/current", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Keys.SKTest)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close() // only its header counts
	policy := regexp.MustCompile(`"key";q=(\d+);w=2`).FindStringSubmatch(resp.Header.Get("RateLimit-Policy"))
	if policy == nil {
		t.Fatalf("policy: got %q", resp.Header.Get("RateLimit-Policy"))
	}
	twice, err := strconv.Atoi(policy[1])
	if err != nil {
		t.Fatal(err)
	}
	help, _, code := output(t, "--help")
	if want := "(default " + strconv.Itoa(twice/2) + ","; code != 0 || !strings.Contains(help, want) {
		t.Errorf("help lacks %q: exit code %d", want, code)
	}
	readme, err := os.ReadFile("../../standalone/README.md")
	named := regexp.MustCompile(`may make ([\d,]+) requests a second`).FindSubmatch(readme)
	if err != nil || named == nil || strings.ReplaceAll(string(named[1]), ",", "") != strconv.Itoa(twice/2) {
		t.Errorf("README names another limit than %d: %q, %v", twice/2, named, err)
	}
}

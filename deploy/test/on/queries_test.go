package on_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestQueriesOfPages lets promtool parse the queries of the page of alerts. A rule must use each of
// their series: TestMetrics checks that the programs export those.
func TestQueriesOfPages(t *testing.T) {
	t.Parallel()
	page := string(mustRead(t, "deploy/docs/operate/watch.md"))
	found := regexp.MustCompile("`((?:sum by|histogram_quantile|rate)\\b[^`]*)`").FindAllStringSubmatch(page, -1)
	if len(found) < 5 {
		t.Fatalf("queries: got %d, want at least 5", len(found))
	}
	known := map[string]bool{"causeway_acquirer_seconds_bucket": true, "causeway_store_group_seconds_sum": true} // charts
	for _, r := range ruleExpressions(t) {
		for _, name := range series(r.text) {
			known[name] = true
		}
	}
	var rules []map[string]string
	for i, query := range found {
		rules = append(rules, map[string]string{"record": fmt.Sprintf("page:query_%d", i), "expr": query[1]})
		for _, name := range series(query[1]) {
			if !known[name] {
				t.Errorf("no rule uses %s of the query %s", name, query[1])
			}
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []map[string]any{{"name": "page", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

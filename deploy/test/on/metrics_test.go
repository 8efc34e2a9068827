package on_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// others are the series of foreign exporters, by exporter. The names come from their sources.
// Patroni: api.py of the installed package. postgres_exporter: pg_replication, pg_replication_slot,
// pg_stat_user_tables, pg_database_wraparound. node_exporter: filesystem_common. The tests run none
// of them.
var others = map[string][]string{
	"Patroni 3.0.2, /metrics": {"patroni_primary", "patroni_postgres_running", "patroni_sync_standby"},
	"postgres_exporter": {
		"pg_replication_lag_seconds", "pg_replication_slot_slot_is_active", "pg_stat_user_tables_n_dead_tup",
		"pg_stat_user_tables_n_live_tup",
		"pg_database_wraparound_age_datfrozenxid_seconds", // needs --collector.database_wraparound
	},
	"node_exporter": {"node_filesystem_avail_bytes", "node_filesystem_size_bytes"},
}

// scraped returns the names of all series that the programs of a machine and its Envoy export,
// three for each histogram.
func scraped(t *testing.T, m *machine) map[string]bool {
	t.Helper()
	names := map[string]bool{"up": true} // made by Prometheus
	kind := regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	for _, url := range []string{"9080/metrics", "9081/metrics", "9082/metrics", "9084/metrics", "9902/stats/prometheus"} {
		status, text := m.call(t, http.MethodGet, "http://127.0.0.1:"+url, "", "")
		if status != http.StatusOK {
			t.Fatalf("%s: got %d %s", url, status, text)
		}
		for _, found := range kind.FindAllStringSubmatch(text, -1) {
			names[found[1]] = true
			if found[2] == "histogram" {
				names[found[1]+"_bucket"], names[found[1]+"_sum"], names[found[1]+"_count"] = true, true, true
			}
		}
	}
	return names
}

// expression is an expression of a rule or of a chart.
type expression struct{ where, text string }

func ruleExpressions(t *testing.T) []expression {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert string `json:"alert"`
				Expr  string `json:"expr"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(mustRead(t, "deploy/on/monitoring/rules.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	var out []expression
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			out = append(out, expression{r.Alert, r.Expr})
		}
	}
	return out
}

func chartExpressions(t *testing.T) []expression {
	t.Helper()
	var file struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(mustRead(t, "deploy/on/monitoring/dashboard.json"), &file); err != nil {
		t.Fatal(err)
	}
	var out []expression
	for _, p := range file.Panels {
		for _, target := range p.Targets {
			out = append(out, expression{p.Title, target.Expr})
		}
	}
	return out
}

// series returns the names of the series in an expression. It skips the braces of selectors and the
// lists of groupings.
func series(text string) []string {
	text = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\b(by|without|on|ignoring)\s*\([^)]*\)`).ReplaceAllString(text, "")
	return regexp.MustCompile(`\b(?:(?:causeway|envoy|process|go|patroni|pg|node)_[a-z0-9_]+|up)\b`).
		FindAllString(text, -1)
}

// TestMetrics runs the units of several cores with a real Envoy and PostgreSQL, and makes payments.
// Every series of each rule and chart must be exported, or be one of others.
func TestMetrics(t *testing.T) {
	t.Parallel()
	_, m, _, key := twoCores(t)
	for path, body := range map[string]string{
		"/v1/transactions": payment, "/compat/provider-a/xml": legacyPayment,
		"/v1/tokens": "not JSON",
	} {
		m.call(t, http.MethodPost, "https://api.example.com"+path, key, body)
	}
	// mle-filter itself rejects and counts this request.
	m.call(t, http.MethodGet, "https://api.example.com/v1/mle/keys/current?alg=none", "", "")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.com/v1/transactions",
		strings.NewReader("not a JWE"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/jose")
	response, err := m.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	known := scraped(t, m)
	for who, names := range others {
		for _, name := range names {
			if known[name] {
				t.Errorf("%s is ours, and not of %s", name, who)
			}
			known[name] = true
		}
	}
	known["causeway_account_reports_last_success_timestamp_seconds"] = true // an account has it after its first reports
	all := append(ruleExpressions(t), chartExpressions(t)...)
	if len(all) < 50 {
		t.Fatalf("got %d expressions", len(all))
	}
	for _, e := range all {
		names := series(e.text)
		if len(names) == 0 {
			t.Errorf("%s names no series: %s", e.where, e.text)
		}
		for _, name := range names {
			if !known[name] {
				t.Errorf("%s uses %s, which no program exports", e.where, name)
			}
		}
	}
}

// TestRunbooks: each alert has the address of a section that names it.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `json:"alert"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(mustRead(t, "deploy/on/monitoring/rules.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	punctuation := regexp.MustCompile(`[^a-z0-9 -]`)
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			path, found := strings.CutPrefix(r.Annotations["runbook_url"], "https://github.com/causeway-pay/causeway/blob/main/")
			if !found {
				t.Errorf("%s has no runbook_url", r.Alert)
				continue
			}
			name, anchor, _ := strings.Cut(path, "#")
			text := string(mustRead(t, name))
			for _, part := range strings.Split(text, "\n## ")[1:] {
				heading, section, _ := strings.Cut(part, "\n")
				heading = punctuation.ReplaceAllString(strings.ToLower(heading), "")
				if anchor != "" && strings.ReplaceAll(heading, " ", "-") == anchor {
					text = section
				}
			}
			if !strings.Contains(text, "`"+r.Alert+"`") {
				t.Errorf("%s: %s does not name it", r.Alert, path)
			}
		}
	}
}

// TestPromtool lets Prometheus' own tool check the rules, and test each alert both firing and
// silent. It also parses each chart's expression and the scrape configurations. It cannot parse the
// scrape configuration of Kubernetes: Debian's build lacks its discovery.
func TestPromtool(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "deploy/on/monitoring")
	mustRun(t, dir, "promtool", "check", "rules", "rules.yaml")
	mustRun(t, dir, "promtool", "test", "rules", "rules.test.yaml")
	tests := string(mustRead(t, "deploy/on/monitoring/rules.test.yaml"))
	for _, r := range ruleExpressions(t) {
		if strings.Count(tests, "alertname: "+r.where+"\n") < 2 {
			t.Errorf("%s is not tested to fire and not to fire", r.where)
		}
	}
	for _, name := range []string{"compose.yaml", "systemd.yaml"} {
		mustRun(t, dir, "promtool", "check", "config", name)
	}
	var asRules struct {
		Groups []any `json:"groups"`
	}
	for _, c := range chartExpressions(t) {
		text := strings.ReplaceAll(c.text, "$__rate_interval", "1m")
		asRules.Groups = append(asRules.Groups, map[string]any{
			"name": c.where + " " + text, "rules": []any{map[string]any{"record": "chart", "expr": text}},
		})
	}
	file, err := yaml.Marshal(asRules)
	if err != nil {
		t.Fatal(err)
	}
	charts := filepath.Join(t.TempDir(), "charts.yaml")
	write(t, charts, file)
	if out, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", charts).CombinedOutput(); err != nil {
		t.Errorf("charts: %v\n%s", err, out)
	}
}

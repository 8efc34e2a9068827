package edge_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// lostSeries are the series of the alert CausewayEdgeErrors for requests without a response. It
// subtracts the retries.
var lostSeries = []string{
	"upstream_rq_pending_failure_eject", "upstream_cx_none_healthy", "upstream_cx_destroy_remote_with_active_rq",
	"upstream_rq_timeout",
}

// lost returns how many requests to compat-proxy got no response, by the alert's series.
func (r *deployment) lost(t *testing.T) int {
	t.Helper()
	n := -r.stat(t, "cluster.compat.upstream_rq_retry")
	for _, name := range lostSeries {
		n += r.stat(t, "cluster.compat."+name)
	}
	return n
}

// testLost makes each fault that the alert CausewayEdgeErrors is for, and follows its runbook.
// Authorize.Net's clients get status 200, so Envoy's counters of the statuses show none of them. A
// request that its client ends changes no series of the alert.
func testLost(t *testing.T, r *deployment) {
	t.Helper()
	ruleHas(t, append([]string{"upstream_rq_retry", "upstream_rq_completed"}, lostSeries...))
	client := r.client(t, func(tr *http.Transport) { tr.DisableKeepAlives = true }) // listeners change
	legacy := func(method, want string) {
		t.Helper()
		before, completed := r.lost(t), r.stat(t, compatCompleted)
		got := send(t, client, method, "https://"+host+legacyPath, "{}", "Content-Type", "application/json")
		if got.status != http.StatusOK || !strings.Contains(got.body, want) {
			t.Errorf("%s: got %d %s, want %s", method, got.status, got.body, want)
		}
		lost, of := r.lost(t)-before, r.stat(t, compatCompleted)-completed
		if lost != 1 || of != 1 {
			t.Errorf("%s: the alert sees %d lost of %d", method, lost, of)
		}
	}
	const unsent, unknown = "E00053", "E00001"
	legacy(http.MethodPost, unsent) // the proxy was killed
	legacy(http.MethodGet, unsent)  // and once more, by a retry
	r.startCompat(t)                // as the runbook orders
	before := r.lost(t)
	got := send(t, client, http.MethodGet, "https://"+host+"/compat/methods", "")
	if lost := r.lost(t) - before; got.status != http.StatusOK || lost != 0 {
		t.Errorf("started again: got %d, and the alert sees %d lost", got.status, lost)
	}
	r.compat.Pause()
	r.leaves(t, nil)
	r.leaves(t, onlyHTTP2)
	r.whileInFlight(t, r.compat.Kill, func() { legacy(http.MethodPost, unknown) })
	r.startCompat(t)
	r.compat.Pause()
	r.changeEdge(t, "http.edge.rds.edge_routes", "limits: {rate: 0}", "limits: {rate: 0, timeout: 1s}")
	legacy(http.MethodPost, unknown)
	// A name that has no address. The resolver refuses it without a query (RFC 7686).
	r.changeEdge(t, "cluster_manager.cds", `compat: {address: "`+r.ip, `compat: {address: "none.onion`)
	legacy(http.MethodPost, unsent)
	r.runbook(t, map[string]string{"UF": "1", "UC": "1", "UT": "1", "UH": "1"})
}

// ruleHas checks that the alerts use these series of clusters.
func ruleHas(t *testing.T, names []string) {
	t.Helper()
	rules, err := os.ReadFile("../../on/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !regexp.MustCompile(`rate\(envoy_cluster_` + name + `[{[]`).Match(rules) {
			t.Errorf("no alert uses %s", name)
		}
	}
}

const compatCompleted = "cluster.compat.upstream_rq_completed"

// leaves sends a request that its client ends.
func (r *deployment) leaves(t *testing.T, change func(*http.Transport)) {
	t.Helper()
	before, completed, ended := r.lost(t), r.stat(t, compatCompleted), r.stat(t, "http.edge.downstream_rq_rx_reset")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+legacyPath, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.whileInFlight(t, cancel, func() {
		if got, err := r.client(t, change).Do(req); err == nil {
			_ = got.Body.Close()
			t.Errorf("got %d", got.StatusCode)
		}
	})
	programtest.WaitFor(t, "Envoy notices that the client left", func() bool {
		return r.stat(t, "http.edge.downstream_rq_rx_reset") > ended && r.stat(t, compatActive) == 0
	})
	if lost, of := r.lost(t)-before, r.stat(t, compatCompleted)-completed; lost != 0 || of != 0 {
		t.Errorf("a client left: the alert sees %d lost of %d", lost, of)
	}
}

const compatActive = "cluster.compat.upstream_rq_active"

// whileInFlight calls fault while compat-proxy has the request that call sends.
func (r *deployment) whileInFlight(t *testing.T, fault, call func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		programtest.WaitFor(t, "the proxy has the request", func() bool { return r.stat(t, compatActive) == 1 })
		fault()
	}()
	call()
	<-done
}

// changeEdge replaces a text of the edge's configuration, and waits until Envoy uses the new
// resources of a kind.
func (r *deployment) changeEdge(t *testing.T, kind, from, to string) {
	t.Helper()
	text, err := os.ReadFile(r.path("edge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, text) {
		t.Fatalf("no %s in %s", from, text)
	}
	before := r.stat(t, kind+".update_success")
	certtest.Replace(t, r.path("edge.yaml"), changed)
	programtest.WaitFor(t, "Envoy has the change", func() bool {
		return r.stat(t, kind+".update_success") > before && r.stat(t, "cluster_manager.warming_clusters") == 0
	})
}

// runbook runs the command of the alert's runbook on Envoy's access log, and compares the numbers
// by flags.
func (r *deployment) runbook(t *testing.T, want map[string]string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operate/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^ +journalctl [^|]*\| *(grep '"cluster":"compat"'.*)$`).FindSubmatch(page)
	if command == nil {
		t.Fatal("the runbook has no command")
	}
	programtest.WaitFor(t, "Envoy writes its log", func() bool { return strings.Contains(r.envoy.Log(), `"flags":"UH"`) })
	shell := exec.CommandContext(t.Context(), "sh", "-c", string(command[1]))
	shell.Stdin = strings.NewReader(r.envoy.Log())
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v %s", command[1], err, out)
	}
	for flags, n := range want {
		if !regexp.MustCompile(`(?m)^ *` + n + ` "flags":"` + flags + `"$`).Match(out) {
			t.Errorf("%s: got %s, want %s of %s", command[1], out, n, flags)
		}
	}
}

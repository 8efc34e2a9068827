package edge_test

import (
	"crypto/elliptic"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestKilled kills the control plane. Envoy keeps serving, and takes later changes from a new one.
// A wrong file is refused before it is pushed, with the reason, and Envoy keeps the previous
// resources.
func TestKilled(t *testing.T) {
	t.Parallel()
	r := newDeployment(t)
	first := r.serve(t)
	r.awaitLive(t, first.Leaf)
	client := r.client(t, nil)
	serves := func(when string, more ...string) {
		t.Helper()
		for _, path := range append([]string{"/v1/transactions", "/compat/methods"}, more...) {
			if got := r.api(t, client, http.MethodGet, path, ""); got.status != http.StatusOK {
				t.Errorf("%s: %s: got %d %s", when, path, got.status, got.body)
			}
		}
	}
	const connected = "control_plane.connected_state"
	r.edge.Kill()
	programtest.WaitFor(t, "Envoy notices", func() bool { return r.stat(t, connected) == 0 })
	serves("without a control plane")
	second := r.install(t) // while no control plane runs
	r.startEdge(t)
	programtest.WaitFor(t, "Envoy has it again", func() bool { return r.stat(t, connected) == 1 })
	r.shows(t, second.Leaf)
	serves("with another")
	r.configure(t, r.folder(), later, r.ip)
	programtest.WaitFor(t, "the new route is taken", func() bool {
		before := r.stat(t, compatRequests)
		send(t, client, http.MethodGet, "https://"+host+"/later/methods", "")
		return r.stat(t, compatRequests) > before
	})
	r.edge.Kill()
	serves("killed again")
	r.startEdge(t)
	r.edge.MustLog(t, "certificate is live")               // Envoy has subscribed to all resources
	for _, kind := range []string{"Cluster", "Listener"} { // the control plane sends these again even if Envoy has them
		r.edge.MustLog(t, `"type":"`+kind+`"`)
	}
	r.refusesConfigurations(t)
	r.refusesCertificates(t, second)
	serves("after all that was refused")
}

// later is a configuration with one more route.
const later = `routes:
  - {path: /later/**, upstream: compat, mle: off}
  - {path: /compat/**, upstream: compat, mle: off}
  - {path: /v1/trusted, upstream: core}
  - {path: /v1/**, upstream: core}
`

// pushes counts the resources that Envoy accepted or refused.
func (r *deployment) pushes(t *testing.T) int {
	t.Helper()
	n := 0
	for _, kind := range []string{
		"listener_manager.lds", "cluster_manager.cds", "http.edge.rds.edge_routes", "sds.edge-cert",
	} {
		accepted := r.stat(t, kind+".update_success")
		if accepted == 0 {
			t.Errorf("Envoy has accepted no resource of %s", kind)
		}
		n += accepted + r.stat(t, kind+".update_rejected")
	}
	return n
}

func (r *deployment) refusesConfigurations(t *testing.T) {
	t.Helper()
	const weak = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"
	before := r.pushes(t)
	for more, reason := range map[string]string{
		"unknown: 1": "unknown key",
		"routes: [{path: /a, upstream: nowhere, mle: off}]":                            "is not in upstreams",
		"tls: {minimum_version: '1.0'}":                                                "weaker than the TLS policy",
		"tls: {cipher_suites: [" + weak + "]}":                                         weak,
		"routes: [{path: /v1/**, upstream: core}, {path: /v1/health, upstream: core}]": "is never matched",
	} {
		r.configure(t, r.folder(), more, r.ip)
		r.edge.MustLog(t, reason)
		_, output, err := programtest.Output(t.Context(), programtest.Command{
			Path: filepath.Join(bin, "edge"), Args: []string{"check", "--config", r.path("edge.yaml")},
		})
		if err == nil || !strings.Contains(output, reason) {
			t.Errorf("%s: edge check: %v, %q", more, err, output)
		}
	}
	if after := r.pushes(t); after != before {
		t.Errorf("%d things were pushed", after-before)
	}
	r.configure(t, r.folder(), later, r.ip)
}

func (r *deployment) refusesCertificates(t *testing.T, present *certtest.Issued) {
	t.Helper()
	now := time.Now() //nolint:forbidigo // the real program's time is what certificates are held against
	names := certtest.Hosts(host, trustHost, r.ip)
	alone := *r.issuer.Issue(t, names)
	alone.Chain = alone.Chain[:1]
	before := r.pushes(t)
	for name, bad := range map[string]struct {
		pair   *certtest.Issued
		reason string
	}{
		"Expired": {
			r.issuer.Issue(t, names, certtest.Lives(now.Add(-48*time.Hour), now.Add(-24*time.Hour))),
			"expired at",
		},
		"OtherHost":   {r.issuer.Issue(t, certtest.Hosts("other.example.com")), "does not cover " + host},
		"WithoutHost": {r.issuer.Issue(t, certtest.Hosts(host)), "does not cover " + r.ip},
		"Alone":       {&alone, "only the leaf"},
	} {
		bad.pair.Write(t, r.path("certs"), "edge")
		r.edge.MustLog(t, bad.reason)
		r.stays(t, name, present)
	}
	files := present.Write(t, r.path("certs"), "edge")
	other := r.issuer.IssueFor(t, certtest.ECDSA(t, elliptic.P256()), names)
	certtest.Replace(t, files.Key, other.KeyPEM(t))
	r.edge.MustLog(t, "is not the key of the certificate")
	r.stays(t, "Mismatch", present)
	if after := r.pushes(t); after != before {
		t.Errorf("%d things were pushed", after-before)
	}
	r.awaitLive(t, present.Leaf)
}

func (r *deployment) stays(t *testing.T, name string, present *certtest.Issued) {
	t.Helper()
	if leaf, err := r.leaf(t); err != nil || !leaf.Equal(present.Leaf) {
		t.Errorf("%s: a handshake shows %v, %v", name, leaf, err)
	}
}

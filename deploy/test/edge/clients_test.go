package edge_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
)

// serve starts compat-proxy, the edge and an Envoy. It returns the certificate of the edge's
// folder.
func (r *deployment) serve(t *testing.T) *certtest.Issued {
	t.Helper()
	r.startCompat(t)
	issued := r.install(t)
	r.configure(t, r.folder(), "", r.ip)
	r.startEdge(t)
	r.startEnvoy(t)
	return issued
}

// system returns the deployment as clients see it: Envoy, by its address. A walk reads v1 through
// mle-filter's port, so Envoy counts only the requests of the clients.
func (r *deployment) system() *sdk.System {
	return &sdk.System{
		HTTPS: "https://" + r.https(), CA: r.path("ca.pem"), V1: r.url(portFilter), HTTP: http.DefaultClient, Key: r.key,
		Log: r.compat.Log,
	}
}

const (
	extProcStreams = "http.edge.ext_proc.mle.streams_started"
	compatRequests = "cluster.compat.upstream_rq_total"
)

// issueLogins issues the logins of both dialects into the deployment's file.
func (r *deployment) issueLogins(t *testing.T) (sdk.LoginA, sdk.LoginsB) {
	t.Helper()
	issuer := sdk.Issuer{Program: bin + "/compat-proxy", File: r.path("compat.yaml")}
	key := r.path("api-key")
	certtest.Replace(t, key, []byte(r.key+"\n"))
	shop := sdk.LoginA{Name: "shop", Key: "shopsOwnKey00001"}
	transactionKey := r.path("transaction-key")
	certtest.Replace(t, transactionKey, []byte(shop.Key+"\n"))
	issuer.Run(t, "map", "--name", shop.Name, "--transaction-key-file", transactionKey, "--api-key-file", key,
		"--unlinked-refunds", "--sandbox")
	sdk.MapStrict(t, issuer, r.key)
	loginB := issuer.IssueB(t, "shop_b", "--api-key-file", key, "--unlinked-refunds", "--sandbox")
	return shop, sdk.IssueB(t, issuer, loginB, r.key)
}

// TestClients runs the unmodified clients of both dialects through Envoy over HTTPS. Each
// provider-b client uses one kind of authentication. None of their requests reaches the external
// processor.
func TestClients(t *testing.T) {
	t.Parallel()
	r := newDeployment(t)
	loginA, loginsB := r.issueLogins(t)
	r.serve(t)
	s := r.system()
	s.A = loginA

	before := r.stat(t, extProcStreams)
	check := func(t *testing.T) {
		t.Helper()
		if after := r.stat(t, extProcStreams); after != before {
			t.Errorf("the external processor got %d requests for requests of legacy clients", after-before)
		}
		if n := r.stat(t, compatRequests); n < 40 {
			t.Errorf("compat-proxy got %d requests by Envoy: did the clients go elsewhere?", n)
		}
	}
	for _, c := range []struct {
		name string
		open func(*testing.T, *sdk.System, string) sdk.Client
	}{{"node", sdk.NodeA}, {"python", sdk.PythonA}, {"java", sdk.JavaA}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sdk.WalkA(t, s, c.open(t, s, ""))
			check(t)
		})
	}
	ways := sdk.WaysB()
	for _, c := range []struct {
		name, way string
		open      func(*testing.T, *sdk.System, string) sdk.ClientB
		brief     bool
	}{
		{"node", "certificate", sdk.NodeB, false}, // the others derive the key of a P12 often
		{"python", "signature", sdk.PythonB, true},
		{"java", "prefix", sdk.JavaB, true},
	} {
		t.Run(c.name+"-providerb", func(t *testing.T) {
			t.Parallel()
			way := ways[slices.IndexFunc(ways, func(w sdk.WayB) bool { return w.Name == c.way })]
			way.Brief = c.brief
			sdk.WalkB(t, s, c.open(t, s, ""), loginsB, []sdk.RouteB{{WayB: way, Base: s.HTTPS}})
			check(t)
		})
	}
}

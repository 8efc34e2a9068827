package edge_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const (
	host      = "api.example.com"
	trustHost = "trust.example.com"
)

// deployment is the whole service: core, mle-filter, compat-proxy and edge as processes, with an
// Envoy.
type deployment struct {
	dir    string
	ip     string // the address of all programs
	env    []string
	roots  *x509.CertPool // the authority that clients trust
	issuer *certtest.Authority

	core, filter, compat, edge *programtest.Program
	merchant, key              string
	envoy                      *envoytest.Envoy
}

// newDeployment starts the services behind the edge. Their logins are in the file of the path
// compat.yaml.
func newDeployment(t *testing.T) *deployment {
	t.Helper()
	dir, err := os.MkdirTemp("", "e") //nolint:usetesting // the names of sockets must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	root := certtest.Root(t)
	r := &deployment{
		dir: dir, ip: programtest.Host(t), issuer: root.Intermediate(t), roots: root.Pool(),
		env: []string{
			"CAUSEWAY_FILTER_SECRET=" + programtest.Secret(), "CAUSEWAY_HOP_SECRET=" + programtest.Secret(),
			"CAUSEWAY_FILTER_TOKEN=" + programtest.Secret(),
			"CAUSEWAY_MLE_KEK=" + programtest.Secret(), "CAUSEWAY_DEDUPLICATION_SECRET=" + programtest.Secret(),
		},
	}
	certtest.Replace(t, r.path("ca.pem"), certtest.PEM(root.Certificate))
	if err := os.Mkdir(r.path("certs"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.merchant = mustOutput(t, "core", "merchants", "create", "shop", "--unlinked-refunds", "on", "--data", r.path("core"))
	r.key = mustOutput(t, "core", "keys", "create", "--merchant", r.merchant, "--data", r.path("core"))
	r.startCore(t)
	r.startFilter(t)
	certtest.Replace(t, r.path("compat.yaml"), []byte("provider_a: []\n"))
	return r
}

func (r *deployment) path(name string) string { return filepath.Join(r.dir, name) }

// The ports of the deployment, all at its address.
const (
	portHTTPS   = ":8443"
	portHTTP    = ":8080"
	portCore    = ":9180"
	portCompat  = ":9181"
	portFilter  = ":9182"
	adminCore   = ":9080"
	adminCompat = ":9081"
	adminFilter = ":9082"
	adminEdge   = ":9084"
)

// url returns the plain HTTP address of a port of the deployment, without Envoy.
func (r *deployment) url(port string) string { return "http://" + r.ip + port }

func (r *deployment) startCore(t *testing.T) {
	t.Helper()
	r.core = run(t, r.env, "core", "serve", "--data", r.path("core"), "--listen", r.ip+portCore, "--admin", r.ip+adminCore,
		"--rate-limit", "0",
		"--webhooks-allow-private")
	r.core.MustListen(t, r.ip+adminCore)
}

func (r *deployment) startFilter(t *testing.T) {
	t.Helper()
	certtest.Replace(t, r.path("mle.yaml"), fmt.Appendf(nil, `listen: %s
admin: %s
extproc: %s
v1: %s
operator: %s
keys: %s
rsa_bits: 2048
spare_keys: 1
`, r.ip+portFilter, r.ip+adminFilter, r.path("mle.sock"), r.url(portCore), r.url(adminCore), r.path("mle.db")))
	r.filter = run(t, r.env, "mle-filter", "--config", r.path("mle.yaml"))
	r.filter.MustListen(t, r.ip+portFilter)
}

// startCompat starts the proxy in front of mle-filter, after the file has logins.
func (r *deployment) startCompat(t *testing.T) {
	t.Helper()
	r.compat = run(t, r.env, "compat-proxy", "--listen", r.ip+portCompat, "--admin", r.ip+adminCompat, "--v1",
		r.url(portFilter), "--credentials", r.path("compat.yaml"), "--drop-in-paths")
	r.compat.MustListen(t, r.ip+portCompat)
}

// install puts a new certificate into the folder.
func (r *deployment) install(t *testing.T) *certtest.Issued {
	t.Helper()
	issued := r.issuer.Issue(t, certtest.Hosts(host, trustHost, r.ip))
	issued.Write(t, r.path("certs"), "edge")
	return issued
}

// folder returns the settings of certificates from a folder.
func (r *deployment) folder() string {
	return fmt.Sprintf("{folder: %s, publish_ahead: 0s}", r.path("certs"))
}

// configure writes the edge's configuration with further keys. hosts are served in addition to the
// API's host.
func (r *deployment) configure(t *testing.T, certificates, more string, hosts ...string) {
	t.Helper()
	certtest.Replace(t, r.path("edge.yaml"), fmt.Appendf(nil, `hosts: [%[1]s]
trust: {url: "https://%[2]s%[6]s"}
data: %[3]s/edge
listen: {https: "%[4]s%[6]s", http: "%[4]s%[7]s"}
xds: {listen: "unix:%[3]s/xds.sock"}
http: unix:%[3]s/http.sock
admin: "%[4]s%[8]s"
certificates: %[5]s
extproc: {address: "unix:%[3]s/mle.sock"}
upstreams:
  core: {address: "%[4]s%[9]s", health: /v1/health}
  compat: {address: "%[4]s%[10]s"}
  mle: {address: "%[4]s%[11]s"}
operator: %[12]s
limits: {rate: 0} # the loads of the tests come from one address
%[13]s
`, strings.Join(append([]string{host}, hosts...), ", "), trustHost, r.dir, r.ip, certificates, portHTTPS, portHTTP,
		adminEdge, portCore, portCompat,
		portFilter, r.url(adminCore), more))
}

// startEdge starts the control plane. It does not wait for an Envoy: it is ready when Envoy has its
// resources.
func (r *deployment) startEdge(t *testing.T) {
	t.Helper()
	r.edge = run(t, r.env, "edge", "--config", r.path("edge.yaml"))
}

// startEnvoy starts an Envoy with the file that the edge program prints.
func (r *deployment) startEnvoy(t *testing.T) {
	t.Helper()
	text := mustOutput(t, "edge", "bootstrap", "--config", r.path("edge.yaml"), "--node", "envoy-1", "--admin",
		"127.0.0.1:0")
	certtest.Replace(t, r.path("envoy.yaml"), []byte(text))
	r.envoy = envoytest.Start(t, r.path("envoy.yaml"))
	r.envoy.Listeners(t)
	programtest.WaitFor(t, "Envoy serves", func() bool { _, err := r.leaf(t); return err == nil })
}

func (r *deployment) https() string { return r.ip + portHTTPS }

// client returns a client that connects to Envoy for every host name.
func (r *deployment) client(t *testing.T, change func(*http.Transport)) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: r.roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", r.https())
		},
	}
	if change != nil {
		change(transport)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// onlyHTTP2 makes a transport offer HTTP/2 alone. Envoy prefers HTTP/1.1.
func onlyHTTP2(tr *http.Transport) {
	tr.Protocols = new(http.Protocols)
	tr.Protocols.SetHTTP2(true)
}

// leaf returns the certificate of a new handshake.
func (r *deployment) leaf(t *testing.T) (*x509.Certificate, error) {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{RootCAs: r.roots, ServerName: host, MinVersion: tls.VersionTLS12}}
	conn, err := d.DialContext(t.Context(), "tcp", r.https())
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // only the handshake matters
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// shows waits until a new handshake has a certificate.
func (r *deployment) shows(t *testing.T, want *x509.Certificate) {
	t.Helper()
	programtest.WaitFor(t, "a new handshake shows the new certificate", func() bool {
		got, err := r.leaf(t)
		return err == nil && got.Equal(want)
	})
}

// response is the response to a request.
type response struct {
	status int
	header http.Header
	body   string
}

// send sends a request with header fields, given as name and value.
func send(t *testing.T, by *http.Client, method, url, body string, fields ...string) response {
	t.Helper()
	got, err := trySend(t, by, method, url, body, fields...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func trySend(t *testing.T, by *http.Client, method, url, body string, fields ...string) (response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	for i := 0; i+1 < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	got, err := by.Do(req)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	return response{got.StatusCode, got.Header, string(text)}, err
}

// api sends a v1 request through Envoy with the merchant's key.
func (r *deployment) api(t *testing.T, by *http.Client, method, path, body string) response {
	t.Helper()
	return send(t, by, method, "https://"+host+path, body, "Authorization", "Bearer "+r.key, "Content-Type",
		"application/json")
}

// stat returns one of Envoy's statistics.
func (r *deployment) stat(t *testing.T, name string) int {
	t.Helper()
	var n int
	text := r.envoy.Get(t, "/stats?filter=^"+strings.ReplaceAll(name, ".", "\\.")+"$")
	if _, err := fmt.Sscanf(text, name+": %d", &n); err != nil {
		t.Fatalf("no %s in %q: %v", name, text, err)
	}
	return n
}

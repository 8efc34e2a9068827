//go:build unix

package upgrade_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const host = "api.example.com"

// front is an Envoy in front of a fleet. The edge program configures it from a file.
type front struct {
	envoy *envoytest.Envoy
	at    string
	tls   *tls.Config
}

// startFront starts an Envoy. sockets are the unix sockets of the mle-filters' external processors.
func startFront(t *testing.T, f *fleet.Fleet, dir string, sockets []string) *front {
	t.Helper()
	bin := programtest.MustPrograms(t, "edge")
	one, err := url.Parse(f.Cores.All()[0].URL())
	if err != nil {
		t.Fatal(err)
	}
	authority := certtest.Root(t).Intermediate(t)
	if err := os.Mkdir(filepath.Join(dir, "certs"), 0o700); err != nil {
		t.Fatal(err)
	}
	authority.Issue(t, certtest.Hosts(host)).Write(t, filepath.Join(dir, "certs"), "edge")
	fr := &front{
		at:  one.Hostname() + ":18443",
		tls: &tls.Config{RootCAs: authority.Pool(), ServerName: host, MinVersion: tls.VersionTLS12},
	}
	settings := fmt.Sprintf(`hosts: [%[1]s]
trust: {url: "https://%[2]s"}
data: %[3]s/edge
listen: {https: "%[2]s", http: ""}
xds: {listen: "unix:%[3]s/xds.sock"}
http: unix:%[3]s/http.sock
admin: "%[4]s:19084"
certificates: {folder: %[3]s/certs, publish_ahead: 0s}
extproc: {address: "%[5]s"}
upstreams:
  core: {address: "%[6]s", health: /v1/health}
  mle: {address: "%[7]s", health: /v1/health}
  compat: {address: "%[8]s", health: /health}
limits: {rate: 0} # the load comes from one address
`, host, fr.at, dir, one.Hostname(), "unix:"+strings.Join(sockets, ", unix:"), addresses(f.Cores), addresses(f.Filters),
		addresses(f.Proxies))
	settings = strings.Replace(settings, "https://"+fr.at, "https://"+host, 1)
	mustWrite(t, filepath.Join(dir, "edge.yaml"), []byte(settings))
	programtest.Start(t, programtest.Command{
		Path: filepath.Join(bin, "edge"), Args: []string{"--config", filepath.Join(dir, "edge.yaml")},
	})
	fr.startEnvoy(t, bin, dir)
	return fr
}

// addresses returns the addresses of a program's instances, comma-separated.
func addresses(g *fleet.Group) string {
	var out []string
	for _, i := range g.All() {
		out = append(out, strings.TrimPrefix(i.URL(), "http://"))
	}
	return strings.Join(out, ", ")
}

func (fr *front) startEnvoy(t *testing.T, bin, dir string) {
	t.Helper()
	text := programtest.MustOutput(t, programtest.Command{
		Path: filepath.Join(bin, "edge"),
		Args: []string{
			"bootstrap", "--config", filepath.Join(dir, "edge.yaml"), "--node", "envoy-1", "--admin",
			"127.0.0.1:0",
		},
	})
	mustWrite(t, filepath.Join(dir, "envoy.yaml"), []byte(text))
	fr.envoy = envoytest.Start(t, filepath.Join(dir, "envoy.yaml"))
	fr.envoy.Listeners(t)
	programtest.WaitFor(t, "Envoy serves", func() bool {
		conn, err := (&tls.Dialer{Config: fr.tls}).DialContext(t.Context(), "tcp", fr.at)
		return err == nil && conn.Close() == nil
	})
}

// client returns a client that keeps its connections to Envoy. It never repeats a request.
func (fr *front) client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: fr.tls, MaxIdleConnsPerHost: 64, ForceAttemptHTTP2: false,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", fr.at)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: programtest.Patience}
}

// awaitHealthy waits until Envoy sends requests to all n instances of an upstream.
func (fr *front) awaitHealthy(t *testing.T, upstream string, n int) {
	t.Helper()
	want := fmt.Sprintf("cluster.%s.membership_healthy: %d\n", upstream, n)
	programtest.WaitFor(t, upstream+" is well", func() bool {
		text, err := fr.envoy.TryGet(t.Context(), "/stats?filter=membership_healthy")
		return err == nil && strings.Contains(text, want)
	})
}

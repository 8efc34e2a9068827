package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestNACK checks a resource that passes our checks and that Envoy refuses. Metrics and log report
// it, edge rolls it back, and the program continues.
func TestNACK(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	admin := programtest.Host(t) + ":9084"
	b.configure(t, "admin: "+admin)
	b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	b.logged(t, e, "certificate is live")
	mine := b.https
	b.https = "203.0.113.1:8443" // not an address of this machine: Envoy cannot listen there
	b.configure(t, "admin: "+admin)
	b.logged(t, e, "a node rejected its configuration")
	b.logged(t, e, "the configuration was rejected; the previous one stays in effect")
	b.https = mine
	if got := b.send(t, b.client(), "GET", "https://"+host+"/v1/x", ""); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := fetched(t, "http://"+admin+"/metrics"); !strings.Contains(got,
		`causeway_edge_xds_acknowledgements_total{node="envoy-1",result="nack",type="Listener"} 1`) {
		t.Errorf("got %s", got)
	}
	e.Wait(t, "does not take back what it refused", func() bool {
		return strings.Contains(fetched(t, "http://"+admin+"/ready"), `{"current":true,"id":"envoy-1","refused":""}`)
	})
	if got := fetched(t, "http://"+admin+"/config"); !strings.Contains(got, mine[:strings.Index(mine, ":")]) ||
		strings.Contains(got, "PRIVATE KEY") {
		t.Errorf("got %s", got)
	}
}

// TestTakenPort checks that Envoy gets the listener again whose port another program had at its
// start, and that /ready reports the refusal until then.
func TestTakenPort(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	admin := programtest.Host(t) + ":9084"
	b.configure(t, "admin: "+admin)
	var lc net.ListenConfig
	taken, err := lc.Listen(t.Context(), "tcp", b.https)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // it may be closed by then
	b.again = look
	b.run(t)
	e := b.envoy(t)
	ready := func(want string) func() bool {
		return func() bool { return strings.Contains(fetched(t, "http://"+admin+"/ready"), want) }
	}
	e.Wait(t, "does not refuse the listener", ready(`"status":"an Envoy refuses a resource"`))
	if got := fetched(t, "http://"+admin+"/ready"); !strings.Contains(got, "cannot bind") {
		t.Errorf("got %s, want the reason", got)
	}
	const refused = "a node rejected its configuration"
	e.Wait(t, "gets the listener only once", func() bool { return b.countLogged(t, refused) > 3 })
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	e.Wait(t, "does not accept the listener", ready(`"status":"ok"`))
	b.logged(t, e, "certificate is live") // a handshake shows it
	if got := b.send(t, b.client(), "GET", "https://"+host+"/v1/x", ""); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func fetched(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRate checks that a client address above the rate limit gets v1's error,
// and that operators see it.
func TestRate(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "limits: {rate: 1, burst: 3}")
	b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	for range 10 {
		got := b.send(t, b.client(), "GET", "https://"+host+"/v1/x", "")
		if got.status == 200 {
			continue
		}
		if got.status != 429 || !strings.Contains(got.body, "rate_limited") || got.header.Get("Retry-After") != "1" ||
			got.header.Get("Strict-Transport-Security") == "" {
			t.Errorf("got %d %v %s", got.status, got.header, got.body)
		}
		if _, n := b.core.last(); n < 3 {
			t.Errorf("core got %d, want the burst", n)
		}
		const counter = `envoy_http_local_rate_limit_rate_limited{envoy_local_http_ratelimit_prefix="edge_rate"} 1`
		if text := e.Get(t, "/stats/prometheus"); !strings.Contains(text, counter) {
			t.Errorf("the statistics lack %s", counter)
		}
		e.Wait(t, "does not log the refusal", func() bool {
			return strings.Contains(e.Log(), `"details":"local_rate_limited"`)
		})
		return
	}
	t.Error("ten concurrent requests were accepted")
}

// TestRateOfPublicDocuments checks that a client address gets only some public documents at the
// same time. They are much longer than a request. Its other requests are served.
func TestRateOfPublicDocuments(t *testing.T) {
	t.Parallel()
	b := served(t)
	for address, document := range map[string]string{
		"127.0.65.1": "https://" + host + "/v1/openapi.json", "127.0.65.2": "https://trust.example.com/calendar.ics",
	} {
		client := b.clientAt(address) // one connection: handshakes would let the bucket fill up again
		got := 0
		for ; got < 1000; got++ {
			if a := b.send(t, client, "GET", document+"?n="+strconv.Itoa(got), ""); a.status == 429 {
				break
			}
		}
		if got < 100 || got == 1000 {
			t.Errorf("%s before a refusal: got %d, want the burst of 100 and a few", document, got)
		}
		if a := b.send(t, client, "GET", "https://"+host+"/v1/x", ""); a.status != 200 {
			t.Errorf("another path: got %d %s", a.status, a.body)
		}
	}
}

// TestRateOfPublicDocumentsOfANetwork checks that the addresses of a network get only some public
// documents together, while another network is served.
func TestRateOfPublicDocumentsOfANetwork(t *testing.T) {
	t.Parallel()
	b := served(t)
	clients := make([]*tls.Conn, 100)
	for i := range clients {
		clients[i] = b.http2At(t, "127.0.66."+strconv.Itoa(i+1))
	}
	var got atomic.Int64
	var all sync.WaitGroup
	for _, client := range clients { // at the same time, after all handshakes: the bucket fills up again with time
		all.Go(func() { got.Add(getDocuments(t, client)) })
	}
	all.Wait()
	if n := got.Load(); n < 1000 || n >= int64(len(clients)*documents) {
		t.Errorf("documents of a network: got %d, want the burst of 1,000 and some, and then a refusal", n)
	}
	if n := getDocuments(t, b.http2At(t, "127.0.67.1")); n != documents {
		t.Errorf("documents of an address in another network: got %d, want %d", n, documents)
	}
}

// documents is fewer public documents than an address gets at the same time.
const documents = 90

// getDocuments requests public documents in one write. It returns the number of requests that the
// rate limit allows. Envoy itself responds to this path, so a slow machine is fast enough too.
func getDocuments(t *testing.T, conn *tls.Conn) (allowed int64) {
	t.Helper()
	return getAtOnce(t, conn, "/docs", documents)
}

// getAtOnce sends requests for a path in one write. It returns the number of requests that the rate
// limit allows.
func getAtOnce(t *testing.T, conn *tls.Conn, path string, count int) (allowed int64) {
	t.Helper()
	requests := bytes.NewBufferString(http2.ClientPreface)
	framer := http2.NewFramer(requests, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	err := framer.WriteSettings()
	head := requestHead(t, http.MethodHead, path)
	for i := range count {
		err = errors.Join(err, framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: uint32(2*i + 1), BlockFragment: head, EndStream: true, EndHeaders: true,
		}))
	}
	if _, writeErr := conn.Write(requests.Bytes()); errors.Join(err, writeErr) != nil {
		t.Error(errors.Join(err, writeErr))
		return 0
	}
	for responses := 0; responses < count; {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Error(err)
			return allowed
		}
		if response, ok := frame.(*http2.MetaHeadersFrame); ok {
			responses++
			if response.PseudoValue("status") != "429" {
				allowed++
			}
		}
	}
	return allowed
}

// http2At returns an HTTP/2 connection from a client address.
func (b *testbed) http2At(t *testing.T, address string) *tls.Conn {
	t.Helper()
	return b.connect(t, &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}, http2.NextProtoTLS)
}

// clientAt returns a client with an address.
func (b *testbed) clientAt(address string) *http.Client {
	client := b.client()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
		return d.DialContext(ctx, "tcp", b.https)
	}
	return client
}

// TestMutualTLS checks that an Envoy elsewhere connects to an address, with a certificate that
// names it.
func TestMutualTLS(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	xds := programtest.Host(t)
	server := b.authority.Issue(t, certtest.Hosts(xds)).Write(t, b.dir, "xds")
	client := b.authority.Issue(t, certtest.Hosts("envoy-1"), func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
	for name, text := range map[string][]byte{
		"certificate.pem": client.ChainPEM(), "private_key.pem": client.KeyPEM(t),
		"xds_ca.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.authority.Certificate.Raw}),
	} {
		if err := os.WriteFile(b.path(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.xds = fmt.Sprintf(`{listen: "%s", certificate: %s, private_key: %s, client_ca: %s}`,
		net.JoinHostPort(xds, "18000"), server.Chain, server.Key, b.path("xds_ca.pem"))
	b.configure(t, "")
	b.run(t)
	b.envoy(t).Listeners(t)
	if got := b.send(t, b.client(), "GET", "https://"+host+"/v1/x", ""); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

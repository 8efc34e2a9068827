package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/envoytest"
)

// TestRateOfANetwork checks that all addresses of a network get ten times the requests of one, on
// every route. Another network is served.
func TestRateOfANetwork(t *testing.T) {
	t.Parallel()
	const rate, burst = 1, 3
	b := newTestbed(t)
	b.configure(t, fmt.Sprintf("limits: {rate: %d, burst: %d}", rate, burst))
	b.run(t)
	b.envoy(t).Listeners(t)
	for i, path := range []string{"/v1/x", "/v1/special", "/compat/x", "/none"} {
		network := fmt.Sprintf("127.0.%d.", 80+2*i)
		clients := make([]*tls.Conn, 60)
		for n := range clients {
			clients[n] = b.http2At(t, network+strconv.Itoa(n+1))
		}
		var got atomic.Int64
		var all sync.WaitGroup
		for _, client := range clients { // at once, after all handshakes: the bucket fills up again with time
			all.Go(func() { got.Add(getAtOnce(t, client, path, burst)) })
		}
		all.Wait()
		if n := got.Load(); n < 10*burst || n >= int64(len(clients)*burst) {
			t.Errorf("%s: requests of a network: got %d, want the burst of %d and some, and then a refusal", path, n, 10*burst)
		}
		other := b.http2At(t, fmt.Sprintf("127.0.%d.1", 81+2*i))
		if n := getAtOnce(t, other, path, burst); n != burst {
			t.Errorf("%s: requests of an address in another network: got %d, want %d", path, n, burst)
		}
	}
}

// TestRateOfManyAddresses checks that Envoy serves a further address if it has the most buckets. It
// removes the bucket that was used least recently. Its address then has a full one.
func TestRateOfManyAddresses(t *testing.T) {
	t.Parallel()
	const burst = 100
	b := newTestbed(t)
	b.configure(t, fmt.Sprintf("limits: {rate: 1, burst: %d}", burst))
	text, err := output(t, "static", "--config", b.path("edge.yaml"), "--admin", "127.0.0.1:0",
		"--certificate", b.path("certs/edge.crt"), "--key", b.path("certs/edge.key"))
	if err != nil {
		t.Fatal(err)
	}
	const most = "max_dynamic_descriptors: "
	if !strings.Contains(text, most+"65536\n") {
		t.Fatal("the configuration has another form")
	}
	file := b.path("static.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, most+"65536\n", most+"2\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	envoytest.Start(t, file).Listeners(t)
	first := b.plainAt("127.0.90.1")
	refused := func() bool {
		return b.send(t, first, "GET", "http://"+host+"/v1/x", "").status == http.StatusTooManyRequests
	}
	for n := 0; !refused(); n++ {
		if n == 10*burst {
			t.Fatal("the first address is not refused")
		}
	}
	for i := range 3 {
		client := b.plainAt(fmt.Sprintf("127.0.%d.1", 91+i))
		if got := b.send(t, client, "GET", "http://"+host+"/v1/x", ""); got.status != http.StatusPermanentRedirect {
			t.Errorf("address %d: got %d %s", i+2, got.status, got.body)
		}
	}
	for n := range burst {
		if refused() {
			t.Fatalf("the first address got %d requests with a new bucket, want %d", n, burst)
		}
	}
}

// plainAt is plainClient with a client address.
func (b *testbed) plainAt(address string) *http.Client {
	client := b.plainClient()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
		return d.DialContext(ctx, "tcp", b.http)
	}
	return client
}

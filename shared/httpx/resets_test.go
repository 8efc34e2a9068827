package httpx_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// TestServerEndsAResettingConnection: a client that cancels its requests on one connection gets
// GOAWAY, so that it needs a new connection. If most requests complete, cancelled requests do not
// end the connection.
func TestServerEndsAResettingConnection(t *testing.T) {
	t.Parallel()
	fixture := httptest.NewUnstartedServer(nil) // for its certificate
	fixture.StartTLS()
	t.Cleanup(fixture.Close)
	cert := fixture.TLS.Certificates[0]
	roots := x509.NewCertPool()
	roots.AddCert(fixture.Certificate())
	entered, left := make(chan struct{}), make(chan struct{})
	s := httpx.NewServer(httpx.Options{
		TLS: tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }),
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/whole" {
				return
			}
			entered <- struct{}{}
			<-r.Context().Done()
			left <- struct{}{}
		}),
	})
	at := strings.TrimPrefix(mustStart(t, s), "http://")
	for whole, ends := range map[int]bool{0: true, 1: false} {
		var dials atomic.Int64
		var protocols http.Protocols
		protocols.SetHTTP2(true)
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: tlspolicy.Client(roots), Protocols: &protocols,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return (&net.Dialer{}).DialContext(ctx, network, address)
			},
		}}
		for range 230 {
			send(t, client, "https://"+at+"/cancelled", entered, left)
			for range whole {
				send(t, client, "https://"+at+"/whole", nil, nil)
			}
		}
		if got := dials.Load() > 1; got != ends {
			t.Errorf("%d whole requests to each cancelled one: %d connections", whole, dials.Load())
		}
		client.CloseIdleConnections()
	}
}

// send sends a request, and cancels it when it has entered its handler.
func send(t *testing.T, client *http.Client, url string, entered, left <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if response, err := client.Do(r); err == nil {
			_ = response.Body.Close() // it has none
		}
	}()
	if entered != nil {
		<-entered
		cancel()
		<-left
	}
	<-ended
}

package compatproxy_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// endpoints returns the endpoints of all dialects.
func endpoints() []string { return []string{path, pathB, "/compat/rpc"} }

// TestUnfinishedBodiesStopNoSale: every endpoint gets more unfinished bodies without a login than
// the proxy handles concurrent requests. They stop no sale of either dialect, and no health probe.
func TestUnfinishedBodiesStopNoSale(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) { c.Concurrency, c.BodyGrace = 2, time.Hour })
	at := proxy.Listener.Addr().String()
	for i := range 20 {
		for _, endpoint := range endpoints() {
			programtest.MustSendUnfinished(t, fmt.Sprintf("127.0.1.%d", i+1), at, endpoint)
		}
	}
	resp, body := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sale), nil)
	if resp.status != http.StatusOK || !strings.Contains(body, approvedJSON) {
		t.Errorf("provider-a: got %d %s", resp.status, body)
	}
	resp, body = send(t, http.MethodPost, proxy.URL+pathB, strings.NewReader(saleB), asB)
	if resp.status != http.StatusCreated {
		t.Errorf("provider-b: got %d %s", resp.status, body)
	}
	if resp, body := send(t, http.MethodGet, proxy.URL+"/health", http.NoBody, nil); resp.status != http.StatusOK {
		t.Errorf("health: got %d %s", resp.status, body)
	}
}

// TestShareOfUnfinishedBodies: one address may have 85 unfinished bodies, at any endpoints. One
// more gets an error of its dialect. Other addresses are served.
func TestShareOfUnfinishedBodies(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) { c.BodyGrace = time.Hour })
	at := proxy.Listener.Addr().String()
	for i := range 85 {
		programtest.MustSendUnfinished(t, "127.0.1.1", at, endpoints()[i%3])
	}
	for endpoint, want := range map[string]string{
		path: "200 <text>Server too busy</text>", pathB: "503 Too busy. Nothing was executed.",
		"/compat/rpc": `200 "code":-32002`,
	} {
		status, body := programtest.MustSendHead(t, "127.0.1.1", at, endpoint).MustEnd(t)
		if code, text, _ := strings.Cut(want, " "); fmt.Sprint(status) != code || !strings.Contains(body, text) {
			t.Errorf("%s: got %d %s, want %s", endpoint, status, body, want)
		}
	}
	resp, body := send(t, http.MethodPost, proxy.URL+pathB, strings.NewReader(saleB), asB)
	if resp.status != http.StatusCreated {
		t.Errorf("another address: got %d %s", resp.status, body)
	}
}

// TestSlowBodies: a body that does not arrive ends with 408, in the form of its dialect.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	s := &v1{}
	at := mustProxy(t, s, nil).Listener.Addr().String()
	held := map[string]*programtest.Unfinished{}
	for _, endpoint := range endpoints() {
		held[endpoint] = programtest.MustSendUnfinished(t, "", at, endpoint)
		held[endpoint].MustSend(t, `{"a":`)
	}
	for endpoint, text := range map[string]string{
		path: bom + `{`, pathB: "arrived too slowly", "/compat/rpc": `"code":-32600`,
	} {
		if status, body := held[endpoint].MustEnd(t); status != http.StatusRequestTimeout || !strings.Contains(body, text) {
			t.Errorf("%s: got %d %s, want 408 with %s", endpoint, status, body, text)
		}
	}
}

// TestMemoryOfSales: the large sales of one client wait for v1. They use only a part of the memory,
// so the next one gets an error of its dialect, and a small sale is still executed.
func TestMemoryOfSales(t *testing.T) {
	t.Parallel()
	s := &v1{hold: make(chan struct{}), arrived: make(chan struct{})}
	proxy := mustProxy(t, s, nil)
	large := strings.Replace(sale, `}}}}}`, `}},"employeeId":"`+strings.Repeat("x", 250<<10)+`"}}}`, 1)
	busy := make(chan string, 100)
	begin := func(sale string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		go func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(sale))
			w := httptest.NewRecorder()
			proxy.Config.Handler.ServeHTTP(w, r)
			busy <- w.Body.String()
		}()
	}
	t.Cleanup(func() { close(s.hold) })
	held := 0
	for refused := false; !refused && held < 50; {
		begin(large)
		select {
		case <-s.arrived:
			held++
		case body := <-busy:
			refused = true
			if !strings.Contains(body, "E00053") {
				t.Errorf("got %s, want E00053", body)
			}
		}
	}
	if held < 5 || held > 20 {
		t.Errorf("got %d large sales, want a dozen", held)
	}
	begin(sale)
	select {
	case <-s.arrived:
	case body := <-busy:
		t.Errorf("small sale: got %s", body)
	}
}

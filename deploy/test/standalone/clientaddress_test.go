package standalone_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
)

// requestLines returns the log events of the requests that a service finished, in order.
func requestLines(t *testing.T, p *process, service string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(p.Log.String()) {
		var event map[string]any
		if json.Unmarshal(bytes.TrimSpace([]byte(line)), &event) == nil && event["msg"] == "request" &&
			event["service"] == service {
			out = append(out, event)
		}
	}
	return out
}

// fromAddress returns an HTTP client whose connections come from one loopback address.
func fromAddress(t *testing.T, address string) *http.Client {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, to)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// TestClientAddressReachesCore checks that core logs the address of the client itself, for v1 and
// for legacy requests. The address that the client claims has no effect.
func TestClientAddressReachesCore(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "info")
	claims := http.Header{}
	for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "X-Svc-Int-Client-Address", "True-Client-Ip"} {
		claims.Set(name, "203.0.113.66")
	}
	claims.Set("Forwarded", "for=203.0.113.66")
	claims.Set("X-Svc-Int-Hop", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	send := func(address, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = claims.Clone()
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+p.Keys.SKTest)
		got, err := fromAddress(t, address).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode >= 300 {
			t.Fatalf("%s: got %d", path, got.StatusCode)
		}
	}
	send("127.0.0.11", "/v1/customers", `{}`)
	send("127.0.0.12", "/compat/provider-a/xml", saleXML(p, "5.00"))
	p.Stop(t)
	seen := map[string]bool{}
	for _, event := range append(requestLines(t, p, "core"), requestLines(t, p, "compat-proxy")...) {
		address, _ := event["client_address"].(string)
		seen[event["service"].(string)+" "+event["route"].(string)+" "+address] = true
		if strings.HasPrefix(address, "203.") {
			t.Errorf("a claimed address counts: %v", event)
		}
	}
	for _, want := range []string{
		"core POST /v1/customers 127.0.0.11", "core POST /v1/transactions 127.0.0.12",
		"compat-proxy POST /compat/provider-a/xml 127.0.0.12",
	} {
		if !seen[want] {
			t.Errorf("no log event %q in %v", want, seen)
		}
	}
}

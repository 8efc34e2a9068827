package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	hopText  = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	somePeer = "198.51.100.9:4711"
)

// clientAddressCases are requests by way of hops, trusted or not, and their client addresses.
var clientAddressCases = map[string]struct {
	hop    secret.String
	peer   string
	fields http.Header
	want   string
}{
	"the peer": {hop: secret.New(hopText), peer: somePeer, want: "198.51.100.9"},
	"no forwarding field counts": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{
			"X-Forwarded-For": {"203.0.113.7"}, "Forwarded": {"for=203.0.113.7"},
			"X-Real-Ip": {"203.0.113.7"},
		}, want: "198.51.100.9",
	},
	"without the hop secret": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"203.0.113.7"}},
		want:   "198.51.100.9",
	},
	"a wrong hop secret": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"203.0.113.7"}, httpx.HopField: {"x" + hopText[1:]}},
		want:   "198.51.100.9",
	},
	"two hop secrets": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"203.0.113.7"}, httpx.HopField: {hopText, hopText}},
		want:   "198.51.100.9",
	},
	"no secret is configured": {
		peer:   somePeer,
		fields: http.Header{httpx.ClientAddressField: {"203.0.113.7"}, httpx.HopField: {""}}, want: "198.51.100.9",
	},
	"a trusted hop": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"203.0.113.7"}, httpx.HopField: {hopText}}, want: "203.0.113.7",
	},
	"a trusted hop, mapped IPv4": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"::ffff:203.0.113.7"}, httpx.HopField: {hopText}},
		want:   "203.0.113.7",
	},
	"a trusted hop, IPv6": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"2001:DB8::1"}, httpx.HopField: {hopText}}, want: "2001:db8::1",
	},
	"a hop with two addresses": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"203.0.113.7", "203.0.113.8"}, httpx.HopField: {hopText}}, want: "",
	},
	"a hop with no address": {
		hop: secret.New(hopText), peer: somePeer,
		fields: http.Header{httpx.ClientAddressField: {"-"}, httpx.HopField: {hopText}}, want: "",
	},
	"an IPv6 peer with a zone": {hop: secret.New(hopText), peer: "[fe80::1%eth0]:4711", want: "fe80::1"},
	"a unix socket":            {hop: secret.New(hopText), peer: "@", want: ""},
}

// TestClientAddress checks which address a request counts as coming from.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	for name, c := range clientAddressCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log logbook
			var got string
			var left http.Header
			h := httpx.LogRequests(log.logger(), clock.System(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got, left = httpx.ClientAddressFrom(r.Context()), r.Header
			}))
			h = httpx.RequestID(httpx.ClientAddress(c.hop, h))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			r.Header = c.fields.Clone()
			h.ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want || len(left) != 0 {
				t.Errorf("got %q and fields %v, want %q and none", got, left, c.want)
			}
			if events := log.events(t, "request"); len(events) != 1 || events[0]["client_address"] != c.want {
				t.Errorf("logged %v, want client_address %q", events, c.want)
			}
		})
	}
}

// TestForwardClientAddress checks that the next hop reads the address that this one forwards.
func TestForwardClientAddress(t *testing.T) {
	t.Parallel()
	hop := secret.New(hopText)
	forwarded := func(with secret.String, peer string) http.Header {
		header := http.Header{}
		h := httpx.ClientAddress(hop, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			httpx.ForwardClientAddress(r.Context(), with, header)
		}))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = peer
		h.ServeHTTP(httptest.NewRecorder(), r)
		return header
	}
	next := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	next.Header = forwarded(hop, "203.0.113.7:1")
	if got := httpx.AddressOf(hop, next); got != "203.0.113.7" {
		t.Errorf("the next hop reads %q of %v", got, next.Header)
	}
	for name, header := range map[string]http.Header{
		"no secret":  forwarded(secret.String{}, "203.0.113.7:1"),
		"no address": forwarded(hop, "@"),
	} {
		if len(header) != 0 {
			t.Errorf("%s: forwarded %v", name, header)
		}
	}
}

// TestHopSecret checks how the secret is read, and that an unusable one is refused without being
// shown.
func TestHopSecret(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hop")
	if err := os.WriteFile(file, []byte(hopText+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(vars map[string]string) (string, error) {
		got, err := httpx.HopSecret(func(name string) string { return vars[name] })
		return got.Reveal(), err
	}
	for want, vars := range map[string]map[string]string{"": {}, hopText: {"CAUSEWAY_HOP_SECRET_FILE": file}} {
		if got, err := read(vars); err != nil || got != want {
			t.Errorf("%v: got %q, %v", vars, got, err)
		}
	}
	for name, hop := range map[string]string{
		"a short secret": "short-secret", "a command of Envoy": hopText + "%REQ(A)%", "two lines": hopText + "\n" + hopText,
	} {
		if _, err := read(map[string]string{"CAUSEWAY_HOP_SECRET": hop}); err == nil ||
			strings.Contains(err.Error(), hop[:12]) ||
			!strings.Contains(err.Error(), "CAUSEWAY_HOP_SECRET") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

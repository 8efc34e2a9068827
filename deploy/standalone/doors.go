package main

import (
	"net"
	"net/http"
	"strings"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
)

// doors gives the legacy paths to the proxy, what is told of certificates to those who tell it, and all else to v1, whose answer to an unknown path
// is the JSON 404. Never by host name: a legacy client that can only change its host must arrive under any.
func doors(v1, legacy, trust http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isLegacy(r.URL.Path):
			legacy.ServeHTTP(w, r)
		case r.URL.Path == trustPath || strings.HasPrefix(r.URL.Path, trustPath+"/"):
			trust.ServeHTTP(w, r)
		default:
			v1.ServeHTTP(w, r)
		}
	})
}

// isLegacy reports whether path is under /compat/ or is a provider's own.
func isLegacy(path string) bool {
	return strings.HasPrefix(path, "/compat/") || compatproxy.IsDropIn(path)
}

// baseURL is where a client on this machine reaches a listener.
func baseURL(scheme string, addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil { // not a TCP address; none of ours
		return scheme + "://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// certificateHosts is what the server certificate must name beside the loopback names, for an HTTPS listener on addr.
func certificateHosts(addr string) []string {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || host == "" || ip != nil && ip.IsUnspecified() {
		return nil
	}
	return []string{host}
}

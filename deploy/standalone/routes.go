package main

import (
	"net"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/shared/dropin"
)

// route routes legacy paths to compat-proxy, /v1/trust to the trust handler, and all other paths to
// v1. It ignores the host name: a legacy client that changes only its host can use any host name.
func route(v1, legacy, trust http.Handler) http.Handler {
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
	return strings.HasPrefix(path, "/compat/") || dropin.IsA(path) || dropin.IsB(path)
}

// baseURL returns the base URL of a listener for a client on this machine.
func baseURL(scheme string, addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil { // not a TCP address
		return scheme + "://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// certificateHosts returns the hosts that the certificate of a listener on addr must name, besides
// the loopback names.
func certificateHosts(addr string) []string {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || host == "" || ip != nil && ip.IsUnspecified() {
		return nil
	}
	return []string{host}
}

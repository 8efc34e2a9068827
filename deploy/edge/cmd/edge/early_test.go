package main

import (
	"crypto/tls"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestEarlyResponsesOfCurl sends bodies with the machine's curl to requests that Envoy rejects by
// their heads. No response may be lost, also if curl has not sent the whole body.
func TestEarlyResponsesOfCurl(t *testing.T) {
	t.Parallel()
	b := served(t)
	certtest.Replace(t, b.path("roots.pem"), certtest.PEM(b.authority.Certificate))
	for path, tt := range map[string]struct {
		size   int
		status string
	}{
		"/none":     {300, "404 0"},
		"/compat/x": {600 << 10, "413 0"}, // longer than the window of a stream of HTTP/2
	} {
		certtest.Replace(t, b.path("body"), []byte(strings.Repeat("a", tt.size)))
		out := programtest.MustOutput(t, programtest.Command{Path: "curl", Args: []string{
			"--silent", "--cacert", b.path("roots.pem"), "--connect-to", host + ":443:" + b.https, "--output", os.DevNull,
			"--write-out", "%{http_code} %{exitcode}\n", "--data-binary", "@" + b.path("body"),
			"https://" + host + path + "?[1-100]",
		}})
		got := map[string]int{}
		for line := range strings.Lines(out) {
			got[strings.TrimSpace(line)]++
		}
		if want := map[string]int{tt.status: 100}; !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

// TestPreferredProtocol checks that a client which offers both versions gets HTTP/1.1. On HTTP/2,
// old clients lose Envoy's response to an unfinished body.
func TestPreferredProtocol(t *testing.T) {
	t.Parallel()
	b := served(t)
	for want, offered := range map[string][]string{
		"http/1.1": {"h2", "http/1.1"}, "h2": {"h2"}, "": nil,
	} {
		conn, err := b.handshake(t, func(c *tls.Config) { c.NextProtos = offered })
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got != want {
			t.Errorf("%q: got %q, want %q", offered, got, want)
		}
	}
}

// onlyHTTP2 makes a transport offer HTTP/2 alone. Envoy prefers HTTP/1.1.
func onlyHTTP2(t *http.Transport) {
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP2(true)
}

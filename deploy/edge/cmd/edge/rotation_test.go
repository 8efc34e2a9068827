package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
)

// TestRotation pushes a new certificate under the same name while requests run. No request fails,
// connections stay open, and new handshakes get it. The published history agrees.
func TestRotation(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "limits: {rate: 0}") // the load comes from one address
	b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	b.logged(t, e, "certificate is live")
	kept, err := b.handshake(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	soFar, stop := b.load(t)
	var last *certtest.Issued
	for i := 0; i < 3 || soFar() < 100; i++ {
		last = b.install(t)
		b.shows(t, e, last)
	}
	if done, failed := stop(); failed != 0 {
		t.Errorf("got %d failures of %d", failed, done)
	}
	if _, err := kept.Write([]byte("GET /v1/x HTTP/1.1\r\nHost: " + host + "\r\n\r\n")); err != nil {
		t.Error(err)
	}
	if n, err := kept.Read(make([]byte, 8)); n == 0 || err != nil {
		t.Errorf("the connection from before: %v", err)
	}
	if kept.ConnectionState().PeerCertificates[0].Equal(last.Leaf) {
		t.Error("the connection from before has another certificate")
	}
	stats := e.Get(t, "/stats?filter=listener_manager.listener_(modified|in_place_updated)")
	if !strings.Contains(stats, "listener_modified: 0") {
		t.Errorf("the listener was created again: %s", stats)
	}
	serial := strings.ToLower(last.Leaf.NotAfter.UTC().Format("2006-01-02T15:04:05"))
	e.Wait(t, "has another fingerprint than its certificate", func() bool {
		got := b.send(t, b.client(), "GET", "https://"+host+"/v1/trust/fingerprints", "")
		var decoded struct {
			Current []struct {
				SPKI string `json:"spki_sha256"`
			} `json:"current"`
		}
		return got.status == 200 && json.Unmarshal([]byte(got.body), &decoded) == nil &&
			strings.Contains(strings.ToLower(got.body), serial)
	})
}

// load runs four clients at full speed, two of them over HTTP/2, until stop is called. soFar
// returns the number of finished requests.
func (b *testbed) load(t *testing.T) (soFar func() int64, stop func() (done, failed int64)) {
	t.Helper()
	ended := make(chan struct{})
	var all sync.WaitGroup
	var done, failed atomic.Int64
	for i := range 4 {
		client := b.client()
		if i%2 == 1 {
			client = b.http2()
		}
		all.Go(func() {
			for !closed(ended) {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+"/v1/x", http.NoBody)
				if err != nil {
					failed.Add(1)
					return
				}
				got, err := client.Do(r)
				done.Add(1)
				if err != nil || got.StatusCode != http.StatusOK {
					failed.Add(1)
					continue
				}
				_ = got.Body.Close()
			}
		})
	}
	return done.Load, func() (int64, int64) {
		close(ended)
		all.Wait()
		return done.Load(), failed.Load()
	}
}

// TestRefusedCertificate checks that an invalid certificate leaves the present one.
func TestRefusedCertificate(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	stop := b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	b.logged(t, e, "certificate is live")
	conn, err := b.handshake(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := conn.ConnectionState().PeerCertificates[0]
	b.authority.Issue(t, certtest.Hosts("other.example.com")).Write(t, b.path("certs"), "edge")
	b.logged(t, e, "the certificate was rejected; the present one stays")
	conn, err = b.handshake(t, nil)
	if err != nil || !conn.ConnectionState().PeerCertificates[0].Equal(before) {
		t.Errorf("got %v", err)
	}
	stop()
	b.run(t) // serves the previous one, although its files are gone
	e.Wait(t, "does not come back", func() bool {
		return strings.Contains(e.Get(t, "/stats?filter=control_plane.connected_state"), ": 1")
	})
	conn, err = b.handshake(t, nil)
	if err != nil || !conn.ConnectionState().PeerCertificates[0].Equal(before) {
		t.Errorf("after a restart: got %v", err)
	}
}

// TestEnvoyFirst checks that an Envoy started before the control plane waits, and then serves.
func TestEnvoyFirst(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	e := b.envoy(t)
	e.Wait(t, "does not try", func() bool {
		text, err := e.TryGet(t.Context(), "/stats?filter=cluster.xds.upstream_cx_connect_fail")
		return err == nil && !strings.Contains(text, "connect_fail: 0")
	})
	if _, err := b.handshake(t, nil); err == nil {
		t.Error("Envoy serves without a certificate")
	}
	b.run(t)
	e.Listeners(t)
	if got := b.send(t, b.client(), "GET", "https://"+host+"/v1/x", ""); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// TestKilled checks that Envoy serves without the control plane. A control plane restarted with the
// same files pushes no resource, and later pushes changes.
func TestKilled(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	kill := b.process(t)
	e := b.envoy(t)
	e.Listeners(t)
	b.logged(t, e, "certificate is live")
	kill()
	serving := func(what string) {
		t.Helper()
		if got := b.send(t, b.client(), "GET", "https://"+host+"/v1/x", ""); got.status != 200 {
			t.Errorf("%s: got %d %s", what, got.status, got.body)
		}
	}
	serving("killed")
	e.Wait(t, "has not noticed", func() bool {
		return strings.Contains(e.Get(t, "/stats?filter=control_plane.connected_state"), ": 0")
	})
	serving("without it")
	const counted = "/stats?filter=^(listener_manager.(lds.update_success|listener_modified)|" +
		"cluster_manager.(cds.update_success|cluster_modified)|.*rds.edge_routes.update_success|" +
		"sds.edge-cert.update_success)$"
	before := e.Get(t, counted)
	b.process(t)
	e.Wait(t, "does not come back", func() bool {
		return strings.Contains(e.Get(t, "/stats?filter=control_plane.connected_state"), ": 1")
	})
	serving("restarted")
	b.shows(t, e, b.install(t))
	serving("a new certificate")
	after := e.Get(t, counted)
	for _, line := range []string{"listener_modified", "cluster_modified", "rds.edge_routes.update_success"} {
		if value(before, line) != value(after, line) {
			t.Errorf("got %s\nafter %s", after, before)
		}
	}
	b.configure(t, "routes: [{path: /later/**, upstream: compat, mle: off}]")
	e.Wait(t, "takes no changes", func() bool {
		return b.send(t, b.client(), "GET", "https://"+host+"/later/x", "").status == 200
	})
}

// value returns the value of a statistic.
func value(stats, name string) string {
	for line := range strings.Lines(stats) {
		if strings.Contains(line, name) {
			return line
		}
	}
	return ""
}

// TestReload checks that a changed file reaches Envoy. A wrong one is refused before it is pushed,
// with the reason.
func TestReload(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	b.configure(t, "routes: [{path: /later/**, upstream: compat, mle: off}]")
	e.Wait(t, "does not take the new routes", func() bool {
		return b.send(t, b.client(), "GET", "https://"+host+"/later/x", "").status == 200
	})
	for more, reason := range map[string]string{
		"routes: [{path: /a, upstream: nowhere}]": "is not in upstreams",
		"tls: {minimum_version: '1.0'}":           "weaker than the TLS policy",
		"unknown: 1":                              "unknown key",
		"admin: 127.0.0.1:1":                      "restart this program",
	} {
		b.configure(t, more)
		b.logged(t, e, reason)
		if got := b.send(t, b.client(), "GET", "https://"+host+"/later/x", ""); got.status != 200 {
			t.Errorf("%s: got %d %s", more, got.status, got.body)
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

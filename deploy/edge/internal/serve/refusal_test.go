package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// listening returns a snapshot whose listeners have these ports.
func listening(t *testing.T, https, http int, chain string) *snapshot.Snapshot {
	t.Helper()
	return snapshotOf(t, fmt.Sprintf("%slisten: {https: '127.0.0.1:%d', http: '127.0.0.1:%d'}\n", least, https, http),
		chain)
}

func changed(t *testing.T, s *serve.Server, snap *snapshot.Snapshot) *serve.Change {
	t.Helper()
	c, err := s.Set(t.Context(), snap)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// waitedFor calls Wait for a change, with a limit.
func waitedFor(t *testing.T, s *serve.Server, c *serve.Change) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programtest.Patience)
	defer cancel()
	return s.Wait(ctx, c)
}

// takes handles one delivery like an Envoy that refuses one resource, and returns the names in the
// delivery.
func (c *client) takes(but string) []string {
	c.t.Helper()
	r := c.receive()
	got := names(r)
	if slices.Contains(got, but) {
		c.nack(r, but+": cannot bind")
		return got
	}
	c.ack(r)
	return got
}

// halfway returns a node that has accepted all but its listener for plain HTTP.
func halfway(t *testing.T, s *serve.Server, at string) *client {
	t.Helper()
	c := connect(t, at, "n1", nil)
	for _, url := range snapshot.Types {
		if url == resourcev3.ListenerType {
			break
		}
		names := map[string][]string{resourcev3.SecretType: {"edge-cert"}, resourcev3.RouteType: {"edge_routes"}}
		c.subscribe(url, names[url]...)
		c.ack(c.receive())
	}
	c.subscribe(resourcev3.ListenerType)
	for _, want := range [][]string{{"edge_http", "edge_https"}, {"edge_http"}, {"edge_https"}} {
		if got := c.takes("edge_http"); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	var refused *serve.RefusedError
	if err := waited(t, s); !errors.As(err, &refused) || refused.Reason != "Listener: edge_http: cannot bind" {
		t.Fatalf("got %v", err)
	}
	return c
}

// TestPartlyRefused checks that a node is current if it first accepted one of two resources, and
// then the repaired other. The server repeats the refused resource.
func TestPartlyRefused(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, listening(t, 1, 2, "one"))
	c := halfway(t, s, at)
	if got := s.Nodes()[0]; got.Current || got.Refused != "Listener: edge_http: cannot bind" {
		t.Errorf("got %+v", got)
	}
	repaired := changed(t, s, listening(t, 1, 3, "one"))
	if got := c.takes(""); !slices.Equal(got, []string{"edge_http"}) {
		t.Errorf("got %q", got)
	}
	if err := waitedFor(t, s, repaired); err != nil {
		t.Error(err)
	}
	if err := waited(t, s); err != nil {
		t.Error(err)
	}
	if got := s.Nodes()[0]; !got.Current || got.Refused != "" {
		t.Errorf("got %+v", got)
	}
}

// TestRefusedListenerAgain checks that Retry sends a refused listener again until the node accepts
// it, and then the certificate, twice.
func TestRefusedListenerAgain(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, listening(t, 1, 2, "one"))
	c := halfway(t, s, at)
	ctx, cancel := context.WithCancel(t.Context())
	var retries sync.WaitGroup
	defer retries.Wait()
	defer cancel()
	retries.Go(func() { s.Retry(ctx, time.Millisecond) })
	for _, but := range []string{"edge_http", "edge_http", ""} {
		if got := c.takes(but); !slices.Equal(got, []string{"edge_http"}) {
			t.Errorf("got %q", got)
		}
	}
	for range 2 {
		if got := c.takes(""); !slices.Equal(got, []string{"edge-cert"}) {
			t.Errorf("got %q", got)
		}
	}
	set(t, s, listening(t, 3, 2, "one"))
	if got := c.takes(""); !slices.Equal(got, []string{"edge_https"}) {
		t.Errorf("got %q, want only the listener that changed", got)
	}
}

// TestRefusedAlone checks that a refusal of several counts only after the server has found the
// refused one. A resource outside of the delivery never counts as refused.
func TestRefusedAlone(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, listening(t, 1, 2, "one"))
	c := connect(t, at, "n1", nil)
	c.all()
	if err := waited(t, s); err != nil {
		t.Fatal(err)
	}
	both := changed(t, s, listening(t, 3, 4, "one"))
	if got := c.takes("edge_https"); len(got) != 2 {
		t.Fatalf("got %q", got)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // it ends: n1 has sent nothing more
	defer cancel()
	if err := s.Wait(short, both); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before it is known: got %v", err)
	}
	for _, want := range []string{"edge_http", "edge_https"} {
		if got := c.takes("edge_https"); !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
	var refused *serve.RefusedError
	if err := waitedFor(t, s, both); !errors.As(err, &refused) || refused.Before {
		t.Errorf("got %v", err)
	}
	// The node has the one that it accepted, independently of the other.
	set(t, s, listening(t, 1, 4, "one"))
	if got := c.takes(""); !slices.Equal(got, []string{"edge_https"}) {
		t.Errorf("got %q", got)
	}
	if err := waited(t, s); err != nil {
		t.Error(err)
	}
}

// TestForeignRefusal checks that a node's refusal of one resource delays the report of no other
// change, and causes no refusal of it.
func TestForeignRefusal(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, listening(t, 1, 2, "one"))
	c := halfway(t, s, at)
	rotated := changed(t, s, listening(t, 1, 2, "two"))
	if got := c.takes(""); !slices.Equal(got, []string{"edge-cert"}) {
		t.Errorf("got %q", got)
	}
	if err := waitedFor(t, s, rotated); err != nil {
		t.Error(err)
	}
	moved := changed(t, s, listening(t, 5, 2, "two"))
	c.takes("")
	if err := waitedFor(t, s, moved); err != nil {
		t.Error(err)
	}
	// Both change, and the node refuses the same one again.
	both := changed(t, s, listening(t, 6, 7, "two"))
	for range 3 {
		c.takes("edge_http")
	}
	var refused *serve.RefusedError
	if err := waitedFor(t, s, both); !errors.As(err, &refused) || !refused.Before {
		t.Errorf("got %v", err)
	}
	if got := s.Nodes()[0]; got.Current || got.Refused == "" {
		t.Errorf("got %+v", got)
	}
}

// TestRefusedRemoval checks that a removal is repeated if the node refused it together with another
// resource.
func TestRefusedRemoval(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, listening(t, 1, 2, "one"))
	c := connect(t, at, "n1", nil)
	c.all()
	if err := waited(t, s); err != nil {
		t.Fatal(err)
	}
	without := snapshotOf(t, least+"listen: {https: '127.0.0.1:9', http: ''}\n", "one")
	gone := changed(t, s, without)
	c.nack(c.next(resourcev3.ListenerType), "cannot read one of them")
	for range 2 {
		r := c.next(resourcev3.ListenerType)
		if len(r.GetResources())+len(r.GetRemovedResources()) != 1 {
			t.Errorf("got %v", r)
		}
		c.ack(r)
	}
	if err := waitedFor(t, s, gone); err != nil {
		t.Error(err)
	}
}

// next acknowledges deliveries of other kinds.
func (c *client) next(url string) *discoveryv3.DeltaDiscoveryResponse {
	c.t.Helper()
	for {
		r := c.receive()
		if r.GetTypeUrl() == url {
			return r
		}
		c.ack(r)
	}
}

// TestRefusalShowsNoSecret checks a refusal that quotes the present hop secret and the one before.
// Neither the log nor operators see it.
func TestRefusalShowsNoSecret(t *testing.T) {
	t.Parallel()
	var log programtest.Log
	s, at := started(t, nil, func(c *serve.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	first, second := strings.Repeat("planted-1", 6), strings.Repeat("planted-2", 6)
	set(t, s, snapshotWith(t, least+"listen: {https: '127.0.0.1:1', http: ''}\n", "chain", first))
	c := connect(t, at, "n1", nil)
	c.subscribe(resourcev3.ListenerType)
	delivered := c.receive()
	set(t, s, snapshotWith(t, least+"listen: {https: '127.0.0.1:2', http: ''}\n", "chain", second))
	c.nack(delivered, strings.Repeat("x", 480)+first) // the log has the first 500 characters
	c.nack(c.receive(), first+second)
	var refused *serve.RefusedError
	if err := waited(t, s); !errors.As(err, &refused) || refused.Reason != "Listener: [redacted][redacted]" {
		t.Errorf("got %v", err)
	}
	if got := log.String(); strings.Contains(got, "planted") || strings.Count(got, "rejected its configuration") != 2 {
		t.Errorf("got %s", got)
	}
}

package mlefilter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// TestBusy checks that a request beyond the limit is rejected immediately, and that earlier
// requests complete.
func TestBusy(t *testing.T) {
	t.Parallel()
	f := open(t, func(c *mlefilter.Config) { c.Concurrency = 1 })
	f.core.hold, f.core.arrived = make(chan struct{}), make(chan struct{})
	done := make(chan got)
	client := f.client(t, mle.ECDHESA256KW, nil)
	go func() { done <- f.send(t, client, "POST", "/v1/transactions", sale) }()
	<-f.core.arrived
	g := f.send(t, f.Client(), "GET", "/v1/transactions", "")
	if g.status != 503 || !strings.Contains(g.body, `"code":"overloaded"`) || g.header.Get("Retry-After") == "" {
		t.Errorf("on top: got %d %s, want 503", g.status, g.body)
	}
	g = f.send(t, f.Client(), "POST", "/v1/tokens", "{}")
	if g.status != 503 || g.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("from a page: got %d %v, want a 503 that the page can read", g.status, g.header)
	}
	if g := f.send(t, f.Client(), "OPTIONS", "/v1/tokens", ""); g.status != 204 {
		t.Errorf("a preflight request: got %d %s, want 204: it needs no slot", g.status, g.body)
	}
	close(f.core.hold)
	if g := <-done; g.status != 201 {
		t.Errorf("before: got %d %s", g.status, g.body)
	}
}

// TestForwardedRequestsNeedNoSlot checks that requests in the clear hold no slot while they wait
// for core. The filter has not looked up their merchants, and core shares its slots between
// merchants.
func TestForwardedRequestsNeedNoSlot(t *testing.T) {
	t.Parallel()
	f := open(t, func(c *mlefilter.Config) { c.Concurrency = 1 })
	f.core.hold, f.core.arrived = make(chan struct{}), make(chan struct{})
	done := make(chan got, 2)
	held := 0
	for range 2 {
		go func() { done <- f.send(t, f.Client(), "POST", "/v1/transactions", sale) }()
		select {
		case <-f.core.arrived:
			held++
		case g := <-done:
			t.Errorf("got %d %s", g.status, g.body)
		}
	}
	close(f.core.hold)
	for range held {
		if g := <-done; g.status != 201 {
			t.Errorf("got %d %s", g.status, g.body)
		}
	}
}

// TestShareOfSlots checks that the encrypted requests of one merchant hold only a share of the
// slots.
func TestShareOfSlots(t *testing.T) {
	t.Parallel()
	f := open(t, func(c *mlefilter.Config) { c.Concurrency = 2 })
	client := f.client(t, mle.ECDHESA256KW, nil)
	f.core.hold, f.core.arrived = make(chan struct{}), make(chan struct{})
	done := make(chan got)
	go func() { done <- f.send(t, client, "POST", "/v1/transactions", sale) }()
	<-f.core.arrived
	g := f.send(t, client, "POST", "/v1/transactions", sale)
	if g.status != 429 || !strings.Contains(g.body, `"code":"rate_limited"`) || g.header.Get("Retry-After") != "1" {
		t.Errorf("beyond the share: got %d %v %s", g.status, g.header, g.body)
	}
	close(f.core.hold)
	if g := <-done; g.status != 201 {
		t.Errorf("within the share: got %d %s", g.status, g.body)
	}
}

// TestUnfinishedBodiesStopNoRequest sends more unfinished bodies than there are slots, in the clear
// and encrypted. They must stop no request of another client, and no health probe.
func TestUnfinishedBodiesStopNoRequest(t *testing.T) {
	t.Parallel()
	f := open(t, func(c *mlefilter.Config) { c.Concurrency, c.BodyGrace = 2, time.Hour })
	at := f.Listener.Addr().String()
	for i := range 20 {
		from := fmt.Sprintf("127.0.1.%d", i+1)
		programtest.MustSendUnfinished(t, from, at, "/v1/transactions", "Authorization: Bearer sk_test_1")
		programtest.MustSendUnfinished(t, from, at, "/v1/transactions", "Authorization: Bearer sk_test_1",
			"Content-Type: application/jose", "X-SVC-MLE: v1")
	}
	if g := f.send(t, f.Client(), "POST", "/v1/transactions", sale); g.status != 201 {
		t.Errorf("in the clear: got %d %s", g.status, g.body)
	}
	if g := f.send(t, f.client(t, mle.ECDHESA256KW, nil), "POST", "/v1/transactions", sale); g.status != 201 {
		t.Errorf("encrypted: got %d %s", g.status, g.body)
	}
}

// TestSlowBody checks that a body that does not arrive gets 408.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	u := programtest.MustSendUnfinished(
		t, "", f.Listener.Addr().String(), "/v1/transactions", "Authorization: Bearer sk_test_1",
	)
	if status, body := u.MustEnd(t); status != 408 || !strings.Contains(body, `"body_too_slow"`) {
		t.Errorf("got %d %s", status, body)
	}
}

// TestHealthWithoutASlot checks that a probe passes while all slots are in use.
func TestHealthWithoutASlot(t *testing.T) {
	t.Parallel()
	f := open(t, func(c *mlefilter.Config) { c.Concurrency = 1 })
	f.core.hold, f.core.arrived = make(chan struct{}), make(chan struct{})
	done := make(chan got)
	go func() { done <- f.send(t, f.Client(), "POST", "/v1/transactions", sale) }()
	<-f.core.arrived
	if g := f.send(t, f.Client(), "GET", "/v1/health", ""); g.status == 503 && strings.Contains(g.body, "overloaded") {
		t.Errorf("got %d %s", g.status, g.body)
	}
	close(f.core.hold)
	<-done
}

package failover_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const (
	// clients is the number of concurrent clients.
	clients = 8
	// hangUp is a client's timeout. It then sends a retry.
	hangUp = 10 * time.Second
)

// pace returns the pause of a client between two payments. All clients wait for the same faults at
// any pace, and three servers write each payment. So only a soak has many payments.
func pace() time.Duration {
	if programtest.Soak() {
		return 80 * time.Millisecond
	}
	return 200 * time.Millisecond
}

// payment is a payment of one client under one idempotency key.
type payment struct {
	key          string // also the reference
	amount       int64
	body         string    // of the acknowledging response
	first        int       // first status; 0 without a response
	requests     int       // number of requests
	begun        time.Time // start of the acknowledged request
	acknowledged time.Time
}

// load is a set of clients that pay. Each repeats its request with the same key until it gets a
// final response.
type load struct {
	shop *shop
	name string
	http *http.Client
	stop chan struct{}
	done sync.WaitGroup

	mu        sync.Mutex
	payments  []*payment
	strange   []string // unexpected responses
	responses map[int]int
}

// startLoad starts clients that pay until Stop. Names must differ.
func startLoad(t *testing.T, s *shop, name string) *load {
	t.Helper()
	l := &load{shop: s, name: name, stop: make(chan struct{}), responses: map[int]int{}, http: &http.Client{
		Timeout: hangUp, Transport: &http.Transport{MaxIdleConnsPerHost: clients},
	}}
	for client := range clients {
		l.done.Go(func() { l.pay(t.Context(), client) })
	}
	return l
}

// Stop stops the clients after each has got a final response.
func (l *load) Stop() {
	close(l.stop)
	l.done.Wait()
	l.http.CloseIdleConnections()
}

// Acknowledged returns the number of acknowledged payments.
func (l *load) Acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.payments)
}

// AcknowledgedSince returns the number of acknowledged payments whose request was sent after a
// time.
func (l *load) AcknowledgedSince(at time.Time) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.payments {
		if p.begun.After(at) {
			n++
		}
	}
	return n
}

// Responses returns the number of responses with a status.
func (l *load) Responses(status int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.responses[status]
}

// Retried returns the number of payments with more than one request.
func (l *load) Retried() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.payments {
		if p.requests > 1 {
			n++
		}
	}
	return n
}

// Again waits until a payment is acknowledged whose request was sent from now on. It returns the
// time of the first such acknowledgement.
func (l *load) Again(t *testing.T, what string) (at time.Time) {
	t.Helper()
	now := clock.System().Now()
	waitFor(t, what+": payments are taken again", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := len(l.payments) - 1; i >= 0 && l.payments[i].acknowledged.After(now); i-- {
			if l.payments[i].begun.After(now) {
				at = l.payments[i].acknowledged
			}
		}
		return !at.IsZero()
	})
	return at
}

func (l *load) pay(ctx context.Context, client int) {
	tick := time.NewTicker(pace())
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p := &payment{key: fmt.Sprintf("%s-%d-%d", l.name, client, n), amount: int64(1000 + n%9000)}
		l.settle(ctx, client, p)
	}
}

// settle repeats a payment at alternating cores until the response is final.
func (l *load) settle(ctx context.Context, client int, p *payment) {
	pause := time.NewTicker(400 * time.Millisecond)
	defer pause.Stop()
	for ctx.Err() == nil {
		begun := clock.System().Now()
		status, body := l.post(ctx, l.shop.cores[(client+p.requests)%len(l.shop.cores)], p)
		if p.requests++; p.requests == 1 {
			p.first = status
		}
		if l.final(p, begun, status, body) {
			return
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
}

// final records a response and reports whether it is final.
func (l *load) final(p *payment, begun time.Time, status int, body string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.responses[status]++
	switch status {
	case http.StatusCreated:
		p.body, p.begun, p.acknowledged = body, begun, clock.System().Now()
		l.payments = append(l.payments, p)
		return true
	case 0, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusConflict, http.StatusBadGateway:
		return false
	}
	l.strange = append(l.strange, fmt.Sprintf("%s: HTTP %d: %s", p.key, status, body))
	return true
}

// post sends the request. The status is 0 without a complete response.
func (l *load) post(ctx context.Context, core string, p *payment) (status int, body string) {
	text := fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"card","reference":%q}`, p.amount, p.key)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, core+"/v1/transactions", strings.NewReader(text))
	if err != nil {
		return 0, ""
	}
	r.Header.Set("Authorization", "Bearer "+l.shop.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", p.key)
	response, err := l.http.Do(r)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }() // it is read
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(read)
}

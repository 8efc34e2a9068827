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
)

const (
	// clients pay at the same time, each at a pace.
	clients, pace = 8, 40 * time.Millisecond
	// hangUp is when a client gives up waiting for an answer, and asks again.
	hangUp = 10 * time.Second
)

// payment is what one client asked for, under one key, until it was told.
type payment struct {
	key    string // and reference
	amount int64
	body   string    // of the answer that acknowledged it
	first  int       // the status that it was answered first, 0 when there was no answer
	asked  int       // how often
	begun  time.Time // of the request that was acknowledged
	told   time.Time
}

// load is clients that pay, each asking again with its key until it is told.
type load struct {
	shop *shop
	name string
	http *http.Client
	stop chan struct{}
	done sync.WaitGroup

	mu       sync.Mutex
	payments []*payment
	strange  []string // answers that no client should get
	answers  map[int]int
}

// startLoad has clients pay until Stop. Names must differ.
func startLoad(t *testing.T, s *shop, name string) *load {
	t.Helper()
	l := &load{shop: s, name: name, stop: make(chan struct{}), answers: map[int]int{}, http: &http.Client{
		Timeout: hangUp, Transport: &http.Transport{MaxIdleConnsPerHost: clients},
	}}
	for client := range clients {
		l.done.Go(func() { l.pay(t.Context(), client) })
	}
	return l
}

// Stop has the clients end once they have been told of what they asked for.
func (l *load) Stop() {
	close(l.stop)
	l.done.Wait()
	l.http.CloseIdleConnections()
}

// Acknowledged is how many payments were.
func (l *load) Acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.payments)
}

// AskedSince is how many were whose request was sent after a time.
func (l *load) AskedSince(at time.Time) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.payments {
		if p.begun.After(at) {
			n++
		}
	}
	return n
}

// Answered is how often a status was.
func (l *load) Answered(status int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers[status]
}

// Retried is how many were asked for more than once.
func (l *load) Retried() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.payments {
		if p.asked > 1 {
			n++
		}
	}
	return n
}

// Again waits until a payment is acknowledged whose request was sent from now on, and returns when that was.
func (l *load) Again(t *testing.T, what string) (at time.Time) {
	t.Helper()
	now := clock.System().Now()
	waitFor(t, what+": payments are taken again", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := len(l.payments) - 1; i >= 0 && l.payments[i].told.After(now); i-- {
			if l.payments[i].begun.After(now) {
				at = l.payments[i].told // the first of them, at last
			}
		}
		return !at.IsZero()
	})
	return at
}

func (l *load) pay(ctx context.Context, client int) {
	tick := time.NewTicker(pace)
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

// settle asks for a payment until it is told, each time another core.
func (l *load) settle(ctx context.Context, client int, p *payment) {
	pause := time.NewTicker(200 * time.Millisecond)
	defer pause.Stop()
	for ctx.Err() == nil {
		begun := clock.System().Now()
		status, body := l.ask(ctx, l.shop.cores[(client+p.asked)%len(l.shop.cores)], p)
		if p.asked++; p.asked == 1 {
			p.first = status
		}
		if l.told(p, begun, status, body) {
			return
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
}

// told notes an answer, and reports whether it ends the matter.
func (l *load) told(p *payment, begun time.Time, status int, body string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[status]++
	switch status {
	case http.StatusCreated:
		p.body, p.begun, p.told = body, begun, clock.System().Now()
		l.payments = append(l.payments, p)
		return true
	case 0, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusConflict, http.StatusBadGateway:
		return false
	}
	l.strange = append(l.strange, fmt.Sprintf("%s: HTTP %d: %s", p.key, status, body))
	return true
}

// ask sends the request. The status is 0 when no whole answer came.
func (l *load) ask(ctx context.Context, core string, p *payment) (status int, body string) {
	text := fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"card","reference":%q}`, p.amount, p.key)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, core+"/v1/transactions", strings.NewReader(text))
	if err != nil {
		return 0, ""
	}
	r.Header.Set("Authorization", "Bearer "+l.shop.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", p.key)
	answer, err := l.http.Do(r)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = answer.Body.Close() }() // it is read
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, ""
	}
	return answer.StatusCode, string(said)
}

package bench

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// The endpoints and events of P13.
const (
	slowMerchants = 2
	slowEach      = 16               // endpoints of a merchant in a mode, as many as it may have
	slowTime      = 10 * time.Second // until they respond
	slowEvents    = 20               // of a merchant in a mode
	hookTime      = 5 * time.Minute  // limit of a side: a lost delivery would otherwise block it forever
	timed         = 200              // events whose deliveries are timed
	untimed       = 20               // events before them

	honestTime  = 100 * time.Millisecond // until the one busy endpoint responds
	honestRate  = 1000                   // events a second, before their deliveries
	honestReach = 500                    // deliveries a second
	uncounted   = 1000                   // deliveries before the rate counts
	counted     = 2000
)

var errSlowSide = fmt.Errorf("a delivery did not arrive, or the side took more than %s", hookTime)

// hooks measures P13 on both engines. One row has the time from an event to its delivery at an
// instant endpoint, while others are slow. Another row has the deliveries a second to one endpoint.
func hooks(b *Bench) {
	b.onBoth(func(engine string, create func() *core) {
		run := func(measure func(*hookSide) sample) func() sample {
			return func() sample {
				s := b.receive(create())
				var cancel context.CancelFunc
				s.ctx, cancel = context.WithTimeoutCause(b.ctx, hookTime, errSlowSide)
				defer cancel()
				return measure(s)
			}
		}
		got := b.interleave(
			side{"with slow endpoints, " + engine, run(b.timeWithSlow)},
			side{"alone, " + engine, run(b.timeDeliveries)},
			side{"one endpoint, " + engine, run(b.countDeliveries)},
		)
		what := "p50 from event to delivery with 64 endpoints that take 10 s ÷ alone, " + engine
		b.timesRow("P13", what, 2.0, got[0], got[1], byP50)
		b.add(Row{
			ID: "P13", What: "deliveries a second to one endpoint that takes 100 ms, " + engine,
			Absolute: fmt.Sprintf("%d deliveries of a queue", counted), Unit: "/s", Reach: honestReach,
		}, values(got[2], byRate))
	})
}

// hookSide is a running core with a receiver of webhooks.
type hookSide struct {
	b    *Bench
	ctx  context.Context //nolint:containedctx // the limit of the side
	core *core
	addr string
	url  string // of the receiver
	// deliver is called with the body of each delivery, and returns when the receiver responds.
	deliver atomic.Pointer[func(r *http.Request, body []byte)]
}

// receive starts a receiver, and a core that trusts it. The receiver has TLS, as live mode demands.
func (b *Bench) receive(c *core) *hookSide {
	s := &hookSide{b: b, core: c}
	receiver := httptest.NewTLSServer(s)
	b.Cleanup(receiver.Close)
	s.url = receiver.URL
	trusted := b.folder("receiver.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	check(os.WriteFile(trusted, text, 0o600))
	s.addr = c.start([]string{"SSL_CERT_FILE=" + trusted}, "--webhooks-allow-private").addr
	return s
}

// ServeHTTP implements http.Handler.
func (s *hookSide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if deliver := s.deliver.Load(); deliver != nil {
		(*deliver)(r, body)
	}
}

// post sends a request of v1 that makes an object, and returns the object's id.
func (s *hookSide) post(key, path, body string) (id string) {
	headers := []string{"Authorization: Bearer " + key, "Content-Type: application/json"}
	r := must(load.NewRequest("POST", s.addr, path, headers, body, 0))
	return must(create(s.ctx, s.addr, r.Bytes(nil, 0), load.Want{Status: http.StatusCreated}))
}

// endpoint makes a webhook endpoint at a path of the receiver.
func (s *hookSide) endpoint(key, path string) {
	s.post(key, "/v1/webhook_endpoints", `{"url":"`+s.url+path+`","enabled_events":["customer.created"]}`)
}

// event makes a customer, which is one event, and returns the customer's id.
func (s *hookSide) event(key string) string { return s.post(key, "/v1/customers", "{}") }

// timeWithSlow is timeDeliveries while slow endpoints of other merchants have deliveries.
func (b *Bench) timeWithSlow(s *hookSide) sample {
	holding := make(chan struct{}, slowMerchants*2*slowEach*slowEvents)
	hold := func(r *http.Request, _ []byte) {
		holding <- struct{}{}
		over := time.NewTimer(slowTime)
		defer over.Stop()
		select {
		case <-r.Context().Done():
		case <-over.C:
		}
	}
	s.deliver.Store(&hold)
	for range slowMerchants {
		for _, key := range s.core.enroll("test", "live") {
			for i := range slowEach {
				s.endpoint(key, fmt.Sprintf("/slow/%d", i))
			}
			for range slowEvents {
				s.event(key)
			}
		}
	}
	for range slowMerchants * 2 * slowEach {
		await(s.ctx, holding)
	}
	return b.timeDeliveriesWith(s, hold)
}

// await returns the next value of a channel, and ends the scope if ctx ends before.
func await[T any](ctx context.Context, from <-chan T) (value T) {
	select {
	case value = <-from:
	case <-ctx.Done():
		check(context.Cause(ctx))
	}
	return value
}

// timeDeliveries times deliveries at an instant endpoint. The time counts from the response to the
// request that made the event. The next event follows after the delivery.
func (b *Bench) timeDeliveries(s *hookSide) sample {
	return b.timeDeliveriesWith(s, func(*http.Request, []byte) {})
}

// arrival is a delivery at the instant endpoint.
type arrival struct {
	at   time.Time
	body []byte
}

func (b *Bench) timeDeliveriesWith(s *hookSide, slow func(*http.Request, []byte)) sample {
	arrived := make(chan arrival, 1)
	deliver := func(r *http.Request, body []byte) {
		if r.URL.Path != "/instant" {
			slow(r, body)
			return
		}
		select {
		case arrived <- arrival{b.Clock.Now(), body}:
		case <-r.Context().Done(): // the side has failed
		}
	}
	s.deliver.Store(&deliver)
	s.endpoint(s.core.key, "/instant")
	var times []time.Duration
	next := time.NewTicker(b.Each / timed)
	defer next.Stop()
	for range untimed + timed {
		<-next.C
		customer := s.event(s.core.key)
		made := b.Clock.Now()
		a := await(s.ctx, arrived)
		if !bytes.Contains(a.body, []byte(customer)) {
			b.Fatalf("the delivery is not of %s: %.300s", customer, a.body)
		}
		times = append(times, a.at.Sub(made))
	}
	times = times[untimed:]
	slices.Sort(times)
	return sampleOf(&load.Result{Latencies: times, For: b.Each})
}

// countDeliveries measures the deliveries a second to one endpoint that has a queue. The first
// deliveries do not count, because the endpoint then gets few concurrent attempts.
func (b *Bench) countDeliveries(s *hookSide) sample {
	var arrived atomic.Int64
	begin, at := make(chan struct{}), make(chan time.Time, 2)
	deliver := func(*http.Request, []byte) {
		<-begin
		time.Sleep(honestTime)
		if n := arrived.Add(1); n == uncounted || n == uncounted+counted {
			at <- b.Clock.Now()
		}
	}
	s.deliver.Store(&deliver)
	release := sync.OnceFunc(func() { close(begin) })
	defer release()
	s.endpoint(s.core.key, "/honest")
	headers := []string{"Authorization: Bearer " + s.core.key, "Content-Type: application/json"}
	must(load.Run(s.ctx, load.Plan{ // the events, from many clients
		Addr: s.addr, Conns: conns, Rate: honestRate, For: (uncounted + counted) * time.Second / honestRate, Clock: b.Clock,
		Request: must(load.NewRequest("POST", s.addr, "/v1/customers", headers, "{}", 0)),
		Want:    load.Want{Status: http.StatusCreated},
	}))
	release()
	first := await(s.ctx, at)
	return sample{rate: counted / await(s.ctx, at).Sub(first).Seconds()}
}

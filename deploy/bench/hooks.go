package bench

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// The endpoints and events of P13.
const (
	slowMerchants = 2
	slowEach      = 16               // endpoints of a merchant in a mode, as many as it may have
	slowTime      = 10 * time.Second // until they respond
	slowEvents    = 20               // of a merchant in a mode
	hookTime      = 5 * time.Minute  // of a side. One whose delivery is lost would wait for it without end
	timed         = 200              // events whose deliveries are timed
	untimed       = 20               // events before them

	honestTime  = 100 * time.Millisecond // until the one busy endpoint responds
	honestRate  = 1000                   // events a second, before their deliveries
	honestReach = 500                    // deliveries a second
	uncounted   = 1000                   // deliveries before the rate counts
	counted     = 2000
)

var errSlowSide = fmt.Errorf("a delivery did not come, or the side took over %s", hookTime)

// hooks measures P13 on both engines. One row has the time from an event to its delivery at an
// instant endpoint, while others are slow. Another row has the deliveries a second to one endpoint.
func hooks(ctx context.Context, b *Bench) ([]Row, error) {
	return b.onBoth(ctx, func(engine string, p *serve.Postgres) ([]Row, error) {
		return b.hooksOn(ctx, engine, func(ctx context.Context) (*serve.Core, error) {
			if p == nil {
				return b.programs.FolderCore(ctx, b.folder("hooks"))
			}
			return b.programs.Core(ctx, p)
		})
	})
}

// hooksOn measures one engine. make returns a core with an empty store.
func (b *Bench) hooksOn(
	ctx context.Context, engine string, make func(context.Context) (*serve.Core, error),
) ([]Row, error) {
	run := func(measure func(context.Context, *hookSide) (sample, error)) func(context.Context) (sample, error) {
		return func(ctx context.Context) (out sample, err error) {
			ctx, cancel := context.WithTimeoutCause(ctx, hookTime, errSlowSide)
			defer cancel()
			c, err := make(ctx)
			if err != nil {
				return sample{}, err
			}
			if err := b.withHooks(ctx, c, func(s *hookSide) (err error) { out, err = measure(ctx, s); return err }); err != nil {
				return sample{}, err
			}
			return out, c.Drop(ctx)
		}
	}
	got, err := b.interleave(
		ctx,
		side{"beside slow endpoints, " + engine, run(b.timeBesideSlow)},
		side{"alone, " + engine, run(b.timeDeliveries)},
		side{"one endpoint, " + engine, run(b.countDeliveries)},
	)
	if err != nil {
		return nil, err
	}
	rates := Row{
		ID: "P13", What: "deliveries a second to one endpoint that takes 100 ms, " + engine,
		Absolute: fmt.Sprintf("%d deliveries of a queue", counted), Unit: "/s", Reach: honestReach,
	}
	what := "p50 from event to delivery beside 64 endpoints that take 10 s ÷ alone, " + engine
	return []Row{timesRow("P13", what, 2.0, got[0], got[1], byP50), rates.of(values(got[2], byRate))}, nil
}

// hookSide is a running core with a receiver of webhooks.
type hookSide struct {
	core *serve.Core
	addr string
	url  string // of the receiver
	// deliver is called with the body of each delivery, and returns when the receiver responds.
	deliver atomic.Pointer[func(r *http.Request, body []byte)]
}

// withHooks calls fn with a core that trusts its receiver, and stops both. The receiver has TLS, as
// live mode demands.
func (b *Bench) withHooks(ctx context.Context, c *serve.Core, fn func(*hookSide) error) error {
	s := &hookSide{core: c}
	receiver := httptest.NewTLSServer(s)
	defer receiver.Close()
	s.url = receiver.URL
	trusted := b.folder("receiver") + ".pem"
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	if err := os.WriteFile(trusted, text, 0o600); err != nil {
		return fmt.Errorf("certificate of the receiver: %w", err)
	}
	running, err := c.StartWith(ctx, []string{"SSL_CERT_FILE=" + trusted}, "--webhooks-allow-private")
	if err != nil {
		return err
	}
	s.addr = running.Addr
	return errors.Join(fn(s), running.Stop(), os.Remove(trusted))
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
func (s *hookSide) post(ctx context.Context, key, path, body string) (id string, err error) {
	headers := []string{"Authorization: Bearer " + key, "Content-Type: application/json"}
	r, err := load.NewRequest("POST", s.addr, path, headers, body, 0)
	if err != nil {
		return "", err
	}
	return create(ctx, s.addr, r.Bytes(nil, 0), load.Want{Status: http.StatusCreated})
}

// endpoint makes a webhook endpoint at a path of the receiver.
func (s *hookSide) endpoint(ctx context.Context, key, path string) error {
	_, err := s.post(ctx, key, "/v1/webhook_endpoints", `{"url":"`+s.url+path+`","enabled_events":["customer.created"]}`)
	return err
}

// event makes a customer, which is one event, and returns the customer's id.
func (s *hookSide) event(ctx context.Context, key string) (string, error) {
	return s.post(ctx, key, "/v1/customers", "{}")
}

// timeBesideSlow is timeDeliveries while slow endpoints of other merchants have deliveries.
func (b *Bench) timeBesideSlow(ctx context.Context, s *hookSide) (sample, error) {
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
		keys, err := s.core.Enroll(ctx, "test", "live")
		if err != nil {
			return sample{}, err
		}
		for _, key := range keys {
			if err := s.fill(ctx, key); err != nil {
				return sample{}, err
			}
		}
	}
	for range slowMerchants * 2 * slowEach {
		select {
		case <-holding:
		case <-ctx.Done():
			return sample{}, context.Cause(ctx)
		}
	}
	return b.timeDeliveriesBeside(ctx, s, hold)
}

// fill makes the slow endpoints of a merchant in one mode, and their events.
func (s *hookSide) fill(ctx context.Context, key string) error {
	for i := range slowEach {
		if err := s.endpoint(ctx, key, fmt.Sprintf("/slow/%d", i)); err != nil {
			return err
		}
	}
	for range slowEvents {
		if _, err := s.event(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// timeDeliveries times deliveries at an instant endpoint. The time counts from the response to the
// request that made the event. The next event follows after the delivery.
func (b *Bench) timeDeliveries(ctx context.Context, s *hookSide) (sample, error) {
	return b.timeDeliveriesBeside(ctx, s, func(*http.Request, []byte) {})
}

// arrival is a delivery at the instant endpoint.
type arrival struct {
	at   time.Time
	body []byte
}

func (b *Bench) timeDeliveriesBeside(
	ctx context.Context, s *hookSide, slow func(*http.Request, []byte),
) (sample, error) {
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
	if err := s.endpoint(ctx, s.core.Key, "/instant"); err != nil {
		return sample{}, err
	}
	var times []time.Duration
	next := time.NewTicker(b.Each / timed)
	defer next.Stop()
	for range untimed + timed {
		<-next.C
		took, err := b.timeDelivery(ctx, s, arrived)
		if err != nil {
			return sample{}, err
		}
		times = append(times, took)
	}
	times = times[untimed:]
	slices.Sort(times)
	return sampleOf(&load.Result{Latencies: times, For: b.Each}), nil
}

// timeDelivery makes an event and returns the time until its delivery arrived.
func (b *Bench) timeDelivery(ctx context.Context, s *hookSide, arrived <-chan arrival) (time.Duration, error) {
	customer, err := s.event(ctx, s.core.Key)
	if err != nil {
		return 0, err
	}
	made := b.Clock.Now()
	select {
	case a := <-arrived:
		if !bytes.Contains(a.body, []byte(customer)) {
			return 0, fmt.Errorf("the delivery is not of %s: %.300s", customer, a.body)
		}
		return a.at.Sub(made), nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// countDeliveries measures the deliveries a second to one endpoint that has a queue. The first ones
// do not count: the endpoint then gets few attempts at once.
func (b *Bench) countDeliveries(ctx context.Context, s *hookSide) (sample, error) {
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
	if err := s.endpoint(ctx, s.core.Key, "/honest"); err != nil {
		return sample{}, err
	}
	err := b.makeEvents(ctx, s, uncounted+counted)
	close(begin)
	if err != nil {
		return sample{}, err
	}
	var times [2]time.Time
	for i := range times {
		select {
		case times[i] = <-at:
		case <-ctx.Done():
			return sample{}, context.Cause(ctx)
		}
	}
	return sample{rate: counted / times[1].Sub(times[0]).Seconds()}, nil
}

// makeEvents makes events from many clients.
func (b *Bench) makeEvents(ctx context.Context, s *hookSide, events int) error {
	headers := []string{"Authorization: Bearer " + s.core.Key, "Content-Type: application/json"}
	customer, err := load.NewRequest("POST", s.addr, "/v1/customers", headers, "{}", 0)
	if err != nil {
		return err
	}
	_, err = load.Run(ctx, load.Plan{
		Addr: s.addr, Conns: conns, Rate: honestRate, For: time.Duration(events) * time.Second / honestRate,
		Request: customer, Want: load.Want{Status: http.StatusCreated}, Clock: b.Clock,
	})
	return err
}

package admission_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

func call(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func full(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }

func get(ctx context.Context) *http.Request {
	return httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
}

func TestSlots(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	h := admission.New(admission.Config{Slots: 2}).Handler(http.HandlerFunc(full),
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave }))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { call(h, get(t.Context())) })
		<-entered
	}
	for range 3 { // a refusal must not use up a slot, nor give one back that it never had
		if got, want := call(h, get(t.Context())).Code, http.StatusServiceUnavailable; got != want {
			t.Errorf("third: got %d, want %d", got, want)
		}
	}
	close(leave)
	wg.Wait()
	wg.Go(func() {
		if got, want := call(h, get(t.Context())).Code, http.StatusOK; got != want {
			t.Errorf("after: got %d, want %d", got, want)
		}
	})
	<-entered
	wg.Wait()
}

func TestSlotAfterAPanic(t *testing.T) {
	t.Parallel()
	calls := 0
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if _, err := admission.ReadBody(w, r, 10); err != nil {
			t.Error(err)
		}
		panic("boom")
	})
	h := httpx.Recover(full, slog.New(slog.DiscardHandler), admission.New(admission.Config{Slots: 1}).Handler(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("full after a panic") }), next))
	for range 3 {
		r := get(t.Context())
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("body")), 4
		call(h, r)
	}
	if got, want := calls, 3; got != want {
		t.Errorf("calls: got %d, want %d", got, want)
	}
}

func TestNoSlotsMeansNoLimit(t *testing.T) {
	t.Parallel()
	h := admission.New(admission.Config{}).Handler(nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	if got, want := call(h, get(t.Context())).Code, http.StatusTeapot; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

// unfinished holds bodies of which nothing arrives until it ends them.
type unfinished struct {
	t       *testing.T
	handler http.Handler
	reading chan struct{} // a body is being read
}

// body is the body of an unfinished request. It ends with its request.
type body struct {
	ctx     context.Context //nolint:containedctx // a body belongs to one request
	reading chan<- struct{}
	once    sync.Once
}

func (b *body) Read([]byte) (int, error) {
	b.once.Do(func() { b.reading <- struct{}{} })
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (*body) Close() error { return nil }

// admit has requests that carry the identity of their header fields read their body.
func admit(t *testing.T, c admission.Config) *unfinished {
	t.Helper()
	u := &unfinished{t: t, reading: make(chan struct{})}
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Key"); key != "" {
			err := admission.Identify(r.Context(), admission.Identity{
				Key: key, Merchant: r.Header.Get("Merchant"),
				Live: r.Header.Get("Live") != "", Public: r.Header.Get("Public") != "",
			})
			if err != nil {
				w.WriteHeader(statusOf(err))
				return
			}
		}
		if _, err := admission.ReadBody(w, r, 1<<20); err != nil {
			w.WriteHeader(statusOf(err))
			return
		}
		if r.Header.Get("Hang") != "" {
			u.hang(r)
		}
	})
	h := admission.New(c).Handler(http.HandlerFunc(full), next)
	h = httpx.RequestID(httpx.ClientAddress(secret.String{}, h))
	u.handler = h
	return u
}

// hang keeps the slot of a request until its context ends.
func (u *unfinished) hang(r *http.Request) {
	u.reading <- struct{}{}
	<-r.Context().Done()
}

// statusOf is the status of the response after an error.
func statusOf(err error) int {
	switch {
	case errors.Is(err, admission.ErrUnfinished), errors.Is(err, admission.ErrTooMany):
		return http.StatusTooManyRequests
	case errors.Is(err, admission.ErrOverloaded):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// request returns a request with a whole body of an address; fields are header fields.
func (u *unfinished) request(ctx context.Context, address string, size int, fields ...string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(strings.Repeat("a", size)))
	r.RemoteAddr = net.JoinHostPort(address, "1000")
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	return r
}

// hold has n unfinished bodies read until stop.
func (u *unfinished) hold(n int, address string, fields ...string) (stop func()) {
	u.t.Helper()
	held, status, stop := u.holdMost(n, address, fields...)
	if held < n {
		u.t.Fatalf("%s %v: got %d, want the body to be read", address, fields, status)
	}
	return stop
}

// holdMost has unfinished bodies read until stop: so many, or fewer if one is refused.
func (u *unfinished) holdMost(most int, address string, fields ...string) (held, status int, stop func()) {
	u.t.Helper()
	return u.begin(most, func(ctx context.Context) *http.Request {
		r := u.request(ctx, address, 1, fields...)
		r.Body, r.ContentLength = &body{ctx: ctx, reading: u.reading}, 100
		return r
	})
}

// begin sends requests until most are under way or one is refused. It returns how many are, and
// the status of the refusal. They end with the test, or by stop.
func (u *unfinished) begin(
	most int, request func(context.Context) *http.Request,
) (held, status int, stop func()) {
	u.t.Helper()
	ctx, cancel := context.WithCancel(u.t.Context())
	var ended sync.WaitGroup
	stop = func() { cancel(); ended.Wait() }
	u.t.Cleanup(stop)
	for ; held < most; held++ {
		r := request(ctx)
		refused := make(chan int, 1)
		ended.Go(func() { refused <- call(u.handler, r).Code })
		select {
		case <-u.reading:
		case status := <-refused:
			return held, status, stop
		}
	}
	return held, 0, stop
}

func (u *unfinished) want(status int, address string, size int, fields ...string) {
	u.t.Helper()
	if got := call(u.handler, u.request(u.t.Context(), address, size, fields...)).Code; got != status {
		u.t.Errorf("%s %v: got %d, want %d", address, fields, got, status)
	}
}

// unit is the number of bytes that an unfinished body holds at least.
const unit = 4 << 10

// TestUnfinishedBodiesHoldNoSlot: more unfinished bodies than slots refuse no other request.
func TestUnfinishedBodiesHoldNoSlot(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Slots: 2})
	u.hold(20, "127.0.0.2")
	u.want(200, "127.0.0.2", 10)
	u.want(200, "127.0.0.3", 10)
}

// TestShareOfAnAddress: one address may hold a 32nd of the bytes, exactly. Bodies that end or
// are cancelled give their bytes back.
func TestShareOfAnAddress(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * 3 * unit})
	stop := u.hold(2, "127.0.0.2")
	u.want(200, "127.0.0.2", 10)     // the third holds the rest of the share
	u.want(429, "127.0.0.2", 2*unit) // one unit and a byte too much
	u.hold(1, "127.0.0.2")
	u.want(429, "127.0.0.2", 10)
	u.want(200, "127.0.0.3", 10)
	u.want(200, "127.0.0.2", 10, "Key", "key_1", "Merchant", "mer_1") // not counted by address any more
	stop()
	u.want(200, "127.0.0.2", 10)
}

// TestShareOfANetwork: all addresses of one IPv6 network hold one share.
func TestShareOfANetwork(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * unit})
	u.hold(1, "2001:db8::1")
	u.want(429, "2001:db8::2:3", 10)
	u.want(200, "2001:db8:0:1::1", 10)
}

// TestShareOfAKey: a key may hold a 16th of the bytes and a merchant an eighth.
func TestShareOfAKey(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 16 * 2 * unit})
	u.hold(2, "127.0.0.2", "Key", "key_1", "Merchant", "mer_1")
	u.want(429, "127.0.0.3", 10, "Key", "key_1", "Merchant", "mer_1")
	u.hold(2, "127.0.0.2", "Key", "key_2", "Merchant", "mer_1")
	u.want(429, "127.0.0.3", 10, "Key", "key_3", "Merchant", "mer_1")
	u.want(200, "127.0.0.2", 10, "Key", "key_4", "Merchant", "mer_2")
}

// TestShareOfAPublicKey: bodies of a public key use up the share of their address and of the public
// keys, which is half of the merchant's.
func TestShareOfAPublicKey(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * unit})
	public := []string{"Key", "key_1", "Merchant", "mer_1", "Public", "1"}
	u.hold(1, "127.0.0.2", public...)
	u.want(429, "127.0.0.2", 10, "Key", "key_2", "Merchant", "mer_1", "Public", "1")
	u.hold(1, "127.0.0.3", public...)
	u.want(429, "127.0.0.4", 10, "Key", "key_2", "Merchant", "mer_1", "Public", "1")
	u.hold(2, "127.0.0.2", "Key", "key_3", "Merchant", "mer_1")
	u.want(429, "127.0.0.2", 10, "Key", "key_4", "Merchant", "mer_1")
}

// TestTwentyAddresses: 2,000 unfinished bodies from 20 addresses, each as long as its address may
// have, refuse no client on another address.
func TestTwentyAddresses(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * 100 * unit})
	for i := range 20 {
		u.hold(100, "127.0.1."+strconv.Itoa(i+1))
	}
	u.want(429, "127.0.1.1", 10)
	for range 10 {
		u.want(200, "127.0.0.1", 100*unit-1)
	}
}

// TestAllBytes: all unfinished bodies together may hold the bytes. A client gets at most half of
// the rest, which leaves some to the next one.
func TestAllBytes(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * unit})
	for i := range 31 {
		u.hold(1, "127.0.1."+strconv.Itoa(i+1))
	}
	u.want(429, "127.0.0.1", 10)
	u.want(503, "127.0.0.1", 2*unit) // more than there is
}

// TestSitesOfIPv6: the networks of one site share the bytes of two addresses.
func TestSitesOfIPv6(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 64 * unit})
	u.hold(2, "2001:db8:1:1::1")
	u.hold(2, "2001:db8:1:2::1")
	u.want(429, "2001:db8:1:3::1", 10)
	u.want(200, "2001:db8:2::1", 10)
}

// TestTwoMerchantsLeaveBytes: two merchants with all their keys in both modes do not hold all
// bytes.
func TestTwoMerchantsLeaveBytes(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 128 * unit})
	for n := range 16 { // two keys of each kind and mode
		tenant := "mer_" + strconv.Itoa(n/8) + "/" + strconv.Itoa(n/4%2)
		fields := []string{"Key", "key_" + strconv.Itoa(n), "Merchant", tenant}
		if n/4%2 == 1 {
			fields = append(fields, "Live", "1")
		}
		if n/2%2 == 1 {
			fields = append(fields, "Public", "1")
		}
		u.holdMost(all, "127.0.1."+strconv.Itoa(n+1), fields...)
	}
	u.want(200, "127.0.0.3", 10, secretKey("mer_other")...)
}

// TestNoSlotAfterTheBody: a request whose body is complete when all slots are in use is refused.
func TestNoSlotAfterTheBody(t *testing.T) {
	t.Parallel()
	counted := map[string]int{}
	l := admission.New(admission.Config{Slots: 1, Refused: func(reason string) { counted[reason]++ }})
	in, out := io.Pipe()
	outer := get(t.Context())
	outer.Body, outer.ContentLength = in, -1
	var err error
	entered, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		call(l.Handler(http.HandlerFunc(full), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err = admission.ReadBody(w, r, 10)
		})), outer)
	})
	if _, err := io.WriteString(out, "a"); err != nil { // it is being read, so the slot is free
		t.Fatal(err)
	}
	refused := make(chan int, 1)
	go func() {
		refused <- call(l.Handler(http.HandlerFunc(full), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(entered)
			<-leave
		})), get(t.Context())).Code
	}()
	select {
	case <-entered:
	case status := <-refused:
		t.Fatalf("got %d beside an unfinished body", status)
	}
	_ = out.Close() // the body ends
	wg.Wait()
	if !errors.Is(err, admission.ErrOverloaded) || fmt.Sprint(counted) != "map[overloaded:1]" {
		t.Errorf("got %v, counted %v", err, counted)
	}
	close(leave)
	<-refused
}

// TestSlowBody: a body that stays away after the grace period ends with ErrSlow, and its connection
// closes after the response.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	l := admission.New(admission.Config{Slots: 1, Grace: time.Millisecond})
	h := l.Handler(http.HandlerFunc(full), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := admission.ReadBody(w, r, 100); errors.Is(err, admission.ErrSlow) {
			w.WriteHeader(http.StatusRequestTimeout)
		}
	}))
	s := httpx.NewServer(httpx.Options{Handler: h})
	at, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.WithoutCancel(t.Context())) }) // no request is under way
	u := programtest.MustSendUnfinished(t, "", at.String(), "/")
	u.MustSend(t, "start")
	if status, body := u.MustEnd(t); status != http.StatusRequestTimeout {
		t.Errorf("got %d %s", status, body)
	}
}

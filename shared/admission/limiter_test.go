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
	"slices"
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
	for range 3 { // a refusal must neither use up a slot nor release one that it does not have
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

// TestNoSlotAfterARefusedBody: a request whose body is too large by its announced length holds no
// slot, however long its handler then waits for the client.
func TestNoSlotAfterARefusedBody(t *testing.T) {
	t.Parallel()
	refused, leave := make(chan struct{}), make(chan struct{})
	h := admission.New(admission.Config{Slots: 1}).Handler(http.HandlerFunc(full),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := admission.ReadBody(w, r, 10); errors.Is(err, admission.ErrTooLarge) {
				close(refused)
				<-leave
			}
		}))
	var wg sync.WaitGroup
	wg.Go(func() {
		r := get(t.Context())
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("body")), 11
		call(h, r)
	})
	<-refused
	if got := call(h, get(t.Context())).Code; got != http.StatusOK {
		t.Errorf("during the refusal: got %d, want 200", got)
	}
	close(leave)
	wg.Wait()
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

// unfinished holds requests whose bodies do not arrive until it ends them.
type unfinished struct {
	t        *testing.T
	admitted http.Handler // without the client address
	handler  http.Handler
	reading  chan struct{} // a body is being read
}

// body is the body of an unfinished request. It ends with its request.
type body struct {
	ctx     context.Context //nolint:containedctx // a body belongs to one request
	sent    int             // bytes that arrive
	reading chan<- struct{} // receives once these have been read
	once    sync.Once
}

func (b *body) Read(into []byte) (int, error) {
	if n := min(b.sent, len(into)); n > 0 {
		b.sent -= n
		return n, nil
	}
	b.once.Do(func() { b.reading <- struct{}{} })
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (*body) Close() error { return nil }

// admit has requests that carry the identity of their header fields read their body. With the field
// Late they identify themselves after it.
func admit(t *testing.T, c admission.Config) *unfinished {
	t.Helper()
	u := &unfinished{t: t, reading: make(chan struct{})}
	read := func(w http.ResponseWriter, r *http.Request) error {
		_, err := admission.ReadBody(w, r, 1<<20)
		return err
	}
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		steps := []func(http.ResponseWriter, *http.Request) error{identify, read}
		if r.Header.Get("Late") != "" {
			slices.Reverse(steps)
		}
		for _, step := range steps {
			if err := step(w, r); err != nil {
				w.WriteHeader(statusOf(err))
				return
			}
		}
		if r.Header.Get("Hang") != "" {
			u.hang(r)
		}
	})
	h := admission.New(c).Handler(http.HandlerFunc(full), next)
	u.admitted = h
	u.handler = httpx.RequestID(httpx.ClientAddress(secret.New("the addresses are those of clients"), h))
	return u
}

// identify makes a request count towards the identity of its header fields, if it has one.
func identify(_ http.ResponseWriter, r *http.Request) error {
	key := r.Header.Get("Key")
	if key == "" {
		return nil
	}
	return admission.Identify(r.Context(), admission.Identity{
		Key: key, Merchant: r.Header.Get("Merchant"),
		Live: r.Header.Get("Live") != "", Public: r.Header.Get("Public") != "",
	})
}

// hang keeps the slot of a request until its context ends.
func (u *unfinished) hang(r *http.Request) {
	u.reading <- struct{}{}
	<-r.Context().Done()
}

// statusOf returns the status of the response after an error.
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

// hold makes n requests with unfinished bodies, and holds them until stop.
func (u *unfinished) hold(n int, address string, fields ...string) (stop func()) {
	u.t.Helper()
	held, status, stop := u.holdMost(n, address, fields...)
	if held < n {
		u.t.Fatalf("%s %v: got %d, want the body to be read", address, fields, status)
	}
	return stop
}

// holdMost makes up to most requests with unfinished bodies, fewer if one is refused. It holds them
// until stop.
func (u *unfinished) holdMost(most int, address string, fields ...string) (held, status int, stop func()) {
	u.t.Helper()
	return u.send(most, 100, 0, address, fields...)
}

// send is holdMost for bodies of the given length, of which only the first sent bytes arrive.
func (u *unfinished) send(most, length, sent int, address string, fields ...string) (held, status int, stop func()) {
	u.t.Helper()
	return u.begin(most, func(ctx context.Context) *http.Request {
		r := u.request(ctx, address, 1, fields...)
		r.Body, r.ContentLength = &body{ctx: ctx, sent: sent, reading: u.reading}, int64(length)
		return r
	})
}

// holdFromSites is holdMost from each of 100 sites. It returns the total number of held requests.
func (u *unfinished) holdFromSites(fields ...string) (all int) {
	u.t.Helper()
	for i := range 100 {
		held, _, _ := u.holdMost(most, siteAddress(i), fields...)
		all += held
	}
	return all
}

// most is more unfinished bodies than are admitted.
const most = 10000

// siteAddress returns an address of a different site for each number.
func siteAddress(i int) string { return fmt.Sprintf("127.1.%d.1", i) }

// begin sends requests until most are in progress or one is refused. It returns their number and
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

// unit is the number of bytes that an unfinished body holds at least, buffer bytes of them for the
// body itself.
const (
	unit   = 12 << 10
	buffer = 1 << 10
)

// TestUnfinishedBodiesHoldNoSlot: with more unfinished bodies than slots, other requests are still
// served.
func TestUnfinishedBodiesHoldNoSlot(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Slots: 2})
	u.hold(20, "127.0.0.2")
	u.want(200, "127.0.0.2", 10)
	u.want(200, "127.0.0.3", 10)
}

// TestShareOfAnAddress: one address may hold exactly a 32nd of the bytes. Completed or cancelled
// bodies release their bytes.
func TestShareOfAnAddress(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * 3 * unit})
	stop := u.hold(2, "127.0.0.2")
	u.want(200, "127.0.0.2", 10)     // the third holds the rest of the share
	u.want(429, "127.0.0.2", buffer) // a byte too much
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

// TestAnnouncedBodies: the length that a head announces holds no bytes. A body holds one unit, and
// in it at most twice its bytes that have arrived.
func TestAnnouncedBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ length, sent, want int }{
		{16 * buffer, 0, 32},
		{1 << 20, 0, 32},
		{16 * buffer, 1, 32},
		{16 * buffer, buffer - 1, 32},
		{16 * buffer, buffer, 29},     // 2 buffers and the base of 11
		{16 * buffer, 3 * buffer, 25}, // 4 buffers
		{1 << 20, 10 * buffer, 14},    // 16 buffers
		{-1, 0, 32},
		{-1, 3 * buffer, 25},
	} {
		u := admit(t, admission.Config{Bytes: 32 * 32 * unit})
		held, status, _ := u.send(most, c.length, c.sent, "127.0.0.2")
		if held != c.want || status != http.StatusTooManyRequests {
			t.Errorf("%d of %d bytes: got %d bodies and %d, want %d and 429", c.sent, c.length, held, status, c.want)
		}
	}
}

// TestUnfinishedFields: header fields beyond an ordinary head hold twice their length, and 128
// bytes each.
func TestUnfinishedFields(t *testing.T) {
	t.Parallel()
	const name = 8 // bytes
	for _, c := range []struct{ fields, length, want int }{
		{0, 0, 32},
		{20, 30, 32},                // 4,080 bytes
		{10, 4<<10 - name - 64, 4},  // 80 KiB, of which 4 KiB are in the unit
		{80, 128 - name - 64, 13},   // 20 KiB
		{1, 196<<10 - name - 64, 0}, // more than the share
		{1, 188<<10 - name - 64, 1}, // the whole share
		{1, 188<<10 - name - 63, 0}, // 2 bytes too much
	} {
		u := admit(t, admission.Config{Bytes: 32 * 32 * unit})
		held, _, _ := u.begin(most, func(ctx context.Context) *http.Request {
			r := u.request(ctx, "127.0.0.2", 1)
			r.Body, r.ContentLength = &body{ctx: ctx, reading: u.reading}, 100
			for i := range c.fields {
				r.Header.Set(fmt.Sprintf("X-%06d", i), strings.Repeat("a", c.length))
			}
			return r
		})
		if held != c.want {
			t.Errorf("%d fields of %d bytes: got %d bodies, want %d", c.fields, c.length, held, c.want)
		}
	}
}

// TestShareOfAPublicKey: bodies with the public keys of a merchant hold at most half of its share.
// One site holds a fifth of that.
func TestShareOfAPublicKey(t *testing.T) {
	t.Parallel()
	for name, addresses := range map[string][2]string{
		"IPv4": {"127.0.0.2", "127.0.0.3"}, "IPv6": {"2001:db8:1:1::1", "2001:db8:1:2::1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := admit(t, admission.Config{Bytes: 16 * 100 * unit})
			u.hold(10, addresses[0], publicKey(1, "mer_1")...)
			if held, status, _ := u.holdMost(most, addresses[1], publicKey(2, "mer_1")...); held != 10 || status != 429 {
				t.Errorf("got %d more bodies and %d, want 10 and 429", held, status)
			}
			u.want(429, addresses[0], 10, publicKey(1, "mer_1")...)
			u.want(200, addresses[0], 10, publicKey(3, "mer_2")...)
			u.want(200, addresses[0], 10) // no other client of the site is refused
			for i := range 20 {           // each holds a fifth of what others left
				u.holdMost(most, siteAddress(i), publicKey(2, "mer_1")...)
			}
			u.want(429, addresses[0], 10, publicKey(1, "mer_1")...)
			u.hold(100, "127.0.0.2", secretKey("mer_1")...)
		})
	}
}

// TestSitesLeaveBytesToAPayer: more than a dozen sites hold as many bytes as they can with the
// public keys of one merchant. A payer of that merchant can still pay.
func TestSitesLeaveBytesToAPayer(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{})
	for i := range 12 {
		_, status, _ := u.send(most, 64*unit, 64*unit-1, siteAddress(i), publicKey(1, "mer_1")...)
		if status != http.StatusTooManyRequests {
			t.Fatalf("got %d, want a full share", status)
		}
	}
	u.want(200, "127.0.0.2", 10*unit, publicKey(2, "mer_1")...)
}

// TestPublicKeysOfManyMerchants: one site holds a 32nd of all bytes with the public keys of all
// merchants.
func TestPublicKeysOfManyMerchants(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * 100 * unit})
	all := 0
	for n := range 44 {
		held, _, _ := u.holdMost(most, "127.0.0.2", publicKey(n, "mer_"+strconv.Itoa(n))...)
		all += held
	}
	if all != 100 {
		t.Errorf("got %d bodies, want 100", all)
	}
	u.want(200, "127.0.1.2", 10, publicKey(1, "mer_1")...)
}

// TestPayersLeaveBytesToSecretKeys: payers of a merchant hold their share, and other merchants
// theirs. The merchant's server can still send bodies.
func TestPayersLeaveBytesToSecretKeys(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 1024 * unit})
	if held := u.holdFromSites(publicKey(1, "mer_1")...); held < 60 || held > 64 {
		t.Errorf("got %d bodies of payers, want nearly all of 64", held)
	}
	for i := range 13 {
		u.holdMost(most, "127.0.0.2", secretKey("other_"+strconv.Itoa(i))...)
	}
	u.hold(24, "127.0.0.3", secretKey("mer_1")...)
}

// TestTwentyAddresses: with 2,000 unfinished bodies of the largest size from 20 addresses, clients
// on other addresses are still served.
func TestTwentyAddresses(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 32 * 100 * unit})
	for i := range 20 {
		u.hold(100, "127.0.1."+strconv.Itoa(i+1))
	}
	u.want(429, "127.0.1.1", 10)
	for range 10 {
		u.want(200, "127.0.0.1", 80*unit)
	}
}

// TestAllBytes: all unfinished bodies together may hold the bytes. A client gets at most half of
// the rest, so some bytes remain for the next client.
func TestAllBytes(t *testing.T) {
	t.Parallel()
	for most, status := range map[int64]int{32*unit + 1: 429, 33*unit - 1: 503} {
		u := admit(t, admission.Config{Bytes: most})
		for i := range int(most/unit) - 1 {
			u.hold(1, "127.0.1."+strconv.Itoa(i+1))
		}
		if status == http.StatusServiceUnavailable {
			u.hold(1, "127.0.1.99") // less than a unit is left
		}
		u.want(status, "127.0.0.1", 10)
	}
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

// TestSharedAddress: without a hop secret, many clients share a private address. So its payers are
// not bounded like one site.
func TestSharedAddress(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: 16 * 100 * unit})
	u.handler = httpx.RequestID(httpx.ClientAddress(secret.String{}, u.admitted))
	u.hold(100, "127.0.0.2", publicKey(1, "mer_1")...)
	u.want(429, "127.0.0.2", 10, publicKey(1, "mer_1")...)
	u.want(200, "127.0.0.2", 10, publicKey(2, "mer_2")...)
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
		u.holdMost(most, siteAddress(n), fields...)
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
		t.Fatalf("got %d during an unfinished body", status)
	}
	_ = out.Close() // the body ends
	wg.Wait()
	if !errors.Is(err, admission.ErrOverloaded) || fmt.Sprint(counted) != "map[overloaded:1]" {
		t.Errorf("got %v, counted %v", err, counted)
	}
	close(leave)
	<-refused
}

// TestSlowBody: a body that does not arrive within the grace period ends with ErrSlow, and its
// connection closes after the response.
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

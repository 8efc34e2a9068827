package providerb_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// losing is a proxy in front of a standalone that loses requests or responses.
type losing struct {
	*httptest.Server

	request, response atomic.Bool
}

func newLosing(t *testing.T, s *standalone) *losing {
	t.Helper()
	to, err := url.Parse(s.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	l := &losing{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host },
		ModifyResponse: func(*http.Response) error {
			if l.response.Load() {
				panic(http.ErrAbortHandler)
			}
			return nil
		},
	}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.request.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

// late moves the times of tags into the past.
type late struct{ by time.Duration }

func (l late) of(tag string) string {
	at, _ := time.Parse(time.RFC3339, tag)
	return at.Add(-l.by).Format(time.RFC3339)
}

// minute is a time after which a timeout reversal is sent, and day one after which nothing arrives.
var minute, day = late{61 * time.Second}, late{25 * time.Hour}

// find returns the payments of a reference in v1.
func (s *standalone) find(t *testing.T, reference string) []v1.Transaction {
	t.Helper()
	return get[v1.TransactionList](t, s, "/v1/transactions?reference="+reference).Data
}

// lost loses the request or the response of commands. Afterwards nothing has moved in v1, and the
// connector reports that.
func lost(t *testing.T, s *standalone) {
	t.Helper()
	wire := newLosing(t, s)
	a := s.timed(t, wire.URL)
	lostResponse(t, &a.account, wire, payment(3100, false))
	lostResponse(t, &a.account, wire, payment(3101, true))
	lostRequest(t, a, wire, payment(3200, true))
	lostCapture(t, &a.account, wire)
	lostVoid(t, &a.account, wire)
	lostRefund(t, a, wire)
}

// sentOf returns the request of a payment. V1 finds the payment by the reference.
func (a *account) sentOf(t *testing.T, r *acquirer.Authorize) acquirer.Sent {
	t.Helper()
	r.Order.Reference, r.Tag = r.Reference, a.tag(t)
	sent := acquirer.Sent{
		Kind: acquirer.Authorization, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency,
	}
	if r.Capture {
		sent.Kind = acquirer.Sale
	}
	return sent
}

func lostResponse(t *testing.T, a *account, wire *losing, r acquirer.Authorize) {
	t.Helper()
	sent := a.sentOf(t, &r)
	wire.response.Store(true)
	if _, err := a.Authorize(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) {
		t.Fatalf("lost response: got %v, want %v", err, acquirer.ErrUnknown)
	}
	wire.response.Store(false)
	if found := a.find(t, r.Reference); len(found) != 1 || found[0].AmountAuthorized != r.Amount {
		t.Fatalf("lost response: v1 has %+v, want the payment", found)
	}
	if _, err := a.Inquire(t.Context(), sent); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("too early: got %v, want %v", err, acquirer.ErrUnknown)
	}
	sent.Tag = minute.of(sent.Tag)
	for range 2 { // the second is a retry
		got, err := a.Inquire(t.Context(), sent)
		if err != nil || !got.Approved || !got.Released || got.Amount != r.Amount {
			t.Errorf("after a minute: got %+v and %v, want it released", got, err)
		}
	}
	if found := a.find(t, r.Reference); len(found) != 1 || found[0].Status != v1.TransactionStatusVoided {
		t.Errorf("released: v1 has %+v, want it voided", found)
	}
}

func lostRequest(t *testing.T, a *timed, wire *losing, r acquirer.Authorize) {
	t.Helper()
	sent := a.sentOf(t, &r)
	wire.request.Store(true)
	if _, err := a.Authorize(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("lost request: got %v, want %v", err, acquirer.ErrUnknown)
	}
	wire.request.Store(false)
	for _, c := range []struct {
		shift late
		want  error
	}{{minute, acquirer.ErrUnknown}, {day, acquirer.ErrUnknown}, {day, acquirer.ErrNotFound}} {
		shift, want, about := c.shift, c.want, sent
		about.Tag = shift.of(sent.Tag)
		if _, err := a.Inquire(t.Context(), about); !errors.Is(err, want) {
			t.Errorf("lost request after %s: got %v, want %v", shift.by, err, want)
		}
		if shift == day {
			a.pass(day.by)
		}
	}
	if got, err := a.Authorize(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("a request that arrives after its reversal: got %+v and %v, want %v", got, err, acquirer.ErrUnknown)
	}
	if found := a.find(t, r.Reference); len(found) != 0 {
		t.Errorf("a request that arrives after its reversal: v1 has %+v, want none", found)
	}
}

func lostCapture(t *testing.T, a *account, wire *losing) {
	t.Helper()
	p, _ := a.authorize(t, payment(3300, false))
	take := acquirer.Follow{
		Reference: newReference(), Tag: a.tag(t), Original: p, Amount: 3300, Currency: "usd", Final: true,
	}
	wire.response.Store(true)
	if _, err := a.Capture(t.Context(), take); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("capture without a response: got %v, want %v", err, acquirer.ErrUnknown)
	}
	wire.response.Store(false)
	a.moved(t, "captured without a response", p.ID, v1.TransactionStatusCaptured, 3300, 3300, 0)
	take.Again = true
	if _, err := a.Capture(t.Context(), take); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("repeated too early: got %v, want %v", err, acquirer.ErrUnknown)
	}
	take.Tag = minute.of(take.Tag)
	if _, err := a.Capture(t.Context(), take); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("repeated: got %v, want %v", err, acquirer.ErrNotFound)
	}
	a.moved(t, "undone", p.ID, v1.TransactionStatusVoided, 3300, 0, 0)
}

func lostVoid(t *testing.T, a *account, wire *losing) {
	t.Helper()
	p, _ := a.authorize(t, payment(3400, true))
	void := acquirer.Follow{Reference: newReference(), Tag: a.tag(t), Original: p, Amount: 3400, Currency: "usd"}
	wire.response.Store(true)
	if _, err := a.Void(t.Context(), void); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("void without a response: got %v, want %v", err, acquirer.ErrUnknown)
	}
	wire.response.Store(false)
	a.moved(t, "voided without a response", p.ID, v1.TransactionStatusVoided, 3400, 0, 0)
	void.Again = true
	if got, err := a.Void(t.Context(), void); err != nil || !got.Approved {
		t.Errorf("repeated void: got %+v and %v, want approved", got, err)
	}
}

// lostRefund: v1 voids no refund, and finds none by its transactionId. So a refund that arrived
// without a response is unknown for ever. It is not sent again.
func lostRefund(t *testing.T, a *timed, wire *losing) {
	t.Helper()
	p, _ := a.authorize(t, payment(3500, true))
	back := acquirer.Follow{Reference: newReference(), Tag: a.tag(t), Original: p, Amount: 500, Currency: "usd"}
	wire.response.Store(true)
	if _, err := a.Refund(t.Context(), back); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("refund without a response: got %v, want %v", err, acquirer.ErrUnknown)
	}
	wire.response.Store(false)
	a.moved(t, "refunded without a response", p.ID, v1.TransactionStatusCaptured, 3500, 3500, 500)
	back.Again, back.Tag = true, minute.of(back.Tag)
	if got, err := a.Refund(t.Context(), back); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("repeated refund: got %+v and %v, want %v", got, err, acquirer.ErrUnknown)
	}
	a.moved(t, "repeated refund", p.ID, v1.TransactionStatusCaptured, 3500, 3500, 500)
	back.Tag = day.of(back.Tag)
	if got, err := a.Refund(t.Context(), back); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("a day later: got %+v and %v, want %v", got, err, acquirer.ErrUnknown)
	}

	p, _ = a.authorize(t, payment(3600, true))
	never := acquirer.Follow{
		Reference: newReference(), Tag: day.of(a.tag(t)), Again: true, Original: p, Amount: 1, Currency: "usd",
	}
	if got, err := a.Refund(t.Context(), never); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("a refund of another process: got %+v and %v, want %v", got, err, acquirer.ErrUnknown)
	}
	a.pass(24 * time.Hour)
	if got, err := a.Refund(t.Context(), never); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("a refund that never arrived: got %+v and %v, want %v", got, err, acquirer.ErrNotFound)
	}
	a.moved(t, "a refund that never arrived", p.ID, v1.TransactionStatusCaptured, 3600, 3600, 0)
}

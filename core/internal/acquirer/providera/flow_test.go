package providera

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// sender sends a request, about a payment that a host has.
type sender func(context.Context, *Connector, acquirer.Sent) (acquirer.Response, error)

// command is a request of one kind.
type command struct {
	captured, settled bool   // of the payment
	kind              string // the transaction type
	send              sender
	find              sender // finds the outcome after a lost response
	idempotent        bool   // find sends a request without an effect again
}

func step(original acquirer.Sent, again bool) acquirer.Follow {
	return acquirer.Follow{
		Reference: "re_01jd8m3k2q4r5", Tag: "2026-03-02T15:00:00Z", Again: again, Original: original,
		Amount: 500, Currency: "usd", Last4: "1111", Final: true,
	}
}

// following returns a step on the payment.
func following(call func(*Connector, context.Context, acquirer.Follow) (acquirer.Response, error), again bool) sender {
	return func(ctx context.Context, c *Connector, original acquirer.Sent) (acquirer.Response, error) {
		return call(c, ctx, step(original, again))
	}
}

// inquiring returns an inquiry about a request.
func inquiring(kind acquirer.Kind, reference string) sender {
	return func(ctx context.Context, c *Connector, _ acquirer.Sent) (acquirer.Response, error) {
		return c.Inquire(ctx, acquirer.Sent{
			Kind: kind, Reference: reference, Tag: tagOf(c.clock.Now()), Amount: 500, Currency: "usd",
		})
	}
}

// commands are the requests that move money. An inquiry finds a request with a source. For the
// others, a repeated request does.
func commands() map[string]command {
	const own, credit = "txn_01jd8m3k2q4r6", "re_01jd8m3k2q4r6"
	paying := func(capture bool) sender {
		return func(ctx context.Context, c *Connector, _ acquirer.Sent) (acquirer.Response, error) {
			return c.Authorize(ctx, pay(visa(), func(r *acquirer.Authorize) {
				r.Reference, r.Capture, r.Amount = own, capture, 500
			}))
		}
	}
	crediting := func(ctx context.Context, c *Connector, _ acquirer.Sent) (acquirer.Response, error) {
		return c.Credit(ctx, acquirer.Credit{Reference: credit, Amount: 500, Currency: "usd", Source: visa()})
	}
	return map[string]command{
		"authorize": {kind: typeAuthorize, send: paying(false), find: inquiring(auth, own)},
		"sale":      {kind: typeSale, send: paying(true), find: inquiring(sale, own)},
		"capture": {
			kind: typeCapture, send: following((*Connector).Capture, false), find: following((*Connector).Capture, true),
		},
		"void": {
			kind: typeVoid, send: following((*Connector).Void, false), find: following((*Connector).Void, true),
			idempotent: true,
		},
		"refund": {
			captured: true, settled: true, kind: typeRefund,
			send: following((*Connector).Refund, false), find: following((*Connector).Refund, true),
		},
		"credit": {kind: typeRefund, send: crediting, find: inquiring(creditKind, credit)},
	}
}

// TestLostResponse: a request or its response is lost in each way. Its outcome is then unknown, and
// an effect is found later. Without an effect a void is sent again. Another request is not, and its
// outcome remains unknown.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	fates := map[fate]bool{ // whether the request has an effect
		passes: true, lost: false, unheard: true, truncated: true, garbled: true, oversized: true, gateway: false,
		failing: true, slow: true, empty: true, misnumber: true, relayed: true,
	}
	for name, c := range commands() {
		for f, effect := range fates {
			t.Run(name+" "+string(f), func(t *testing.T) {
				t.Parallel()
				c.lose(t, f, effect)
			})
		}
	}
}

// lose sends the command with a fate, and finds its outcome.
func (c command) lose(t *testing.T, f fate, effect bool) {
	t.Helper()
	h, connector := startHost(t)
	original := paid(t, connector, c.captured)
	if c.settled {
		h.settle(1)
	}
	h.do(func() {
		h.fate = func(sent transaction) fate {
			if sent.Type == c.kind {
				return f
			}
			return passes
		}
	})
	ctx := t.Context()
	if f == slow {
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		ctx = short
	}
	a, err := c.send(ctx, connector, original)
	want := "unknown"
	if f == passes {
		want = "approved"
	}
	if got := acquirer.Outcome(a, err); got != want || err != nil && !errors.Is(err, acquirer.ErrUnknown) {
		t.Fatalf("got %s: %+v, %v, want %s", got, a, err, want)
	}
	h.do(func() { h.fate = nil })
	sent := h.totals()
	patient, cancel := context.WithTimeout(t.Context(), programtest.Patience)
	defer cancel()
	again, err := c.find(patient, connector, original)
	resent := c.idempotent && !effect
	want = "unknown"
	if effect || resent {
		want = "approved"
	}
	if got := acquirer.Outcome(again, err); got != want || again.Released {
		t.Errorf("found: got %s: %+v, %v, want %s", got, again, err, want)
	}
	if effect && (again.Amount != 500 || again.ID == "") || f == passes && again.ID != a.ID {
		t.Errorf("found %+v, want as %+v", again, a)
	}
	if got := h.totals(); got == sent == resent {
		t.Errorf("sent %s, then %s: want sent again: %t", sent, got, resent)
	}
}

// TestVoidAgain: the process can die before it sends a void, and two attempts can be under way at
// once. A repeated void is sent while it can release money, and released money needs none.
func TestVoidAgain(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"authorizedPendingCapture":  "approved 60410000101 500, sent",
		"capturedPendingSettlement": "approved 60410000101 500, sent",
		"refundPendingSettlement":   "approved 60410000101 500, sent",
		"voided":                    "approved 60410000101 500",
		"settledSuccessfully":       impossible,
		"FDSPendingReview":          "unknown",
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			h, c := startHost(t)
			r := step(paid(t, c, false), true)
			h.do(func() { h.made[0].status = status })
			a, err := c.Void(t.Context(), r)
			got := inShort(a, err)
			if h.sent[typeVoid] == 1 {
				got += ", sent"
			}
			if got != want {
				t.Errorf("got %s (%v), want %s", got, err, want)
			}
		})
	}
	h, c := startHost(t)
	about := paid(t, c, false)
	h.do(func() { // another attempt voids between the reading and the sending
		h.fate = func(transaction) fate { h.made[0].status = "voided"; return passes }
	})
	if a, err := c.Void(t.Context(), step(about, true)); err != nil || !a.Approved || h.sent[typeVoid] != 1 {
		t.Errorf("voided meanwhile: got %+v, %v, sent %d", a, err, h.sent[typeVoid])
	}
}

// TestLaggingLists: a request that the lists do not have yet has an unknown outcome.
func TestLaggingLists(t *testing.T) {
	t.Parallel()
	for name, c := range commands() {
		if name == "capture" || name == "void" {
			continue // found by the number of their original
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, connector := startHost(t)
			original := paid(t, connector, c.captured)
			if c.settled {
				h.settle(1)
			}
			if a, err := c.send(t.Context(), connector, original); err != nil || !a.Approved {
				t.Fatalf("got %+v, %v", a, err)
			}
			h.do(func() { h.hidden = true })
			if a, err := c.find(t.Context(), connector, original); acquirer.Outcome(a, err) != "unknown" {
				t.Errorf("got %+v, %v, want an unknown outcome", a, err)
			}
			h.do(func() { h.hidden = false })
			if a, err := c.find(t.Context(), connector, original); err != nil || !a.Approved {
				t.Errorf("once listed: got %+v, %v, want approved", a, err)
			}
		})
	}
}

// TestDuplicate: a duplicate is the earlier arrival of the same request. It proves an approval only
// if the account shows one.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	first := paid(t, c, true)
	r := pay(visa(), func(r *acquirer.Authorize) { r.Tag, r.Capture = first.Tag, true })
	if a, err := c.Authorize(t.Context(), r); err != nil || !a.Approved || a.ID != first.ID {
		t.Errorf("got %+v, %v, want the first payment's outcome", a, err)
	}
	h.do(func() { h.made[0].status = "declined" })
	if a, err := c.Authorize(t.Context(), r); err != nil || a.Approved {
		t.Errorf("declined: got %+v, %v, want a decline", a, err)
	}
	h.do(func() { h.hidden = true })
	if a, err := h.after(t, 0).Authorize(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("hidden: got %+v, %v, want an unknown outcome", a, err)
	}
}

// TestVoidOfUnknown: a void of a payment with an unknown outcome searches for it first.
func TestVoidOfUnknown(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"authorizedPendingCapture":  "approved 60410000101 1999 sent",
		"capturedPendingSettlement": "approved 60410000101 1999 sent",
		"voided":                    "approved 60410000101 1999",
		"expired":                   "approved 60410000101 1999",
		"declined":                  "approved 60410000101 1999",
		"settledSuccessfully":       "declined  processing_error 12",
		"FDSPendingReview":          "unknown",
		"a new status":              "unknown",
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			h, c := startHost(t)
			about := paid(t, c, false)
			about.ID = ""
			r := acquirer.Follow{
				Reference: "reverse_" + reference, Original: about, Amount: about.Amount, Currency: about.Currency,
			}
			h.do(func() { h.hidden = true })
			if a, err := c.Void(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) {
				t.Errorf("hidden: got %+v, %v, want an unknown outcome", a, err)
			}
			h.do(func() { h.hidden, h.made[0].status = false, status })
			r.Again = true
			a, err := c.Void(t.Context(), r)
			got := inShort(a, err)
			if h.sent[typeVoid] > 0 {
				got += " sent"
			}
			if got != want {
				t.Errorf("got %s (%v), want %s", got, err, want)
			}
		})
	}
}

// TestVoidOfCapture: a void of a capture releases its whole authorization, so it needs a capture.
func TestVoidOfCapture(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about := paid(t, c, false)
	about.Kind = acquirer.Capture
	r := step(about, false)
	if a, err := c.Void(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) || h.sent[typeVoid] != 0 {
		t.Errorf("not captured: got %+v, %v, sent %d", a, err, h.sent[typeVoid])
	}
	h.do(func() { h.made[0].status = "capturedPendingSettlement" })
	if a, err := c.Void(t.Context(), r); err != nil || !a.Approved || h.sent[typeVoid] != 1 {
		t.Errorf("captured: got %+v, %v, sent %d", a, err, h.sent[typeVoid])
	}
}

// impossible is the decline of a step that the state of its original does not allow.
const impossible = "declined  processing_error 12"

// TestSecondCapture: a second capture of an authorization is declined. If the engine names the
// first one, it is not sent.
func TestSecondCapture(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about := paid(t, c, false)
	r := step(about, false)
	if a, err := c.Capture(t.Context(), r); err != nil || !a.Approved {
		t.Fatalf("got %+v, %v", a, err)
	}
	r.Reference = "cap_01jd8m3k2q4r7"
	if a, err := c.Capture(t.Context(), r); inShort(a, err) != impossible || h.sent[typeCapture] != 2 {
		t.Errorf("got %+v, %v", a, err)
	}
	r.Captures = []acquirer.Sent{{Kind: acquirer.Capture, Reference: "cap_1", ID: about.ID, Amount: 500, Currency: "usd"}}
	if a, err := c.Capture(t.Context(), r); inShort(a, err) != impossible || h.sent[typeCapture] != 2 {
		t.Errorf("named: got %+v, %v, sent %d", a, err, h.sent[typeCapture])
	}
	r.Captures, r.Again, r.Amount = nil, true, 600
	if a, err := c.Capture(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("another amount: got %+v, %v, want an unknown outcome", a, err)
	}
}

// TestRefundSource: a refund names the masked source of its original, and is not sent to another
// one.
func TestRefundSource(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	pays := pay(checking("checking"), func(r *acquirer.Authorize) { r.Capture = true })
	a, err := c.Authorize(t.Context(), pays)
	if err != nil || !a.Approved {
		t.Fatalf("got %+v, %v", a, err)
	}
	h.settle(1)
	r := step(acquirer.Sent{Kind: acquirer.Sale, Reference: reference, ID: a.ID, Amount: 1999, Currency: "usd"}, false)
	if a, err := c.Refund(t.Context(), r); !errors.Is(err, acquirer.ErrUnavailable) || h.sent[typeRefund] != 0 {
		t.Errorf("another source: got %+v, %v, sent %d, want nothing sent", a, err, h.sent[typeRefund])
	}
	r.Last4 = "6789"
	if a, err := c.Refund(t.Context(), r); err != nil || !a.Approved {
		t.Errorf("got %+v, %v", a, err)
	}
	if got, want := h.made[1].payment, h.made[0].payment; got != want {
		t.Errorf("refunded to %s, want %s", got, want)
	}
}

// TestInquire: each status of a transaction decides the outcome of the request that made it.
func TestInquire(t *testing.T) {
	t.Parallel()
	types := map[acquirer.Kind]string{auth: typeAuthorize, sale: typeSale, refundKind: typeRefund}
	wants := map[acquirer.Kind]map[string]string{
		auth: {
			"authorizedPendingCapture": "approved", "authorizedPendingRelease": "approved",
			"capturedPendingSettlement": "approved", "settledSuccessfully": "approved",
			"voided": "released", "expired": "released",
		},
		sale: {
			"capturedPendingSettlement": "approved", "settledSuccessfully": "approved", "chargeback": "approved",
			"returnedItem": "approved", "voided": "released", "expired": "released",
		},
		refundKind: {"refundPendingSettlement": "approved", "refundSettledSuccessfully": "approved", "voided": "released"},
	}
	for kind, byStatus := range wants {
		for status := range states {
			want := byStatus[status]
			switch {
			case states[status] == refused:
				want = "declined"
			case want == "" && states[status] == settled && kind != refundKind:
				want = "approved"
			case want == "" && states[status] == released:
				want = "released"
			case want == "":
				want = "unknown"
			}
			r := record{
				id: "60410000123", kind: types[kind], status: status, invoice: reference, authorized: "19.99", taken: "0.00",
			}
			d, err := parse("getTransactionDetails", []byte(wrap("getTransactionDetailsResponse", okay+r.details())))
			if err != nil {
				t.Fatal(err)
			}
			a, err := d.Details.outcome(acquirer.Sent{Kind: kind, Reference: reference, Amount: 1999, Currency: "usd"})
			got := acquirer.Outcome(a, err)
			if a.Released {
				got = "released"
			}
			if got != want {
				t.Errorf("%s %s: got %s (%v), want %s", kind, status, got, err, want)
			}
		}
	}
}

// TestInquireContradicts: a transaction that does not fit the request has an unknown outcome.
func TestInquireContradicts(t *testing.T) {
	t.Parallel()
	about := acquirer.Sent{Kind: acquirer.Authorization, Reference: reference, Amount: 1999, Currency: "usd"}
	made := record{
		id: "7", kind: typeAuthorize, status: "authorizedPendingCapture", invoice: reference, authorized: "19.99",
	}
	fits := made.details()
	const (
		requested = "<requestedAmount>19.99</requestedAmount>"
		other     = "<requestedAmount>20.00</requestedAmount>"
		balance   = "<prepaidBalanceRemaining>-1.00</prepaidBalanceRemaining>"
	)
	for name, c := range map[string]struct{ old, new, want string }{
		"fits":             {"", "", "approved 7 1999"},
		"less, unnamed":    {">19.99<", ">19.98<", "unknown"},
		"more":             {">19.99<", ">20.00<", "unknown"},
		"a part":           {"<authAmount>19.99", requested + "<authAmount>1.23", "approved 7 123"},
		"of other":         {"<authAmount>19.99", other + "<authAmount>1.23", "unknown"},
		"nothing":          {"<authAmount>19.99", requested + "<authAmount>0.00", "unknown"},
		"no amount":        {"<authAmount>19.99", "<authAmount>x", "unknown"},
		"other invoice":    {reference, "txn_01jd8m3k2q4r6", "unknown"},
		"other type":       {typeAuthorize, typeSale, "unknown"},
		"balance":          {"<payment>", balance + "<payment>", "approved 7 1999 balance -100"},
		"repeated":         {"</settleAmount>", "</settleAmount><authAmount>19.99</authAmount>", "unknown"},
		"declined by code": {"authorizedPendingCapture", "declined", "declined 7 generic_decline 05"},
	} {
		body := wrap("getTransactionDetailsResponse", okay+strings.Replace(fits, c.old, c.new, 1))
		d, err := parse("getTransactionDetails", []byte(body))
		var a acquirer.Response
		if err == nil {
			a, err = d.Details.outcome(about)
		}
		if got := inShort(a, err); got != c.want {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, c.want)
		}
	}
}

// TestCheck: a check needs the login and the right to read transactions, and moves nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	if err := c.Check(t.Context()); err != nil {
		t.Errorf("got %v", err)
	}
	h.do(func() { h.off = true })
	if err := c.Check(t.Context()); !errors.Is(err, ErrDetailsOff) {
		t.Errorf("got %v, want ErrDetailsOff", err)
	}
	h.do(func() { h.key = "another" })
	err := c.Check(t.Context())
	if !errors.Is(err, acquirer.ErrLogin) || acquirer.Cause(err) != "E00007" || strings.Contains(err.Error(), hostKey) {
		t.Errorf("got %v, want E00007", err)
	}
	if got := h.totals(); got != "map[]" {
		t.Errorf("sent %s", got)
	}
}

// TestCheckOfAnotherHost: a check fails at any other host.
func TestCheckOfAnotherHost(t *testing.T) {
	t.Parallel()
	const method = "authenticateTestResponse"
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"html":           {200, "<html><body>Please log in</body></html>"},
		"json":           {200, `{"messages":{"resultCode":"Ok"}}`},
		"not found":      {404, "404 page not found"},
		"another method": {200, wrap("logoutResponse", okay)},
		"system error":   {200, envelope(method, "E00001")},
		"own status":     {500, wrap(method, okay)},
	} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		t.Cleanup(other.Close)
		a := connect(t, upstream.Config{BaseURL: other.URL}, Config{Name: "shop", TransactionKey: secret.New(hostKey)})
		if err := a.Check(t.Context()); !errors.Is(err, acquirer.ErrUnknown) || errors.Is(err, acquirer.ErrLogin) {
			t.Errorf("%s: got %v, want %v", name, err, acquirer.ErrUnknown)
		}
	}
}

// TestSourcesWithoutAField: a source or an approval that the API has no field for is declined
// unsent.
func TestSourcesWithoutAField(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	long := visa()
	long.Card.Number = secret.New("6200000000000000003")
	for name, r := range map[string]acquirer.Authorize{
		"long number":        pay(long, nil),
		"uncaptured by code": pay(visa(), func(r *acquirer.Authorize) { r.PriorCode = "A1B2C3" }),
	} {
		if a, err := c.Authorize(t.Context(), r); err != nil || a.Approved || a.DeclineCode == "" {
			t.Errorf("%s: got %+v, %v, want a decline", name, a, err)
		}
	}
	credit := acquirer.Credit{Reference: "re_1", Amount: 1, Currency: "usd", Source: long}
	if a, err := c.Credit(t.Context(), credit); err != nil || a.Approved {
		t.Errorf("credit: got %+v, %v, want a decline", a, err)
	}
	if got := h.totals(); got != "map[]" {
		t.Errorf("sent %s", got)
	}
}

// TestMisreports: no failure of the network or of a gateway is a proof that a request had no
// effect.
func TestMisreports(t *testing.T) {
	t.Parallel()
	for name, respond := range map[string]http.HandlerFunc{
		"lost":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"gateway": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		},
		"page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html></html>") },
		"refused": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var received atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				received.Add(1)
				respond(w, r)
			}))
			t.Cleanup(server.Close)
			if respond == nil {
				server.Close()
			}
			c := connect(t, upstream.Config{BaseURL: server.URL}, Config{Name: hostName, TransactionKey: secret.New(hostKey)})
			for _, text := range acquirertest.Misreports(t.Context(), acquirertest.Subject{
				Acquirer: numbered{c}, Received: func(string) bool { return received.Load() > 0 },
			}) {
				t.Error(text)
			}
			if (received.Load() > 0) != (respond != nil) {
				t.Errorf("the host received %d requests", received.Load())
			}
		})
	}
}

// numbered gives the steps of Misreports the number of their original. A refund only reads before
// it has its original, so it has another test.
type numbered struct{ *Connector }

func (n numbered) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	r.Original.ID = "7"
	return n.Connector.Capture(ctx, r)
}

func (n numbered) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	r.Original.ID = "7"
	return n.Connector.Void(ctx, r)
}

func (n numbered) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	r.Again = true
	return n.Connector.Refund(ctx, r)
}

// TestUnreachable: an account that refuses connections proves that a new request had no effect. It
// proves nothing about an earlier one.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c := connect(t, upstream.Config{BaseURL: server.URL}, Config{Name: hostName, TransactionKey: secret.New(hostKey)})
	sent := acquirer.Sent{Kind: auth, Reference: reference, Amount: 1999, Currency: "usd"}
	known := sent
	known.ID = "7"
	inquire := func(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
		return c.Inquire(ctx, r.Original)
	}
	for name, call := range map[string]struct {
		send func(context.Context, acquirer.Follow) (acquirer.Response, error)
		r    acquirer.Follow
		want string
	}{
		"inquiry":         {inquire, step(sent, false), "unknown"},
		"inquiry by id":   {inquire, step(known, false), "unknown"},
		"capture again":   {c.Capture, step(known, true), "unknown"},
		"void again":      {c.Void, step(known, true), "unknown"},
		"void of unknown": {c.Void, step(sent, false), "unknown"},
		"refund again":    {c.Refund, step(known, true), "unknown"},
		"capture":         {c.Capture, step(sent, false), "unavailable"},
		"void":            {c.Void, step(known, false), "unavailable"},
		"refund":          {c.Refund, step(known, false), "unavailable"},
	} {
		a, err := call.send(t.Context(), call.r)
		if got := acquirer.Outcome(a, err); got != call.want {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, call.want)
		}
	}
}

// TestPrepare: the tag is the time, in UTC.
func TestPrepare(t *testing.T) {
	t.Parallel()
	_, c := startHost(t)
	tag, err := c.Prepare(t.Context())
	if at, ok := timeOf(tag); err != nil || tag != "2026-03-02T15:00:00Z" || !ok || !at.Equal(c.clock.Now()) {
		t.Errorf("got %q, %v", tag, err)
	}
}

// TestNew: settings that no account has are refused, without the key in the error.
func TestNew(t *testing.T) {
	t.Parallel()
	client, err := upstream.New(upstream.Config{BaseURL: "https://api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no name":  func(c *Config) { c.Name = "" },
		"no key":   func(c *Config) { c.TransactionKey = secret.String{} },
		"long key": func(c *Config) { c.TransactionKey = secret.New("demoKey0000000012") },
		"no host":  func(c *Config) { c.Upstream = nil },
	} {
		cfg := Config{Name: hostName, TransactionKey: secret.New(hostKey), Upstream: client}
		change(&cfg)
		if _, err := New(cfg); err == nil || strings.Contains(err.Error(), "demoKey") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

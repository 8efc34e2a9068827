package providera

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// standalone is a running standalone. Its compat-proxy is the account of the connector, and its v1
// shows the effects of the connector's requests.
type standalone struct {
	HTTP  string `json:"http"`
	HTTPS string `json:"https"`
	CA    string `json:"ca"`
	Keys  struct {
		SKTest string `json:"sk_test"`
	} `json:"keys"`
	ProviderA struct {
		Name           string `json:"name"`
		TransactionKey string `json:"transaction_key"`
	} `json:"provider_a"`
}

func startStandalone(t *testing.T) *standalone {
	t.Helper()
	p := programtest.Start(t, programtest.Command{
		Path: filepath.Join(programtest.MustPrograms(t, "standalone"), "standalone"), Stdout: &programtest.Log{},
		Args: []string{
			"--json", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", "--rate-limit", "0",
			"--log", "error",
		},
	})
	line, err := p.Line(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Log)
	}
	s := &standalone{}
	if err := json.Unmarshal([]byte(line), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// account returns a connector to the standalone at a base URL.
func (s *standalone) account(t *testing.T, base string) *Connector {
	t.Helper()
	pem, err := os.ReadFile(s.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate")
	}
	return connect(t, upstream.Config{BaseURL: base, Roots: roots}, Config{
		Name: s.ProviderA.Name, TransactionKey: secret.New(s.ProviderA.TransactionKey),
	})
}

// v1 calls the API and reads its response into an object.
func (s *standalone) v1(t *testing.T, method, at string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.HTTP+at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Keys.SKTest)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.UnmarshalRead(response.Body, into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: HTTP %d, %v", method, at, response.StatusCode, err)
	}
}

// payment reads the payment of a number of provider-a.
func (s *standalone) payment(t *testing.T, number string) v1.Transaction {
	t.Helper()
	var into v1.Transaction
	s.v1(t, http.MethodGet, "/v1/transactions/"+named(t, id.Transaction, number), &into)
	return into
}

func named(t *testing.T, kind id.Prefix, number string) string {
	t.Helper()
	name, err := id.Decimal(kind, number)
	if err != nil {
		t.Fatalf("%q: %v", number, err)
	}
	return name
}

// all reads all payments.
func (s *standalone) all(t *testing.T, reference string) []v1.Transaction {
	t.Helper()
	var into v1.TransactionList
	s.v1(t, http.MethodGet, "/v1/transactions?reference="+url.QueryEscape(reference), &into)
	return into.Data
}

func (s *standalone) settle(t *testing.T, number string) {
	t.Helper()
	var into v1.Transaction
	s.v1(t, http.MethodPost, "/v1/test_helpers/transactions/"+named(t, id.Transaction, number)+"/settle", &into)
}

var references atomic.Int64

// newReference returns a reference in the form of the engine's.
func newReference(prefix string) string { return fmt.Sprintf("%s_%013d", prefix, references.Add(1)) }

// inV1 returns a payment of v1 in short.
func inV1(p v1.Transaction) string {
	return fmt.Sprintf("%s %s %d: %d %d %d",
		p.Status, p.Currency, p.Amount, p.AmountAuthorized, p.AmountCaptured, p.AmountRefunded)
}

// TestStandalone runs each command of the connector against the compat-proxy of a running
// standalone, and compares the outcome with the state of its v1 API.
func TestStandalone(t *testing.T) {
	t.Parallel()
	s := startStandalone(t)
	c := s.account(t, s.HTTPS)
	if err := c.Check(t.Context()); err != nil {
		t.Fatalf("check: %v", err)
	}
	t.Run("payments", func(t *testing.T) { t.Parallel(); s.payments(t, c) })
	t.Run("declines", func(t *testing.T) { t.Parallel(); s.declines(t, c) })
	t.Run("checks", func(t *testing.T) { t.Parallel(); s.checks(t, c) })
	t.Run("parts", func(t *testing.T) { t.Parallel(); s.parts(t, c) })
	t.Run("captures", func(t *testing.T) { t.Parallel(); s.captures(t, c) })
	t.Run("voids", func(t *testing.T) { t.Parallel(); s.voids(t, c) })
	t.Run("refunds", func(t *testing.T) { t.Parallel(); s.refunds(t, c) })
	t.Run("credits", func(t *testing.T) { t.Parallel(); s.credits(t, c) })
	t.Run("reports", func(t *testing.T) { t.Parallel(); s.reports(t, c) })
	t.Run("lost responses", func(t *testing.T) { t.Parallel(); s.lostResponses(t) })
}

// payments sends each payment of the golden files.
func (s *standalone) payments(t *testing.T, c *Connector) {
	t.Helper()
	for name, r := range payments() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.Reference, r.Tag = newReference("txn"), tagOf(c.clock.Now())
			if name == "sale-long-reference" {
				r.Reference += "_1000"
			}
			a, err := c.Authorize(t.Context(), r)
			if err != nil || !a.Approved || a.Amount != r.Amount {
				t.Fatalf("got %+v, %v, want approved", a, err)
			}
			p := s.payment(t, a.ID)
			status, captured := v1.TransactionStatusAuthorized, int64(0)
			if r.Capture && r.Amount > 0 {
				status, captured = v1.TransactionStatusCaptured, r.Amount
			}
			want := fmt.Sprintf("%s %s %d: %d %d 0", status, r.Currency, r.Amount, r.Amount, captured)
			if got := inV1(p); got != want {
				t.Errorf("v1 has %s, want %s", got, want)
			}
			if v1.Text(p.Reference) != invoiceNumber(r.Reference) || p.Authorization == nil ||
				v1.Text(p.Authorization.Code) != a.Code ||
				v1.Text(p.Authorization.NetworkTransactionID) != a.NetworkTransactionID {
				t.Errorf("got %+v of %q, v1 has %+v of %q", a, r.Reference, p.Authorization, v1.Text(p.Reference))
			}
			s.details(t, r, p)
			s.inquiry(t, c, r, a)
		})
	}
}

// details compares the data of a payment with the data in v1.
func (*standalone) details(t *testing.T, r acquirer.Authorize, p v1.Transaction) {
	t.Helper()
	if got := billingOf(p); got != r.Billing {
		t.Errorf("billing: v1 has %+v, want %+v", got, r.Billing)
	}
	want := r.Initiator
	if want.Reason == "" {
		want.Type = ""
	}
	if !alphanumeric(want.PreviousNetworkTransactionID) {
		want.PreviousNetworkTransactionID = ""
	}
	if got := initiatorOf(p); got != want {
		t.Errorf("initiator: v1 has %+v, want %+v", got, want)
	}
	eci := ""
	if p.ThreeDSecure != nil {
		eci = p.ThreeDSecure.Eci
	}
	if wantECI := r.ThreeDSecure.ECI; !r.ThreeDSecure.CAVV.IsZero() && eci != wantECI {
		t.Errorf("3-D Secure: v1 has %q, want %q", eci, wantECI)
	}
	if (p.PriorAuthorization != nil) != (r.PriorCode != "") || (p.NetworkToken == nil) != r.NetworkToken.Number.IsZero() ||
		(p.BankAccount == nil) != r.BankAccount.Number.IsZero() {
		t.Errorf("source: v1 has %+v", p)
	}
	if r.Order.Details == nil {
		return
	}
	o := p.Order
	if o == nil || o.LineItems == nil || len(*o.LineItems) != 2 || *o.TaxAmount != 120 || *o.ShippingAmount != 499 ||
		*o.DutyAmount != 0 || *o.DiscountAmount != 50 || !strings.HasPrefix(v1.Text(o.PurchaseOrderNumber), "PO-") {
		t.Errorf("order: v1 has %+v", o)
	}
	if !strings.HasPrefix(v1.Text(p.Description), r.Order.Reference+" ") ||
		v1.Text(p.StatementDescriptor) != r.Order.StatementDescriptor {
		t.Errorf("v1 has the description %q and the descriptor %q", v1.Text(p.Description), v1.Text(p.StatementDescriptor))
	}
}

func billingOf(p v1.Transaction) acquirer.Billing {
	var c v1.Contact
	if p.Billing != nil {
		c = *p.Billing
	}
	var a v1.Address
	if c.Address != nil {
		a = *c.Address
	}
	return acquirer.Billing{
		FirstName: v1.Text(c.FirstName), LastName: v1.Text(c.LastName), Company: v1.Text(c.Company),
		AddressLine: v1.Text(a.Line1), AddressLine2: v1.Text(a.Line2), City: v1.Text(a.City), State: v1.Text(a.State),
		PostalCode: v1.Text(a.PostalCode), Country: v1.Text(a.Country), Email: v1.Text(c.Email), Phone: v1.Text(c.Phone),
	}
}

func initiatorOf(p v1.Transaction) acquirer.Initiator {
	var out acquirer.Initiator
	if i := p.Initiator; i != nil {
		out.Type, out.PreviousNetworkTransactionID = string(i.Type), v1.Text(i.PreviousNetworkTransactionID)
		if i.Reason != nil {
			out.Reason = string(*i.Reason)
		}
	}
	return out
}

// inquiry compares an inquiry with the response to the payment. Without the number the account is
// searched.
func (*standalone) inquiry(t *testing.T, c *Connector, r acquirer.Authorize, a acquirer.Response) {
	t.Helper()
	about := acquirer.Sent{
		Kind: acquirer.Authorization, Reference: r.Reference, Tag: tagOf(c.clock.Now()), ID: a.ID,
		Amount: r.Amount, Currency: r.Currency,
	}
	if r.Capture {
		about.Kind = acquirer.Sale
	}
	for _, about.ID = range []string{a.ID, ""} {
		got, err := c.Inquire(t.Context(), about)
		if err != nil || got.Approved != a.Approved || got.ID != a.ID || got.Amount != a.Amount || got.Code != a.Code ||
			got.NetworkTransactionID != a.NetworkTransactionID || got.DeclineCode != a.DeclineCode ||
			got.ResponseCode != a.ResponseCode || got.Balance != a.Balance || got.Released {
			t.Errorf("inquiry of %q: got %+v, %v, want %+v", about.ID, got, err, a)
		}
	}
}

// declines sends a payment by each card that the simulator declines.
func (s *standalone) declines(t *testing.T, c *Connector) {
	t.Helper()
	for number, want := range map[string]string{
		"4000000000000002": "generic_decline 05", "4000000000009995": "generic_decline 05",
		"4000000000000010": "call_issuer 01",
		"4000000000000028": "pickup_card 04", "4000000000009987": "pickup_card 04", "4000000000009979": "pickup_card 04",
		"4000000000000069": "expired_card 54", "4000000000000127": "incorrect_cvc N7",
		"4000000000000036": "generic_decline 05",
		"4000000000000044": "generic_decline 05", "4000000000000051": "generic_decline 05",
		"4242424242424241": "card_not_supported 14",
	} {
		t.Run(number, func(t *testing.T) {
			t.Parallel()
			source := visa()
			source.Card.Number = secret.New(number)
			r := pay(source, func(r *acquirer.Authorize) { r.Reference = newReference("txn") })
			a, err := c.Authorize(t.Context(), r)
			if got := a.DeclineCode + " " + a.ResponseCode; err != nil || a.Approved || got != want {
				t.Errorf("got %+v, %v, want %s", a, err, want)
			}
			for _, p := range s.all(t, r.Reference) {
				if p.Status != v1.TransactionStatusDeclined || p.AmountAuthorized != 0 {
					t.Errorf("v1 has %s", inV1(p))
				}
			}
		})
	}
}

// checks sends addresses for which the simulator has result codes.
func (s *standalone) checks(t *testing.T, c *Connector) {
	t.Helper()
	for zip, code := range map[string]string{
		"46201": "A", "46203": "E", "46204": "G", "46205": "N", "46206": "P", "46207": "R", "46209": "U", "46211": "W",
		"46214": "X", "46217": "Z", "98004": "Y",
	} {
		t.Run(zip, func(t *testing.T) {
			t.Parallel()
			a, err := c.Authorize(t.Context(), pay(visa(), func(r *acquirer.Authorize) {
				r.Reference, r.Billing = newReference("txn"), acquirer.Billing{AddressLine: "1 Elm St", PostalCode: zip}
			}))
			if err != nil || !a.Approved || a.Checks.Codes.AVS != code || a.Checks.CVC != "match" {
				t.Fatalf("got %+v, %v, want the AVS code %s", a, err, code)
			}
			p := s.payment(t, a.ID)
			if got := p.Checks; got == nil || string(got.AddressLine) != a.Checks.AddressLine ||
				string(got.PostalCode) != a.Checks.PostalCode || string(got.Cvc) != a.Checks.CVC {
				t.Errorf("got %+v, v1 has %+v", a.Checks, got)
			}
		})
	}
}

// parts sends payments that could be approved in part, and of cards with a balance. The connector
// allows no part.
func (s *standalone) parts(t *testing.T, c *Connector) {
	t.Helper()
	for name, want := range map[string]struct {
		zip     string
		partial bool
		amount  int64 // 0 for a decline
		balance int64
	}{
		"a part": {"46225", true, 0, 0}, "no part": {"46225", false, 0, 0}, "an empty card": {"46228", true, 0, 0},
		"prepaid": {"46226", false, 1999, 123}, "overdrawn": {"46227", true, 1999, -123},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := pay(visa(), func(r *acquirer.Authorize) {
				r.Reference, r.Billing.PostalCode, r.Partial, r.Capture = newReference("txn"), want.zip, want.partial, true
			})
			a, err := c.Authorize(t.Context(), r)
			if err != nil || a.Approved != (want.amount > 0) || a.Amount != want.amount || a.Balance.Amount != want.balance {
				t.Fatalf("got %+v, %v, want %+v", a, err, want)
			}
			if p := s.payment(t, a.ID); p.AmountAuthorized != want.amount || p.AmountCaptured != want.amount {
				t.Errorf("v1 has %s", inV1(p))
			}
			s.inquiry(t, c, r, a)
		})
	}
}

// made makes a payment and returns it as an earlier request.
func (s *standalone) made(t *testing.T, c *Connector, source acquirer.Source, capture bool) acquirer.Sent {
	t.Helper()
	r := pay(source, func(r *acquirer.Authorize) {
		r.Reference, r.Tag, r.Capture = newReference("txn"), tagOf(c.clock.Now()), capture
	})
	a, err := c.Authorize(t.Context(), r)
	if err != nil || !a.Approved {
		t.Fatalf("payment: got %+v, %v", a, err)
	}
	kind := acquirer.Authorization
	if capture {
		kind = acquirer.Sale
	}
	return acquirer.Sent{Kind: kind, Reference: r.Reference, Tag: r.Tag, ID: a.ID, Amount: r.Amount, Currency: r.Currency}
}

func followOf(original acquirer.Sent, prefix string, amount int64, last4 string) acquirer.Follow {
	return acquirer.Follow{
		Reference: newReference(prefix), Tag: tagOf(clock.System().Now()), Original: original, Amount: amount,
		Currency: original.Currency, Final: true, Last4: last4,
	}
}

func (s *standalone) captures(t *testing.T, c *Connector) {
	t.Helper()
	about := s.made(t, c, visa(), false)
	want := func(what string, a acquirer.Response, err error, short, state string) {
		t.Helper()
		if got := inShort(a, err); got != short {
			t.Errorf("%s: got %s (%v), want %s", what, got, err, short)
		}
		if got := inV1(s.payment(t, about.ID)); got != state {
			t.Errorf("%s: v1 has %s, want %s", what, got, state)
		}
	}
	r := followOf(about, "cap", 500, "1111")
	r.Again = true
	a, err := c.Capture(t.Context(), r)
	want("not captured", a, err, "unknown", "authorized usd 1999: 1999 0 0")
	r.Again, r.Amount = false, 2000
	a, err = c.Capture(t.Context(), r)
	want("too much", a, err, "declined  processing_error 13", "authorized usd 1999: 1999 0 0")
	r.Amount = 500
	a, err = c.Capture(t.Context(), r)
	want("a part", a, err, "approved "+about.ID+" 500", "captured usd 1999: 1999 500 0")
	r.Again = true
	a, err = c.Capture(t.Context(), r)
	want("again", a, err, "approved "+about.ID+" 500", "captured usd 1999: 1999 500 0")
	r = followOf(about, "cap", 600, "1111")
	a, err = c.Capture(t.Context(), r)
	want("a second one", a, err, "declined  processing_error 12", "captured usd 1999: 1999 500 0")
	r = followOf(about, "cap", 600, "1111")
	r.Original.ID = ""
	a, err = c.Capture(t.Context(), r)
	want("a second one of a searched payment", a, err, "declined  processing_error 12", "captured usd 1999: 1999 500 0")
	r.Original.Reference = newReference("txn")
	if a, err := c.Capture(t.Context(), r); !errors.Is(err, acquirer.ErrUnavailable) {
		t.Errorf("of an unknown payment: got %+v, %v, want nothing sent", a, err)
	}
}

func (s *standalone) voids(t *testing.T, c *Connector) {
	t.Helper()
	for name, capture := range map[string]bool{"authorization": false, "sale": true} {
		about := s.made(t, c, visa(), capture)
		r := followOf(about, "void", about.Amount, "1111")
		for _, step := range []struct {
			what, want string
			again      bool
		}{{"first", "approved", false}, {"again", "approved", true}, {"another", "approved", false}} {
			r.Again = step.again
			a, err := c.Void(t.Context(), r)
			if got := acquirer.Outcome(a, err); got != step.want || a.ID != about.ID {
				t.Errorf("%s, %s: got %+v, %v", name, step.what, a, err)
			}
		}
		if p := s.payment(t, about.ID); p.Status != v1.TransactionStatusVoided || p.AmountCapturable != 0 {
			t.Errorf("%s: v1 has %s", name, inV1(p))
		}
		a, err := c.Inquire(t.Context(), about)
		if err != nil || !a.Approved || !a.Released {
			t.Errorf("%s: inquiry: got %+v, %v, want released", name, a, err)
		}
		if a, err := c.Capture(t.Context(), followOf(about, "cap", 500, "1111")); inShort(a, err) != impossible {
			t.Errorf("%s: capture: got %+v, %v", name, a, err)
		}
	}
	settled := s.made(t, c, visa(), true)
	s.settle(t, settled.ID)
	if a, err := c.Void(t.Context(), followOf(settled, "void", settled.Amount, "1111")); err != nil || a.Approved {
		t.Errorf("settled: got %+v, %v, want a decline", a, err)
	}
	unknown := settled
	unknown.ID, unknown.Tag = "", ""
	if a, err := c.Void(t.Context(), followOf(unknown, "void", settled.Amount, "")); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("unknown: got %+v, %v, want an unknown outcome", a, err)
	}
	unknown.Tag = tagOf(c.clock.Now().Add(-time.Minute)) // with its time, the search reads the settled batches
	found, err := c.Inquire(t.Context(), unknown)
	if err != nil || !found.Approved || found.ID != settled.ID || found.Amount != settled.Amount {
		t.Errorf("in a settled batch: got %+v, %v, want %s", found, err, settled.ID)
	}
}

func (s *standalone) refunds(t *testing.T, c *Connector) {
	t.Helper()
	for name, source := range map[string]struct {
		acquirer.Source

		last4 string
	}{"card": {visa(), "1111"}, "token": {token(), "3478"}, "bank": {checking("checking"), "6789"}} {
		about := s.made(t, c, source.Source, true)
		refund := func(what string, r acquirer.Follow, want string, refunded int64) acquirer.Response {
			t.Helper()
			a, err := c.Refund(t.Context(), r)
			if got := acquirer.Outcome(a, err); got != want {
				t.Errorf("%s, %s: got %s: %+v, %v, want %s", name, what, got, a, err, want)
			}
			if p := s.payment(t, about.ID); p.AmountRefunded != refunded {
				t.Errorf("%s, %s: v1 has %s", name, what, inV1(p))
			}
			return a
		}
		refund("unsettled", followOf(about, "re", 500, source.last4), "declined", 0)
		s.settle(t, about.ID)
		refund("another source", followOf(about, "re", 500, "0000"), "unavailable", 0)
		r := followOf(about, "re", 500, source.last4)
		a := refund("a part", r, "approved", 500)
		var inV1 v1.Refund
		s.v1(t, http.MethodGet, "/v1/refunds/"+named(t, id.Refund, a.ID), &inV1)
		if inV1.Amount != 500 || v1.Text(inV1.Reference) != r.Reference {
			t.Errorf("%s: v1 has %+v, want 500 of %s", name, inV1, r.Reference)
		}
		found, err := c.Inquire(t.Context(), acquirer.Sent{
			Kind: acquirer.Refund, Reference: r.Reference, Tag: r.Tag, ID: a.ID, Amount: 500, Currency: "usd",
		})
		if err != nil || !found.Approved || found.Amount != 500 || found.ID != a.ID {
			t.Errorf("%s: inquiry: got %+v, %v", name, found, err)
		}
		r.Again = true
		if again := refund("again", r, "approved", 500); again.ID != a.ID {
			t.Errorf("%s, again: got %s, want %s", name, again.ID, a.ID)
		}
		r.Again = false
		refund("sent again", r, "approved", 500)
		refund("too much", followOf(about, "re", 1500, source.last4), "declined", 500)
		refund("the rest", followOf(about, "re", 1499, ""), "approved", 1999)
	}
}

func (s *standalone) credits(t *testing.T, c *Connector) {
	t.Helper()
	for name, source := range map[string]acquirer.Source{
		"card": visa(), "bank": checking("checking"), "firm": checking("business_checking"),
	} {
		r := acquirer.Credit{
			Reference: newReference("re"), Tag: tagOf(c.clock.Now()), Amount: 500, Currency: "usd", Source: source,
		}
		a, err := c.Credit(t.Context(), r)
		if name != "card" { // the sandbox reviews a refund to a bank account
			if !errors.Is(err, acquirer.ErrUnknown) {
				t.Errorf("%s: got %+v, %v, want an unknown outcome", name, a, err)
			}
			continue
		}
		if err != nil || !a.Approved {
			t.Errorf("%s: got %+v, %v", name, a, err)
			continue
		}
		var refund v1.Refund
		s.v1(t, http.MethodGet, "/v1/refunds/"+named(t, id.Refund, a.ID), &refund)
		if refund.Amount != 500 || v1.Text(refund.Reference) != r.Reference || refund.Transaction != "" {
			t.Errorf("%s: v1 has %+v", name, refund)
		}
		about := acquirer.Sent{
			Kind: acquirer.UnlinkedRefund, Reference: r.Reference, Tag: r.Tag, ID: a.ID, Amount: 500, Currency: "usd",
		}
		if found, err := c.Inquire(t.Context(), about); err != nil || !found.Approved || found.Amount != 500 {
			t.Errorf("%s: inquiry: got %+v, %v", name, found, err)
		}
		if again, err := c.Credit(t.Context(), r); err != nil || !again.Approved || again.ID != a.ID {
			t.Errorf("%s: sent again: got %+v, %v, want %s", name, again, err, a.ID)
		}
	}
}

// lossy is a way to the standalone that loses the responses to transactions of one type.
type lossy struct {
	server *httptest.Server
	losing atomic.Value // the transaction type
}

func (s *standalone) lossy(t *testing.T) *lossy {
	t.Helper()
	base, err := url.Parse(s.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{}
	l.losing.Store("-")
	const kindField = "Transaction-Type"
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(base) },
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Header.Get(kindField) == l.losing.Load() {
				return errors.New("lost")
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	l.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for _, kind := range []string{typeAuthorize, typeSale, typeCapture, typeVoid, typeRefund} {
			if strings.Contains(string(text), ">"+kind+"<") {
				r.Header.Set(kindField, kind)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(l.server.Close)
	return l
}

// lostResponses loses the response to each kind of request on the way from the standalone. Its
// effect is there once, also after a second request with the same values.
func (s *standalone) lostResponses(t *testing.T) {
	t.Helper()
	way := s.lossy(t)
	c := s.account(t, way.server.URL)
	lose := func(kind string, send func() (acquirer.Response, error)) {
		t.Helper()
		way.losing.Store(kind)
		defer way.losing.Store("-")
		if a, err := send(); acquirer.Outcome(a, err) != "unknown" {
			t.Errorf("%s: got %+v, %v, want an unknown outcome", kind, a, err)
		}
	}
	r := pay(visa(), func(r *acquirer.Authorize) {
		r.Reference, r.Tag, r.Capture = newReference("txn"), tagOf(c.clock.Now()), true
	})
	for range 2 {
		lose(typeSale, func() (acquirer.Response, error) { return c.Authorize(t.Context(), r) })
	}
	found, err := c.Inquire(t.Context(), acquirer.Sent{
		Kind: acquirer.Sale, Reference: r.Reference, Tag: tagOf(c.clock.Now()), Amount: r.Amount, Currency: r.Currency,
	})
	if err != nil || !found.Approved || found.Amount != r.Amount {
		t.Errorf("lost sale: got %+v, %v, want that the search finds it", found, err)
	}
	if a, err := c.Authorize(t.Context(), r); err != nil || a.ID != found.ID {
		t.Errorf("duplicate: got %+v, %v, want %s", a, err, found.ID)
	}
	if made := s.all(t, r.Reference); len(made) != 1 || inV1(made[0]) != "captured usd 1999: 1999 1999 0" {
		t.Errorf("v1 has %+v", made)
	}
	s.lostSteps(t, c, lose)
}

// lostSteps loses the responses to a capture, a void and a refund.
func (s *standalone) lostSteps(
	t *testing.T, c *Connector, lose func(kind string, send func() (acquirer.Response, error)),
) {
	t.Helper()
	about := s.made(t, c, visa(), false)
	capture, void := followOf(about, "cap", 500, "1111"), followOf(about, "void", 1999, "1111")
	lose(typeCapture, func() (acquirer.Response, error) { return c.Capture(t.Context(), capture) })
	capture.Again = true
	if a, err := c.Capture(t.Context(), capture); inShort(a, err) != "approved "+about.ID+" 500" {
		t.Errorf("capture, again: got %+v, %v", a, err)
	}
	lose(typeVoid, func() (acquirer.Response, error) { return c.Void(t.Context(), void) })
	void.Again = true
	if a, err := c.Void(t.Context(), void); inShort(a, err) != "approved "+about.ID+" 1999" {
		t.Errorf("void, again: got %+v, %v", a, err)
	}
	about = s.made(t, c, visa(), true)
	s.settle(t, about.ID)
	refund := followOf(about, "re", 500, "1111")
	for range 2 {
		lose(typeRefund, func() (acquirer.Response, error) { return c.Refund(t.Context(), refund) })
	}
	if a, err := c.Refund(t.Context(), refund); err != nil || !a.Approved || a.Amount != 500 {
		t.Errorf("refund, again: got %+v, %v, want that the search finds it", a, err)
	}
	if p := s.payment(t, about.ID); p.AmountRefunded != 500 {
		t.Errorf("v1 has %s, want one refund", inV1(p))
	}
}

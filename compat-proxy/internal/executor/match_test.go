package executor_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// emptySuccesses are success responses of an intermediary. None of them matches any request.
var emptySuccesses = []string{
	`{}`, `null`, `{"error":"x"}`, `[]`, `"ok"`, `{"id":""}`, `{"id":"txn_1"}`,
	strings.Replace(transaction("captured"), txnID, "txn_000000000000z", 1),
}

func TestEmptySuccess(t *testing.T) {
	t.Parallel()
	amount, currency, method := int64(100), "usd", "card"
	requests := map[string]struct {
		command command.Command
		route   string
	}{
		"capture":   {command.Capture{Target: number, Amount: "1"}, capture},
		"all of it": {command.Capture{Target: number, Seen: true}, capture},
		"refund":    {command.Refund{Target: number}, refunds},
		"void":      {command.Void{Target: number}, void},
		"credit": {
			command.Credit{Body: v1.RefundCreate{Amount: &amount, Currency: &currency, PaymentMethod: &method}},
			refunds,
		},
		"token":    {command.CreateToken{}, "POST /v1/tokens"},
		"customer": {command.CreateCustomer{}, "POST /v1/customers"},
	}
	for name, call := range requests {
		for _, body := range emptySuccesses {
			t.Run(name+" "+body, func(t *testing.T) {
				t.Parallel()
				x, f := setup(t, map[string][]response{
					read:       ok(transaction("authorized")),
					call.route: {{status: 201, body: body}},
				})
				if got := run(t, x, call.command).Outcome; got != command.Uncertain || len(f.posts()) != 1 {
					t.Errorf("got %s after %d posts, want uncertain after one", got, len(f.posts()))
				}
			})
		}
	}
}

// The object that v1 made must match the request, its amount included.
func TestSuccessOfAnotherRequest(t *testing.T) {
	t.Parallel()
	byCard := charge
	byCard.Body.Card = &v1.CardInput{Number: secret.New("4111111111111111")}
	byCard.Body.Reference = new("A-1")
	captureOne := command.Capture{Target: number, Amount: "1"}
	inEuros := strings.NewReplacer("usd", "eur")
	const fitting, otherCard = `"reference":"A-1","card":{"last4":"1111"}`, `"reference":"A-1","card":{"last4":"1112"}`
	for name, tt := range map[string]struct {
		command         command.Command
		route, response string
		want            command.Outcome
	}{
		"sale":              {byCard, create, transaction("captured", fitting), command.Done},
		"sale for less":     {byCard, create, transaction("captured", fitting, `"amount_authorized":50`), command.Done},
		"another amount":    {byCard, create, transaction("captured", fitting, `"amount":101`), command.Uncertain},
		"another currency":  {byCard, create, inEuros.Replace(transaction("captured", fitting)), command.Uncertain},
		"another reference": {byCard, create, transaction("captured", `"reference":"A-2"`), command.Uncertain},
		"no reference":      {byCard, create, transaction("captured"), command.Uncertain},
		"another card":      {byCard, create, transaction("captured", otherCard), command.Uncertain},
		"capture":           {captureOne, capture, of("succeeded", "100"), command.Done},
		"captured more":     {captureOne, capture, of("succeeded", "101"), command.Uncertain},
		"capture of another": {
			command.Capture{Target: number},
			capture, strings.Replace(of("succeeded", "100"), txnID, "txn_000000000000z", 1),
			command.Uncertain,
		},
		"refund":       {command.Refund{Target: number, Amount: "1"}, refunds, back("pending", "100"), command.Done},
		"refund less":  {command.Refund{Target: number, Amount: "1"}, refunds, back("pending", "99"), command.Uncertain},
		"refund other": {command.Refund{Target: number}, refunds, inEuros.Replace(back("pending", "100")), command.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, _ := setup(t, map[string][]response{
				read:     ok(transaction("captured")),
				tt.route: {{status: 201, body: tt.response}},
			})
			if got := run(t, x, tt.command).Outcome; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A refusal with another payment belongs to another request, so this one may have been paid.
func TestRefusalOfAnother(t *testing.T) {
	t.Parallel()
	for _, a := range []response{
		{status: 402, body: refusalWith("card_declined", transaction("declined", `"amount":5000`))},
		{status: 504, body: refusalWith(v1.CodeOutcomeUnknown, transaction("unknown", `"amount":5000`))},
	} {
		x, _ := setup(t, map[string][]response{create: {a}, read: ok(transaction("captured", `"amount":5000`))})
		if r := run(t, x, charge); r.Outcome != command.Uncertain || r.Transaction != nil {
			t.Errorf("%d: got %s with %v, want uncertain with no payment", a.status, r.Outcome, r.Transaction)
		}
	}
}

// A read without a result of v1 is never "not found": the object may exist, and a client that reads
// so sends it again.
func TestUnread(t *testing.T) {
	t.Parallel()
	unread := map[string]response{
		"rate limited": {status: 429, body: refusal("rate_limited")}, "fault": {status: 500, body: refusal("internal_error")},
		"overloaded": {status: 503, body: refusal("overloaded")}, "no response": {},
	}
	for _, body := range emptySuccesses {
		unread["empty success "+body] = response{status: 200, body: body}
	}
	captured, err := id.Decimal(id.Capture, string(number))
	if err != nil {
		t.Fatal(err)
	}
	customer, method := id.Format(id.Customer, 1), id.Format(id.PaymentMethod, 2)
	stored := command.Authorize{
		Body:           v1.TransactionCreate{Amount: 100, Currency: "usd", Customer: &customer},
		AcceptedBrands: []v1.CardBrand{"visa"},
	}
	named := stored
	named.Body.PaymentMethod = method
	shipped := command.Authorize{Body: stored.Body, ShipTo: "addr_1"}
	customerRoute := "GET /v1/customers/" + customer
	for name, tt := range map[string]struct {
		command command.Command
		route   string
	}{
		"transaction":    {command.Get{Target: number}, read},
		"refund":         {command.Get{Target: number}, "GET /v1/refunds/" + refund},
		"capture":        {command.Get{Target: number, Captures: true}, "GET /v1/captures/" + captured},
		"customer":       {stored, customerRoute},
		"address":        {shipped, customerRoute},
		"payment method": {named, customerRoute + "/payment_methods/" + method},
		"void":           {command.Void{Target: number, Require: command.Require{Customer: customer}}, read},
		"order":          {command.VoidGroup{First: number}, "GET /v1/transactions"},
	} {
		for how, given := range unread {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				responses := map[string][]response{tt.route: {given}}
				if name == "order" {
					responses[read] = ok(transaction("captured", partial))
				}
				x, f := setup(t, responses)
				if got := run(t, x, tt.command).Outcome; got != command.Unavailable || len(f.posts()) != 0 {
					t.Errorf("got %s after %d posts, want unavailable after none", got, len(f.posts()))
				}
			})
		}
	}
}

// A customer that is deleted each time it is made does not cause an endless loop.
func TestCreateCustomerEnds(t *testing.T) {
	t.Parallel()
	made := `{"id":"` + id.Format(id.Customer, 1) + `","metadata":{"reference_from":"description"}}`
	server := goldentest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(made))
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	var calls atomic.Int64
	x, err := executor.New(executor.Config{
		V1:                  v1client.Config{URL: server.URL, Observe: func(v1client.Call) { calls.Add(1) }},
		DeduplicationSecret: goldentest.Secret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, x, command.CreateCustomer{}).Outcome; got == command.Done || calls.Load() > 40 {
		t.Errorf("got %s after %d calls, want a refusal after a few", got, calls.Load())
	}
}

// closing is a transport that counts the calls of CloseIdleConnections.
type closing struct {
	http.RoundTripper
	closed atomic.Int64
}

func (c *closing) CloseIdleConnections() { c.closed.Add(1) }

func TestWarning(t *testing.T) {
	t.Parallel()
	responses := map[string][]response{create: {
		{status: 201, body: transaction("captured", `"amount":7`)},
		{status: 201, body: transaction("captured")},
		{},
	}}
	server := goldentest.Serve(t, &fakeV1{responses: responses})
	var log bytes.Buffer
	kept := &closing{RoundTripper: server.Client().Transport}
	now := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: server.URL, Transport: kept, Observe: func(v1client.Call) {},
			Backoff: time.Microsecond, Clock: now, Log: slog.New(slog.NewTextHandler(&log, nil)),
		},
		DeduplicationSecret: goldentest.Secret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, x, charge).Outcome; got != command.Uncertain || kept.closed.Load() != 1 {
		t.Errorf("got %s and %d times closed, want uncertain and once", got, kept.closed.Load())
	}
	if got := run(t, x, charge).Outcome; got != command.Done || kept.closed.Load() != 1 {
		t.Errorf("got %s and %d times closed, want done and no more", got, kept.closed.Load())
	}
	server.Close()
	run(t, x, charge)         // four attempts, whose log lines are suppressed
	now.Step(-24 * time.Hour) // a clock that is set back delays no line
	now.Advance(time.Minute)
	run(t, x, charge)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "belongs to another request") ||
		!strings.Contains(lines[1], "connection refused") || !strings.Contains(lines[1], "level=WARN") ||
		!strings.Contains(lines[1], "suppressed=4") {
		t.Errorf("got %q", lines)
	}
	if strings.Contains(log.String(), key.Reveal()) {
		t.Error("the log holds the key")
	}
}

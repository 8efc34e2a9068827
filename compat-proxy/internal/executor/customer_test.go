package executor_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// failing is the transport of a proxy that crashes. It fails at a call, before or after v1 received
// it, and at all later calls. The call that identifies the API key does not count.
type failing struct {
	http.RoundTripper
	mu     sync.Mutex
	left   int  // calls until it fails; guarded by mu
	after  bool // v1 receives the failed call
	revive bool // only that call fails
}

func (m *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/v1/api_keys/current" {
		return m.RoundTripper.RoundTrip(r)
	}
	m.mu.Lock()
	left := m.left
	m.left--
	m.mu.Unlock()
	if left > 0 || left < 0 && m.revive {
		return m.RoundTripper.RoundTrip(r)
	}
	if left == 0 && m.after {
		if got, err := m.RoundTripper.RoundTrip(r); err == nil {
			_ = got.Body.Close()
		}
	}
	return nil, io.ErrUnexpectedEOF
}

const noFailure = 1 << 30

type customerBundle struct {
	v1     *customerV1
	server *httptest.Server
	proxy  *clock.Fake // the clock of the proxies, an hour ahead of v1's
}

func setupCustomers(tb testing.TB) customerBundle {
	tb.Helper()
	f := &customerV1{
		clock: clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)), customers: map[string]*v1.Customer{},
		methods: map[string][]v1.PaymentMethod{}, tokens: map[string]string{}, keys: map[string]storedResponse{},
		refused: map[string]string{},
	}
	server := goldentest.Serve(tb, goldentest.Identified(f))
	return customerBundle{f, server, clock.NewFake(f.clock.Now().Add(time.Hour))}
}

// make sends the request through a new proxy with the transport m.
func (b customerBundle) make(tb testing.TB, m *failing, c command.Command) command.Result {
	tb.Helper()
	return b.makeWith(tb, key, m, c)
}

// makeWith is make with another API key.
func (b customerBundle) makeWith(
	tb testing.TB, apiKey secret.String, m *failing, c command.Command,
) command.Result {
	tb.Helper()
	m.RoundTripper = b.server.Client().Transport
	return b.through(tb, apiKey, m, c)
}

// through sends the request through a new proxy with the given transport.
func (b customerBundle) through(
	tb testing.TB, apiKey secret.String, transport http.RoundTripper, c command.Command,
) command.Result {
	tb.Helper()
	// A busy machine delays one of two concurrent requests.
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: b.server.URL, Transport: transport, Backoff: time.Microsecond,
			Clock: b.proxy,
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: 200 * time.Millisecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return x.Execute(tb.Context(), apiKey, c)
}

// whole sends the request through a new proxy that does not fail.
func (b customerBundle) whole(tb testing.TB, c command.Command) command.Result {
	tb.Helper()
	return b.make(tb, &failing{left: noFailure}, c)
}

// ana returns a customer with cards of these numbers.
func ana(numbers ...string) command.CreateCustomer {
	reference, email := "cust-42", "ana@example.org"
	c := command.CreateCustomer{Body: v1.CustomerInput{Reference: &reference, Email: &email}}
	for _, n := range numbers {
		c.Methods = append(c.Methods, command.NewMethod{Token: command.CreateToken{
			Body: v1.TokenCreate{Card: &v1.CardInput{Number: secret.New(n), ExpMonth: 4, ExpYear: 2031}},
		}})
	}
	return c
}

// mustKeep checks that v1 has one customer, complete and with cards of these numbers.
func (b customerBundle) mustKeep(tb testing.TB, numbers ...string) v1.Customer {
	tb.Helper()
	customers, kept := b.v1.kept()
	if len(customers) != 1 || !slices.Equal(kept, numbers) {
		tb.Fatalf("kept: got %d customers with cards %v, want 1 with %v", len(customers), kept, numbers)
	}
	if len(customers[0].Metadata) != 0 {
		tb.Errorf("metadata: got %v, want none", customers[0].Metadata)
	}
	return customers[0]
}

const (
	visa       = "4111111111111111"
	mastercard = "5424000000000015"
	amex       = "370000000000002"
)

// TestCreateCustomerSurvivesTheProxy crashes the proxy at each call to v1. A retry at another proxy
// completes the customer.
func TestCreateCustomerSurvivesTheProxy(t *testing.T) {
	t.Parallel()
	const calls = 7 // list, two tokens, create, two attachments, update
	for at := range calls {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, after v1 %t", at, after), func(t *testing.T) {
				t.Parallel()
				b := setupCustomers(t)
				if r := b.make(t, &failing{left: at, after: after}, ana(visa, mastercard)); r.Outcome == command.Done {
					t.Fatal("the first request was not cut short")
				}
				r := b.whole(t, ana(visa, mastercard))
				want := command.Done
				if at == calls-1 && after {
					want = command.Repeated // it was complete already
				}
				if r.Outcome != want {
					t.Errorf("retry: got %+v, want %s", r, want)
				}
				kept := b.mustKeep(t, visa, mastercard)
				if r.Customer == nil || r.Customer.ID != kept.ID {
					t.Errorf("customer: got %v, want %s", r.Customer, kept.ID)
				}
				if want == command.Done && len(r.Methods) != 2 {
					t.Errorf("methods: got %d, want 2", len(r.Methods))
				}
			})
		}
	}
}

func TestCreateCustomerWithOneLostResponse(t *testing.T) {
	t.Parallel()
	for at := range 7 {
		b := setupCustomers(t)
		r := b.make(t, &failing{left: at, after: true, revive: true}, ana(visa, mastercard))
		if r.Outcome != command.Done {
			t.Errorf("call %d: got %+v, want done", at, r)
		}
		b.mustKeep(t, visa, mastercard)
	}
}

func TestCreateCustomerTwiceAtOnce(t *testing.T) {
	t.Parallel()
	for name, cards := range map[string][]string{
		"equal": {visa, mastercard}, "other cards": {mastercard}, "fewer cards": {visa},
		"more cards": {visa, mastercard, amex},
	} {
		for range 20 {
			b := setupCustomers(t)
			var both [2]command.Result
			var wg sync.WaitGroup
			for i, c := range []command.CreateCustomer{ana(visa, mastercard), ana(cards...)} {
				wg.Go(func() { both[i] = b.whole(t, c) })
			}
			wg.Wait()
			customers, numbers := b.v1.kept()
			if len(customers) != 1 || len(customers[0].Metadata) != 0 {
				t.Fatalf("%s: got %d customers %v, want one that is complete", name, len(customers), customers)
			}
			wanted := map[bool][]string{true: {visa, mastercard}, false: cards}[both[0].Outcome == command.Done]
			if !slices.Equal(numbers, wanted) {
				t.Errorf("%s: got cards %v, want the cards of the request, %v", name, numbers, wanted)
			}
			done := 0
			for _, r := range both {
				if r.Outcome == command.Done {
					done++
				} else if r.Outcome != command.Repeated {
					t.Errorf("%s: got %+v, want it done or repeated", name, r)
				}
				if r.Customer == nil || r.Customer.ID != customers[0].ID {
					t.Errorf("%s: got %+v, want customer %s", name, r, customers[0].ID)
				}
			}
			if done != 1 && name != "equal" {
				t.Errorf("%s: %d of them made it, want one", name, done)
			}
		}
	}
}

func TestCreateCustomerAgain(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	first := b.whole(t, ana(visa))
	for _, c := range []command.CreateCustomer{ana(visa), ana(mastercard), ana()} {
		if r := b.whole(t, c); r.Outcome != command.Repeated || r.Customer.ID != first.Customer.ID {
			t.Errorf("got %+v, want the first customer repeated", r)
		}
	}
	b.v1.forget()
	if r := b.whole(t, ana(visa)); r.Outcome != command.Repeated || r.Customer.ID != first.Customer.ID {
		t.Errorf("a day later: got %+v, want the first customer repeated", r)
	}
	named := ana(visa)
	description := "another"
	named.Body.Description = &description
	if r := b.whole(t, named); r.Outcome != command.Done || r.Customer.ID == first.Customer.ID {
		t.Errorf("with a description: got %+v, want another customer", r)
	}
}

// described returns a customer with only these identifying fields.
func described(reference, description string) command.CreateCustomer {
	c := command.CreateCustomer{Body: v1.CustomerInput{Description: &description, Metadata: &v1.Metadata{"kind": "guest"}}}
	if reference != "" {
		c.Body.Reference = &reference
	}
	return c
}

func TestCreateCustomerByDescription(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	first := b.whole(t, described("", "only this"))
	if first.Outcome != command.Done || first.Customer.Metadata["kind"] != "guest" {
		t.Fatalf("got %+v, want it done, with its metadata", first)
	}
	for _, when := range []string{"immediately", "a day later"} {
		if r := b.whole(t, described("", "only this")); r.Outcome != command.Repeated || r.Customer.ID != first.Customer.ID {
			t.Errorf("%s: got %+v, want the first customer repeated", when, r)
		}
		b.v1.forget()
	}
	for _, other := range []command.CreateCustomer{described("only this", "only this"), described("", "only that")} {
		for _, want := range []command.Outcome{command.Done, command.Repeated} {
			if r := b.whole(t, other); r.Outcome != want || r.Customer.ID == first.Customer.ID {
				t.Errorf("another one: got %+v, want it %s", r, want)
			}
			b.v1.forget()
		}
	}
}

func TestCreateCustomerByDescriptionADayAfterACrash(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	c := described("", "only this")
	c.Methods = ana(visa).Methods
	b.make(t, &failing{left: 4}, c)
	b.v1.forget()
	if r := b.whole(t, c); r.Outcome != command.Done {
		t.Errorf("got %+v, want done", r)
	}
	if customers, _ := b.v1.kept(); len(customers) != 1 {
		t.Errorf("kept: got %v, want one", customers)
	}
}

func TestCreateCustomerWithoutListedFields(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	long := strings.Repeat("å", 256) // longer than a reference
	first := b.whole(t, described("", long))
	if r := b.whole(t, described("", long)); r.Outcome != command.Repeated || r.Customer.ID != first.Customer.ID ||
		r.Customer.Reference != nil {
		t.Errorf("got %+v, want the first customer repeated, without a reference", r)
	}
	if r := b.whole(t, described("", long[2:])); r.Outcome != command.Done || text(r.Customer.Reference) != long[2:] {
		t.Errorf("one character less: got %+v, want it for a reference", r)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestCreateCustomerAfterItWasDeleted(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	for range 40 { // as the tests of a client do
		r := b.whole(t, ana(visa))
		if r.Outcome != command.Done {
			t.Fatalf("got %+v, want done", r)
		}
		b.mustKeep(t, visa)
		b.v1.mu.Lock()
		delete(b.v1.customers, r.Customer.ID)
		b.v1.mu.Unlock()
	}
}

func TestCreateCustomerThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	b.v1.refused[mastercard] = "invalid_card_number"
	r := b.whole(t, ana(visa, mastercard))
	if r.Outcome != command.Refused || r.Code != "invalid_card_number" || r.Position != 2 {
		t.Errorf("got %+v, want the second refused", r)
	}
	if customers, _ := b.v1.kept(); len(customers) != 0 {
		t.Errorf("kept: got %v, want none", customers)
	}
	if r := b.whole(t, ana(visa)); r.Outcome != command.Done {
		t.Errorf("with other cards: got %+v, want done", r)
	}
	b.mustKeep(t, visa)
}

// TestCreateCustomerThatIsRefusedHalfWay: a refused step deletes the incomplete customer. It keeps
// one that another request created, because that request may still be running.
func TestCreateCustomerThatIsRefusedHalfWay(t *testing.T) {
	t.Parallel()
	for method, step := range map[string]string{http.MethodPost: "attach", http.MethodPatch: "finish"} {
		for name, others := range map[string]bool{"its own": false, "another's": true} {
			b := setupCustomers(t)
			if others {
				b.make(t, &failing{left: 2, after: true}, ana(visa)) // the customer exists
			}
			b.v1.refused[method] = "invalid_value"
			if r := b.whole(t, ana(mastercard)); r.Outcome != command.Refused || r.Code != "invalid_value" {
				t.Errorf("%s, %s: got %+v, want it refused", step, name, r)
			}
			want := 0
			if others && step == "attach" {
				want = 1
			}
			if customers, _ := b.v1.kept(); len(customers) != want {
				t.Errorf("%s, %s: kept %v, want %d", step, name, customers, want)
			}
		}
	}
}

// Keys and names do not depend on a security code, because they are stored.
func TestNamesOfACustomerWithoutSecurityCodes(t *testing.T) {
	t.Parallel()
	keys := func(code, number string) []string {
		b := setupCustomers(t)
		c := ana(number, visa)
		given := secret.New(code)
		c.Methods[1].Token.Body.Card.Cvc = &given
		if r := b.make(t, &failing{left: noFailure}, c); r.Outcome != command.Done {
			t.Fatalf("got %s %s, want it done", r.Outcome, r.Code)
		}
		if c.Methods[1].Token.Body.Card.Cvc != &given {
			t.Error("the command lost its security code")
		}
		return slices.Sorted(maps.Keys(b.v1.keys))
	}
	first := keys("123", mastercard)
	if got := keys("321", mastercard); !slices.Equal(got, first) {
		t.Errorf("names under another security code: got %q, want %q", got, first)
	}
	if got := keys("123", visa); slices.Equal(got, first) {
		t.Error("names under another card number: got the same")
	}
}

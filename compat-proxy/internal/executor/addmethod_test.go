package executor_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// adding returns the command that adds a card to a customer, and makes it the default.
func adding(tb testing.TB, to *v1.Customer, card string) command.AddMethod {
	tb.Helper()
	return command.AddMethod{Customer: numberOf(tb, to), Method: ana(card).Methods[0], Default: true, Most: 3}
}

// methodNumber returns the number of a payment method, as clients write it.
func methodNumber(tb testing.TB, m v1.PaymentMethod) command.Number {
	tb.Helper()
	text, err := id.ToDecimal(id.PaymentMethod, m.ID)
	if err != nil {
		tb.Fatal(err)
	}
	return command.Number(text)
}

// TestAddMethodSurvivesTheProxy crashes the proxy at each call to v1. A retry at another proxy
// leaves one card, which is the default. A retry under the same name gets the result of the first
// request.
func TestAddMethodSurvivesTheProxy(t *testing.T) {
	t.Parallel()
	const calls = 10 // four keys of the name, token, two pages of the list, reservation, attachment, update
	for at := range calls {
		for _, after := range []bool{false, true} {
			for _, name := range []string{"", "n"} {
				t.Run(fmt.Sprintf("call %d, after v1 %t, name %q", at, after, name), func(t *testing.T) {
					t.Parallel()
					b := setupCustomers(t)
					made := b.whole(t, ana(visa, amex)).Customer
					var c command.Command = adding(t, made, mastercard)
					if name != "" {
						c = command.Named{Command: c, Name: name}
					}
					b.make(t, &failing{left: at, after: after}, c)
					r := b.whole(t, c)
					if r.Outcome != command.Done && (name != "" || r.Outcome != command.Repeated) || len(r.Methods) != 1 {
						t.Errorf("retry: got %+v, want the card", r)
					}
					kept := b.mustKeep(t, visa, amex, mastercard)
					if v1.Text(kept.DefaultPaymentMethod) != r.Methods[0].ID {
						t.Errorf("default: got %v, want %s", kept.DefaultPaymentMethod, r.Methods[0].ID)
					}
				})
			}
		}
	}
}

// TestAddMethodTwice: the same card is added once, also by concurrent requests. Another address
// makes another payment method. A deleted one can be added again.
func TestAddMethodTwice(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	made := b.whole(t, ana(visa)).Customer
	c := adding(t, made, mastercard)
	var both [2]command.Result
	var wg sync.WaitGroup
	for i := range both {
		wg.Go(func() { both[i] = b.whole(t, c) })
	}
	wg.Wait()
	b.mustKeep(t, visa, mastercard)
	outcomes := []command.Outcome{both[0].Outcome, both[1].Outcome}
	slices.Sort(outcomes)
	if !slices.Equal(outcomes, []command.Outcome{command.Done, command.Repeated}) ||
		both[0].Methods[0].ID != both[1].Methods[0].ID {
		t.Fatalf("concurrent: got %+v, want the card, once done and once repeated", both)
	}
	street := "1 Elm St"
	other := c
	other.Method.Billing = &v1.Contact{Address: &v1.Address{Line1: &street}}
	if r := b.whole(t, other); r.Outcome != command.Done {
		t.Errorf("another address: got %+v, want it done", r)
	}
	if r := b.whole(t, adding(t, made, amex)); r.Unmet != command.ConditionMost {
		t.Errorf("a fourth one: got %+v, want it refused", r)
	}
	detach := command.DetachMethod{Customer: c.Customer, Method: methodNumber(t, both[0].Methods[0])}
	if r := b.make(t, &failing{after: true, revive: true}, detach); r.Outcome != command.Done {
		t.Errorf("detach with a lost response: got %+v, want it done", r)
	}
	if r := b.whole(t, detach); r.Outcome != command.NotFound {
		t.Errorf("detach again: got %+v, want it not found", r)
	}
	if r := b.whole(t, c); r.Outcome != command.Done || r.Methods[0].ID == both[0].Methods[0].ID {
		t.Errorf("after the deletion: got %+v, want another payment method", r)
	}
}

// TestDuplicateKeepsTheDefault: a request for a card that the customer has already is a duplicate.
// It does not change the default if the request that added the card was complete, or did not want
// it as the default.
func TestDuplicateKeepsTheDefault(t *testing.T) {
	t.Parallel()
	for _, wanted := range []bool{false, true} {
		b := setupCustomers(t)
		made := b.whole(t, ana(visa)).Customer
		c := adding(t, made, mastercard)
		c.Default = wanted
		b.whole(t, c)
		want := b.whole(t, adding(t, made, amex)).Methods[0].ID
		c.Default = true
		if r := b.whole(t, c); r.Outcome != command.Repeated {
			t.Errorf("wanted %t: got %s, want a duplicate", wanted, r.Outcome)
		}
		kept := b.mustKeep(t, visa, mastercard, amex)
		if got := v1.Text(kept.DefaultPaymentMethod); got != want {
			t.Errorf("wanted %t: default: got %s, want %s", wanted, got, want)
		}
	}
}

// TestDefaultOfACardAddedAgain: the proxy dies before a card becomes the default that was added and
// deleted before. The retry completes it.
func TestDefaultOfACardAddedAgain(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	made := b.whole(t, ana(visa)).Customer
	c := adding(t, made, mastercard)
	before := b.whole(t, c).Methods[0]
	b.whole(t, command.DetachMethod{Customer: c.Customer, Method: methodNumber(t, before)})
	plain := b.server.Client().Transport
	b.through(t, key, losing{RoundTripper: plain, method: http.MethodPatch}, c)
	r := b.whole(t, c)
	if r.Outcome != command.Repeated || r.Methods[0].ID == before.ID {
		t.Fatalf("got %+v, want the card that was added again", r)
	}
	if kept := b.mustKeep(t, visa, mastercard); v1.Text(kept.DefaultPaymentMethod) != r.Methods[0].ID {
		t.Errorf("default: got %v, want %s", kept.DefaultPaymentMethod, r.Methods[0].ID)
	}
}

// losing is a transport that loses all requests of a method.
type losing struct {
	http.RoundTripper

	method string
}

func (l losing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == l.method {
		return nil, io.ErrUnexpectedEOF
	}
	return l.RoundTripper.RoundTrip(r)
}

// TestNamedMethodAtOnce runs a request with the same name between any two calls of another. Both
// get the one payment method.
func TestNamedMethodAtOnce(t *testing.T) {
	t.Parallel()
	for n, there := int32(1), true; there; n++ {
		b := setupCustomers(t)
		plain := b.server.Client().Transport
		c := under("n", adding(t, b.whole(t, ana(visa)).Customer, mastercard))
		there = false
		var between command.Result
		r := b.impatient(t, &interrupted{RoundTripper: plain, n: n, then: func() {
			there, between = true, b.impatient(t, plain, c)
		}}, c)
		if r.Outcome != command.Done || there && (between.Outcome != command.Done ||
			r.Methods[0].ID != between.Methods[0].ID) {
			t.Errorf("call %d: got %+v and %+v, want one payment method", n, r, between)
		}
	}
}

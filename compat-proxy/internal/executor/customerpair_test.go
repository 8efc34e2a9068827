package executor_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// interrupted runs a function before the nth call, so that another proxy acts between two calls of
// this one.
type interrupted struct {
	http.RoundTripper

	n    int32
	met  atomic.Int32
	then func()
}

func (i *interrupted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/v1/api_keys/current" && i.met.Add(1) == i.n {
		i.then()
	}
	return i.RoundTripper.RoundTrip(r)
}

// impatient sends the request through a new proxy that hardly waits for other requests.
func (b customerBundle) impatient(tb testing.TB, transport http.RoundTripper, c command.Command) command.Result {
	tb.Helper()
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: b.server.URL, Transport: transport, Backoff: time.Microsecond, Clock: b.proxy,
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return x.Execute(tb.Context(), key, c)
}

// to returns the customer with a shipping address in each of the postal codes.
func to(c command.CreateCustomer, codes ...string) command.CreateCustomer {
	for _, code := range codes {
		c.Addresses = append(c.Addresses, v1.ShippingAddressInput{Address: &v1.AddressInput{PostalCode: &code}})
	}
	return c
}

// TestTwoRequestsMakeOneCustomer runs a request for a customer between any two calls of another
// request for it that has other cards, or none, or another address. At most one of them makes the
// customer, and that customer has its cards and addresses and no others. Later retries of both give
// the same result.
func TestTwoRequestsMakeOneCustomer(t *testing.T) {
	t.Parallel()
	all := map[string]command.CreateCustomer{
		"bare": ana(), "address": to(ana(), "98004"), "other address": to(ana(), "98005"), "card": ana(visa),
		"cards and address": to(ana(mastercard, visa), "98006"),
	}
	for first, one := range all {
		for second, other := range all {
			if first == second {
				continue
			}
			t.Run(first+", "+second, func(t *testing.T) {
				t.Parallel()
				for n := int32(1); interrupt(t, n, one, other); n++ {
				}
			})
		}
	}
}

// interrupt runs the second request before the nth call of the first. It reports whether there was
// such a call.
func interrupt(t *testing.T, n int32, first, second command.CreateCustomer) (there bool) {
	t.Helper()
	b := setupCustomers(t)
	plain := b.server.Client().Transport
	var between command.Result
	transport := &interrupted{RoundTripper: plain, n: n, then: func() {
		there, between = true, b.impatient(t, plain, second)
	}}
	r := b.impatient(t, transport, first)
	if !there {
		return false
	}
	wanted := map[*command.Result]command.CreateCustomer{&r: first, &between: second}
	made := 0
	for result, c := range wanted {
		switch result.Outcome {
		case command.Done:
			made++
			b.mustHold(t, n, result.Customer.ID, c)
		case command.Repeated, command.Unavailable:
		default:
			t.Errorf("call %d: got %s %s, want it made or a duplicate", n, result.Outcome, result.Code)
		}
	}
	if made != 1 {
		t.Errorf("call %d: got %s and %s, want one made", n, r.Outcome, between.Outcome)
	}
	for _, c := range wanted {
		if again := b.impatient(t, plain, c); again.Outcome != command.Repeated {
			t.Errorf("call %d, again: got %s %s, want a duplicate", n, again.Outcome, again.Code)
		}
	}
	return true
}

// mustHold checks that v1 has one customer, the one that a request made, with its cards and
// addresses alone.
func (b customerBundle) mustHold(t *testing.T, n int32, id string, c command.CreateCustomer) {
	t.Helper()
	var numbers, codes []string
	for _, m := range c.Methods {
		numbers = append(numbers, m.Token.Body.Card.Number.Reveal())
	}
	for _, a := range c.Addresses {
		codes = append(codes, *a.Address.PostalCode)
	}
	customers, cards := b.v1.kept()
	if len(customers) != 1 || customers[0].ID != id || len(customers[0].Metadata) != 0 {
		t.Fatalf("call %d: got customers %+v, want %s alone, complete", n, customers, id)
	}
	var shipped []string
	if of := customers[0].ShippingAddresses; of != nil {
		for _, a := range *of {
			shipped = append(shipped, *a.Address.PostalCode)
		}
	}
	if !slices.Equal(cards, numbers) || !slices.Equal(shipped, codes) {
		t.Errorf("call %d: got cards %v and addresses %v, want %v and %v", n, cards, shipped, numbers, codes)
	}
}

// TestRefusedLastStepLeavesNothing: the proxy dies after a call of a request whose last step v1
// refuses. The retry is refused, too, and removes the customer.
func TestRefusedLastStepLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, cards := range [][]string{nil, {visa}} {
		for at := range 6 {
			b := setupCustomers(t)
			b.v1.refused[http.MethodPatch] = "invalid_value"
			b.make(t, &failing{left: at, after: true}, ana(cards...))
			retry := b.whole(t, ana(cards...))
			if kept, _ := b.v1.kept(); retry.Outcome != command.Refused || len(kept) > 0 {
				t.Errorf("%d cards, call %d: got %s, and %+v is left; want a refusal alone", len(cards), at, retry.Outcome, kept)
			}
		}
	}
}

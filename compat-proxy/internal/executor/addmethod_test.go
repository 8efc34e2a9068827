package executor_test

import (
	"fmt"
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
// leaves one card. A retry under the same name gets the result of the first request.
func TestAddMethodSurvivesTheProxy(t *testing.T) {
	t.Parallel()
	const calls = 9 // four keys of the name, token, two pages of the list, attachment, update
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
					if name != "" && v1.Text(kept.DefaultPaymentMethod) != r.Methods[0].ID {
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

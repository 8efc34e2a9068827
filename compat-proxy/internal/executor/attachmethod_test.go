package executor_test

import (
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// attach returns a command that gives the customer a card of that number.
func attach(customer, number string) command.AttachMethod {
	return command.AttachMethod{Customer: customer, Method: ana(number).Methods[0]}
}

// setupCustomer makes a customer with one card, and returns its id.
func setupCustomer(t *testing.T) (customerBundle, string) {
	t.Helper()
	b := setupCustomers(t)
	return b, b.whole(t, ana(visa)).Customer.ID
}

func TestAttachMethod(t *testing.T) {
	t.Parallel()
	b, customer := setupCustomer(t)
	first := b.whole(t, attach(customer, mastercard))
	if first.Outcome != command.Done || first.Customer.ID != customer || len(first.Methods) != 1 {
		t.Fatalf("got %+v, want the customer with one payment method", first)
	}
	again := b.whole(t, attach(customer, mastercard))
	if again.Outcome != command.Done || again.Methods[0].ID != first.Methods[0].ID {
		t.Errorf("equal command: got %+v, want the first payment method", again)
	}
	code, withCode := secret.New("123"), attach(customer, mastercard)
	withCode.Method.Token.Body.Card.Cvc = &code
	if r := b.whole(t, withCode); r.Outcome != command.Done || r.Methods[0].ID != first.Methods[0].ID {
		t.Errorf("with a security code: got %+v, want the first payment method", r)
	}
	named := command.Named{Command: attach(customer, mastercard), Name: "n"}
	if r := b.whole(t, named); r.Outcome != command.Done || r.Methods[0].ID != first.Methods[0].ID {
		t.Errorf("named command: got %+v, want the first payment method", r)
	}
	b.mustKeep(t, visa, mastercard)
	if r := b.whole(t, attach(customer, amex)); r.Outcome != command.Done {
		t.Errorf("another card: got %+v, want done", r)
	}
	b.mustKeep(t, visa, mastercard, amex)
	if r := b.whole(t, attach(mustID(id.Customer), amex)); r.Outcome != command.NotFound {
		t.Errorf("unknown customer: got %+v, want not found", r)
	}
}

// TestAttachMethodSurvivesTheProxy crashes the proxy at each call to v1. A retry at another proxy
// attaches the card once.
func TestAttachMethodSurvivesTheProxy(t *testing.T) {
	t.Parallel()
	for at := range 2 { // token, attachment
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, after v1 %t", at, after), func(t *testing.T) {
				t.Parallel()
				b, customer := setupCustomer(t)
				if r := b.make(t, &failing{left: at, after: after}, attach(customer, mastercard)); r.Outcome == command.Done {
					t.Fatal("the first request was not cut short")
				}
				if r := b.whole(t, attach(customer, mastercard)); r.Outcome != command.Done || len(r.Methods) != 1 {
					t.Errorf("retry: got %+v, want one payment method", r)
				}
				b.mustKeep(t, visa, mastercard)
			})
		}
	}
}

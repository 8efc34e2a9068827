package executor_test

import (
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestChangeMethodSurvivesTheProxy crashes the proxy at each call to v1. A retry at another proxy
// gives the payment method its new number, and keeps its id.
func TestChangeMethodSurvivesTheProxy(t *testing.T) {
	t.Parallel()
	const calls = 7 // three reads of the name's keys, two pages of the list, token, update
	for at := range calls {
		for _, after := range []bool{false, true} {
			for _, name := range []string{"", "n"} {
				t.Run(fmt.Sprintf("call %d, after v1 %t, name %q", at, after, name), func(t *testing.T) {
					t.Parallel()
					b := setupCustomers(t)
					made := b.whole(t, ana(visa, amex))
					change := command.ChangeMethod{
						Customer: numberOf(t, made.Customer), Method: methodNumber(t, made.Methods[0]),
						New: &ana(mastercard).Methods[0].Token,
					}
					var c command.Command = change
					if name != "" {
						c = command.Named{Command: c, Name: name}
					}
					b.make(t, &failing{left: at, after: after}, c)
					if r := b.whole(t, c); r.Outcome != command.Done || r.Methods[0].ID != made.Methods[0].ID {
						t.Errorf("retry: got %+v, want the payment method", r)
					}
					b.mustKeep(t, mastercard, amex)
				})
			}
		}
	}
}

// TestNamedChangeMethod: a retry under the name of a change has its result, also after the payment
// method was changed or deleted, or its customer. Nothing is changed again.
func TestNamedChangeMethod(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	made := b.whole(t, ana(visa, amex))
	customer, method := numberOf(t, made.Customer), methodNumber(t, made.Methods[0])
	change := command.ChangeMethod{
		Customer: customer, Method: method, New: &ana(mastercard).Methods[0].Token, Default: true,
	}
	back := change
	back.New = &ana(visa).Methods[0].Token
	c := under("n", change)
	if r := b.whole(t, c); r.Outcome != command.Done || r.Replayed {
		t.Errorf("got %+v, want the change", r)
	}
	for _, then := range []command.Command{
		back,
		command.GetCustomer{Customer: customer},
		command.DetachMethod{Customer: customer, Method: method},
		command.DeleteCustomer{Customer: customer},
		command.ListCustomers{},
	} {
		if r := b.whole(t, then); r.Outcome != command.Done {
			t.Errorf("%T: got %+v, want it done", then, r)
		}
		r := b.whole(t, c)
		if r.Outcome != command.Done || !r.Replayed || r.Methods[0].ID != made.Methods[0].ID ||
			r.Customer.ID != made.Customer.ID {
			t.Errorf("after %T: got %+v, want the first result", then, r)
		}
		if _, read := then.(command.GetCustomer); read {
			b.mustKeep(t, visa, amex)
		}
	}
	if r := b.whole(t, under("m", change)); r.Outcome != command.NotFound {
		t.Errorf("another name: got %+v, want it not found", r)
	}
}

// TestChangeMethodRefuses: an equal payment method, another last four, and an unknown payment
// method change nothing.
func TestChangeMethodRefuses(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	made := b.whole(t, ana(visa, amex))
	customer, method := numberOf(t, made.Customer), methodNumber(t, made.Methods[0])
	card := command.Require{MethodType: command.CardMethod}
	for name, tt := range map[string]struct {
		c    command.ChangeMethod
		want command.Outcome
	}{
		"duplicate": {
			command.ChangeMethod{Customer: customer, Method: method, New: &ana(amex).Methods[0].Token}, command.Repeated,
		},
		"bank": {
			command.ChangeMethod{Customer: customer, Method: method, Require: command.Require{MethodType: command.BankMethod}},
			command.Unmet,
		},
		"unknown":          {command.ChangeMethod{Customer: customer, Method: "1", Require: card}, command.NotFound},
		"no number":        {command.ChangeMethod{Customer: customer, Method: "x", Require: card}, command.NotFound},
		"unknown customer": {command.ChangeMethod{Customer: "1", Method: method, Require: card}, command.NotFound},
	} {
		if r := b.whole(t, tt.c); r.Outcome != tt.want {
			t.Errorf("%s: got %+v, want %s", name, r, tt.want)
		}
	}
	b.mustKeep(t, visa, amex)
}

// TestEmptyContactsRemove: an empty contact removes the stored one, also if a text of the command
// has a card number.
func TestEmptyContactsRemove(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"555-0101", visa} {
		b := setupCustomers(t)
		street := "1 Elm St"
		contact := &v1.Contact{Address: &v1.Address{Line1: &street}}
		c := ana(visa)
		c.Methods[0].Billing = contact
		made := b.whole(t, c)
		number := numberOf(t, made.Customer)
		b.whole(t, command.ChangeMethod{
			Customer: number, Method: methodNumber(t, made.Methods[0]), Require: command.Require{MethodType: command.CardMethod},
			Billing: &v1.Contact{}, Metadata: map[string]string{"bank_name": text},
		})
		r := b.whole(t, command.GetCustomer{Customer: number})
		if r.Customer == nil || r.Methods[0].Billing != nil {
			t.Errorf("with %s: got %+v, want no contact", text, r)
		}
	}
}

package executor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// numberOf returns the number of a customer, as clients write it.
func numberOf(tb testing.TB, c *v1.Customer) command.Number {
	tb.Helper()
	text, err := id.ToDecimal(id.Customer, c.ID)
	if err != nil {
		tb.Fatal(err)
	}
	return command.Number(text)
}

// TestReadCustomers: a customer is read with all its payment methods, by its number, reference or
// e-mail address. An incomplete customer is in no result.
func TestReadCustomers(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	first := b.whole(t, ana(visa, mastercard, amex))
	second := ana()
	description := "second"
	second.Body.Description = &description
	later := b.whole(t, second)
	if r := b.make(t, &failing{left: 2}, described("cust-43", "incomplete")); r.Outcome == command.Done {
		t.Fatal("the third request was not cut short")
	}
	for _, c := range []command.GetCustomer{
		{Customer: numberOf(t, first.Customer)},
		{Reference: "cust-42"},
		{Email: "ana@example.org"},
		{Reference: "cust-42", Email: "ana@example.org"},
	} {
		r := b.whole(t, c)
		if r.Outcome != command.Done || r.Customer.ID != first.Customer.ID || len(r.Methods) != 3 ||
			!slices.IsSortedFunc(r.Methods, func(a, b v1.PaymentMethod) int { return strings.Compare(a.ID, b.ID) }) {
			t.Errorf("%+v: got %+v, want the first customer with three methods, oldest first", c, r)
		}
	}
	r := b.whole(t, command.ListCustomers{})
	if want := []string{first.Customer.ID, later.Customer.ID}; !slices.Equal(r.CustomerIDs, want) {
		t.Errorf("list: got %v, want %v", r.CustomerIDs, want)
	}
	for _, c := range []command.GetCustomer{
		{Customer: "1"},
		{Customer: "x"},
		{Reference: "cust"},
		{Reference: "cust-43"},
		{Customer: numberOf(t, b.v1.incomplete())},
	} {
		if r := b.whole(t, c); r.Outcome != command.NotFound {
			t.Errorf("%+v: got %+v, want it not found", c, r)
		}
	}
}

// TestDeleteCustomerOnce: a customer is deleted once, also if the response of v1 is lost. Its
// fields are free then.
func TestDeleteCustomerOnce(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*failing{
		"whole": {left: noFailure}, "lost response": {after: true, revive: true}, "lost request": {revive: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupCustomers(t)
			made := b.whole(t, ana(visa))
			c := command.DeleteCustomer{Customer: numberOf(t, made.Customer)}
			if r := b.make(t, m, c); r.Outcome != command.Done {
				t.Errorf("got %+v, want it done", r)
			}
			if r := b.whole(t, c); r.Outcome != command.NotFound {
				t.Errorf("again: got %+v, want it not found", r)
			}
			if r := b.whole(t, ana(visa)); r.Outcome != command.Done || r.Customer.ID == made.Customer.ID {
				t.Errorf("created again: got %+v, want another customer", r)
			}
		})
	}
}

// TestIdentifyCustomer: the identifying fields are replaced together, unless another customer has
// them. A customer with only a description is found by it.
func TestIdentifyCustomer(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	first := b.whole(t, ana(visa)).Customer
	email := "new@example.org"
	change := command.IdentifyCustomer{Customer: numberOf(t, first), Body: v1.CustomerInput{Email: &email}}
	for _, m := range []*failing{{left: 2, after: true, revive: true}, {left: noFailure}} {
		if r := b.make(t, m, change); r.Outcome != command.Done || v1.Text(r.Customer.Reference) != "" ||
			v1.Text(r.Customer.Email) != email {
			t.Errorf("got %+v, want only the new e-mail address", r)
		}
	}
	other := b.whole(t, ana()).Customer // the old fields are free
	change.Customer = numberOf(t, other)
	if r := b.whole(t, change); r.Outcome != command.Repeated || r.Customer.ID != first.ID {
		t.Errorf("the fields of the first: got %+v, want it repeated", r)
	}
	text := "only this"
	described := command.IdentifyCustomer{Customer: numberOf(t, other), Body: v1.CustomerInput{Description: &text}}
	if r := b.whole(t, described); r.Outcome != command.Done || v1.Text(r.Customer.Reference) != text {
		t.Errorf("a description: got %+v, want it as the reference too", r)
	}
	described.Customer = numberOf(t, first)
	if r := b.whole(t, described); r.Outcome != command.Repeated || r.Customer.ID != other.ID {
		t.Errorf("the same description: got %+v, want it repeated", r)
	}
	if r := b.whole(t, change); r.Outcome != command.Repeated {
		t.Errorf("again: got %+v, want it repeated", r)
	}
}

// TestNamedIdentifyCustomer: a retry under the name of a change has its result. Meanwhile, another
// customer may have got the fields, and the customer may have been deleted.
func TestNamedIdentifyCustomer(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	first := b.whole(t, ana(visa)).Customer
	email, later := "new@example.org", "later@example.org"
	number := numberOf(t, first)
	change := command.IdentifyCustomer{Customer: number, Body: v1.CustomerInput{Email: &email}}
	other := command.IdentifyCustomer{Customer: number, Body: v1.CustomerInput{Email: &later}}
	taken := ana(amex)
	taken.Body = change.Body
	c := under("n", change)
	if r := b.whole(t, c); r.Outcome != command.Done || r.Replayed {
		t.Errorf("got %+v, want the change", r)
	}
	for _, then := range []command.Command{
		other, taken, command.DeleteCustomer{Customer: number}, command.ListCustomers{},
	} {
		if r := b.whole(t, then); r.Outcome != command.Done {
			t.Errorf("%T: got %+v, want it done", then, r)
		}
		if r := b.whole(t, c); r.Outcome != command.Done || !r.Replayed || r.Customer.ID != first.ID {
			t.Errorf("after %T: got %+v, want the first result", then, r)
		}
	}
	if r := b.whole(t, under("m", other)); r.Outcome != command.NotFound {
		t.Errorf("another name: got %+v, want it not found", r)
	}
}

// TestFindCustomer: a customer is found by all its identifying fields together.
func TestFindCustomer(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	made := b.whole(t, ana(visa)).Customer
	if r := b.whole(t, command.FindCustomer{Body: ana().Body}); r.Outcome != command.Repeated || r.Customer.ID != made.ID {
		t.Errorf("got %+v, want the customer", r)
	}
	other := ana().Body
	other.Email = nil
	if r := b.whole(t, command.FindCustomer{Body: other}); r.Outcome != command.NotFound {
		t.Errorf("without an e-mail address: got %+v, want it not found", r)
	}
}

package executor_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// addressTo returns a shipping address for a recipient with a telephone number.
func addressTo(firstName, phone string) v1.ShippingAddressInput {
	return v1.ShippingAddressInput{FirstName: &firstName, Phone: &phone, Address: &v1.Address{Line1: new("1 Elm St")}}
}

// addressNumber returns the number of a result's shipping address, as clients write it.
func addressNumber(t *testing.T, r command.Result) command.Number {
	t.Helper()
	if r.Address == nil {
		t.Fatalf("got %+v, want an address", r)
	}
	text, err := id.ToDecimal(id.ShippingAddress, r.Address.ID)
	if err != nil {
		t.Fatal(err)
	}
	return command.Number(text)
}

// TestShippingAddresses: a customer gets several addresses, but none twice, and not more than v1
// stores. Each one is changed and deleted alone.
func TestShippingAddresses(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	customer := numberOf(t, b.whole(t, ana()).Customer)
	add := func(a v1.ShippingAddressInput) command.Result {
		return b.whole(t, command.AddAddress{Customer: customer, Address: a})
	}
	first, second := add(addressTo("Ana", "1")), add(addressTo("Ana", "2"))
	if again := add(addressTo("Ana", "1")); again.Outcome != command.Repeated || again.Address.ID != first.Address.ID {
		t.Errorf("the first again: got %+v, want it repeated", again)
	}
	change := command.ChangeAddress{Customer: customer, Address: addressNumber(t, first), Body: addressTo("Ana", "2")}
	if r := b.whole(t, change); r.Outcome != command.Repeated || r.Address.ID != second.Address.ID {
		t.Errorf("a change to the second: got %+v, want it repeated", r)
	}
	change.Body = v1.ShippingAddressInput{LastName: new("Ruiz")}
	if r := b.whole(t, change); r.Outcome != command.Done || r.Address.ID != first.Address.ID ||
		v1.Text(r.Address.FirstName) != "" || v1.Text(r.Address.Phone) != "" || v1.Text(r.Address.LastName) != "Ruiz" {
		t.Errorf("a change: got %+v, want only the last name", r)
	}
	add(addressTo("Bo", "3"))
	if r := add(addressTo("Cy", "4")); r.Outcome != command.Unmet || r.Unmet != command.ConditionMost {
		t.Errorf("one too many: got %+v", r)
	}
	remove := command.DeleteAddress{Customer: customer, Address: addressNumber(t, first)}
	for _, want := range []command.Outcome{command.Done, command.NotFound} {
		if r := b.whole(t, remove); r.Outcome != want {
			t.Errorf("deleted: got %+v, want %s", r, want)
		}
	}
	if r := b.whole(t, change); r.Outcome != command.NotFound {
		t.Errorf("a change of a deleted one: got %+v", r)
	}
	other := command.AddAddress{Customer: "7777", Address: addressTo("Ana", "1")}
	if r := b.whole(t, other); r.Outcome != command.NotFound {
		t.Errorf("an unknown customer: got %+v", r)
	}
}

// TestShippingAddressAtOnce runs a request for an address between any two calls of another request
// for an equal one. One of them adds it.
func TestShippingAddressAtOnce(t *testing.T) {
	t.Parallel()
	for n, there := int32(1), true; there; n++ {
		b := setupCustomers(t)
		plain := b.server.Client().Transport
		first := command.AddAddress{Customer: numberOf(t, b.whole(t, ana()).Customer), Address: addressTo("Ana", "1")}
		second := first
		second.Address.Default = new(true) // which does not make it another one
		var between command.Result
		there = false
		r := b.impatient(t, &interrupted{RoundTripper: plain, n: n, then: func() {
			there, between = true, b.impatient(t, plain, second)
		}}, first)
		if there && (r.Outcome != command.Repeated || between.Outcome != command.Done ||
			addressNumber(t, r) != addressNumber(t, between)) {
			t.Errorf("call %d: got %+v and %+v, want the first one to find the other's", n, r, between)
		}
		if kept := *b.mustKeep(t).ShippingAddresses; len(kept) != 1 {
			t.Errorf("call %d: got %+v, want one address", n, kept)
		}
	}
}

// TestShippingAddressAgain: an address can be added again after each deletion, by a bounded number
// of calls, and after v1 has refused it.
func TestShippingAddressAgain(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	customer := numberOf(t, b.whole(t, ana()).Customer)
	add := func(phone string) command.Result {
		return b.whole(t, command.AddAddress{Customer: customer, Address: addressTo("Ana", phone)})
	}
	remove := func(number command.Number) {
		t.Helper()
		r := b.whole(t, command.DeleteAddress{Customer: customer, Address: number})
		if r.Outcome != command.Done {
			t.Fatalf("deletion: got %+v", r)
		}
	}
	for range 15 {
		before := b.v1.total()
		remove(addressNumber(t, add("1")))
		if calls := b.v1.total() - before; calls > 25 {
			t.Errorf("got %d calls, want at most 25", calls)
		}
	}
	first := addressNumber(t, add("2"))
	add("3")
	add("4")
	for range 2 {
		if r := add("5"); r.Unmet != command.ConditionMost {
			t.Errorf("one too many: got %+v", r)
		}
	}
	remove(first)
	if r := add("5"); r.Outcome != command.Done {
		t.Errorf("with room for it: got %+v, want it done", r)
	}
}

// TestNamedShippingAddress: requests with one name add one address, also after it was deleted, and
// after its customer was.
func TestNamedShippingAddress(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	customer := numberOf(t, b.whole(t, ana()).Customer)
	c := under("n", command.AddAddress{Customer: customer, Address: addressTo("Ana", "1")})
	first := b.whole(t, c)
	for _, then := range []command.Command{
		command.DeleteAddress{Customer: customer, Address: addressNumber(t, first)},
		command.DeleteCustomer{Customer: customer},
		command.GetCustomer{Customer: customer},
	} {
		again := b.whole(t, c)
		if again.Outcome != command.Done || !again.Replayed || addressNumber(t, again) != addressNumber(t, first) ||
			again.Customer.ID != first.Customer.ID {
			t.Errorf("before %T: got %+v, want the first address", then, again)
		}
		b.whole(t, then)
	}
}

// TestNamedShippingAddressAtOnce runs a request with the same name between any two calls of
// another. Both get the one address.
func TestNamedShippingAddressAtOnce(t *testing.T) {
	t.Parallel()
	for n, there := int32(1), true; there; n++ {
		b := setupCustomers(t)
		plain := b.server.Client().Transport
		customer := numberOf(t, b.whole(t, ana()).Customer)
		c := under("n", command.AddAddress{Customer: customer, Address: addressTo("Ana", "1")})
		there = false
		var between command.Result
		r := b.impatient(t, &interrupted{RoundTripper: plain, n: n, then: func() {
			there, between = true, b.impatient(t, plain, c)
		}}, c)
		if r.Outcome != command.Done || there && (between.Outcome != command.Done ||
			addressNumber(t, r) != addressNumber(t, between)) {
			t.Errorf("call %d: got %+v and %+v, want one address", n, r, between)
		}
	}
}

// TestNamedShippingAddressAfterRefusal: v1 refuses an address under a name, and makes it for a
// retry. Later retries get that address, also after its customer was deleted.
func TestNamedShippingAddressAfterRefusal(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	customer := numberOf(t, b.whole(t, ana()).Customer)
	var other command.Result
	for _, phone := range []string{"1", "2", "3"} {
		other = b.whole(t, command.AddAddress{Customer: customer, Address: addressTo("Ana", phone)})
	}
	c := under("n", command.AddAddress{Customer: customer, Address: addressTo("Ana", "4")})
	if r := b.whole(t, c); r.Unmet != command.ConditionMost {
		t.Fatalf("one too many: got %+v", r)
	}
	b.whole(t, command.DeleteAddress{Customer: customer, Address: addressNumber(t, other)})
	made := b.whole(t, c)
	for _, then := range []command.Command{
		command.DeleteCustomer{Customer: customer}, command.GetCustomer{Customer: customer},
	} {
		if r := b.whole(t, c); r.Outcome != command.Done || addressNumber(t, r) != addressNumber(t, made) {
			t.Errorf("before %T: got %+v, want %s", then, r, addressNumber(t, made))
		}
		b.whole(t, then)
	}
}

// TestWithoutCustomer: a command without the number of a customer finds none. It neither shows nor
// changes the oldest one.
func TestWithoutCustomer(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	b.whole(t, ana())
	add := command.AddAddress{Address: addressTo("Ana", "1")}
	for _, c := range []command.Command{
		add, under("n", add),
		command.ChangeAddress{Address: "1", Body: addressTo("Ana", "1")},
		command.GetCustomer{},
		command.GetMethod{},
	} {
		if r := b.whole(t, c); r.Outcome != command.NotFound {
			t.Errorf("%T: got %+v, want it not found", c, r)
		}
	}
	if kept := b.mustKeep(t); kept.ShippingAddresses != nil {
		t.Errorf("got %+v, want no address", *kept.ShippingAddresses)
	}
}

// TestCustomerWithAddresses: a customer that is made in several requests has each address once.
func TestCustomerWithAddresses(t *testing.T) {
	t.Parallel()
	for left := range 6 {
		b := setupCustomers(t)
		c := ana(visa)
		c.Addresses = []v1.ShippingAddressInput{addressTo("Ana", "1"), addressTo("Bo", "2")}
		b.make(t, &failing{left: left}, c)
		made := b.whole(t, c)
		if made.Customer == nil || made.Customer.ShippingAddresses == nil {
			t.Fatalf("after %d calls: got %+v", left, made)
		}
		if got := *made.Customer.ShippingAddresses; len(got) != 2 || *got[0].FirstName != "Ana" || *got[1].FirstName != "Bo" {
			t.Errorf("after %d calls: got %+v", left, got)
		}
	}
}

// TestCustomerWithTooManyAddresses: nothing is left of a customer whose addresses v1 refuses. The
// proxy crashes at each call to v1, and another one gets the request again.
func TestCustomerWithTooManyAddresses(t *testing.T) {
	t.Parallel()
	for _, cards := range [][]string{nil, {visa}} {
		for at := range 11 {
			for _, after := range []bool{false, true} {
				b := setupCustomers(t)
				c := ana(cards...)
				for _, phone := range []string{"1", "2", "3", "4"} {
					c.Addresses = append(c.Addresses, addressTo("Ana", phone))
				}
				b.make(t, &failing{left: at, after: after}, c)
				r := b.whole(t, c)
				if r.Outcome != command.Unmet || r.Unmet != command.ConditionMost {
					t.Errorf("%d cards, call %d, after v1 %t: got %+v, want too many", len(cards), at, after, r)
				}
				if kept, _ := b.v1.kept(); len(kept) > 0 {
					t.Errorf("%d cards, call %d, after v1 %t: kept %+v, want nothing", len(cards), at, after, kept)
				}
			}
		}
	}
}

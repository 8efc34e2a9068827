package api_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	office = `{"company":"ACME","address":{"line1":"1 Main St","city":"Bellevue"},"metadata":{"floor":"7"}}`
	home   = `{"first_name":"Ann","phone":"555","default":true}`
)

// MustShipTo gives a customer a shipping address.
func (b *bundle) MustShipTo(t *testing.T, customer, body string) v1.ShippingAddress {
	t.Helper()
	return MustDecode[v1.ShippingAddress](t, b.post(t, "/v1/customers/"+customer+"/shipping_addresses", body), 201)
}

// wantShipping compares the shipping addresses that a customer shows.
func (b *bundle) wantShipping(t *testing.T, customer string, want ...v1.ShippingAddress) {
	t.Helper()
	got := MustDecode[v1.Customer](t, b.get(t, "/v1/customers/"+customer), 200).ShippingAddresses
	if len(want) == 0 {
		if got != nil {
			t.Errorf("got %+v, want no shipping addresses", *got)
		}
		return
	}
	if got == nil {
		t.Fatalf("got no shipping addresses, want %+v", want)
	}
	wantSameJSON(t, *got, want)
}

// TestShippingAddress: each shipping address of a customer is made, read, changed and removed
// alone. Each change is a change of the customer, with its event.
func TestShippingAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	first, second := b.MustShipTo(t, customer, office), b.MustShipTo(t, customer, home)
	if *first.Company != "ACME" || *first.Address.City != "Bellevue" || first.Metadata["floor"] != "7" || first.Default ||
		first.Object != v1.ShippingAddressObjectShippingAddress || !second.Default || len(second.Metadata) != 0 {
		t.Errorf("got %+v and %+v", first, second)
	}
	b.wantShipping(t, customer, first, second)
	at := "/v1/customers/" + customer + "/shipping_addresses/"
	wantSameJSON(t, MustDecode[v1.ShippingAddress](t, b.get(t, at+second.ID), 200), second)

	changed := MustDecode[v1.ShippingAddress](t, b.do(t, "PATCH", at+first.ID,
		`{"company":"","last_name":"Lee","address":{"city":"Bonn"},"metadata":{"floor":"","door":"2"},"default":true}`), 200)
	first.Company, first.LastName, first.Default = nil, new("Lee"), true
	first.Address, first.Metadata = &v1.Address{City: new("Bonn")}, v1.Metadata{"door": "2"}
	second.Default = false
	wantSameJSON(t, changed, first)
	for _, same := range []string{"{}", `{"company":""}`, `{"default":true}`, `{"metadata":{"door":"2"}}`} {
		wantSameJSON(t, MustDecode[v1.ShippingAddress](t, b.do(t, "PATCH", at+first.ID, same), 200), first)
	}
	b.wantShipping(t, customer, first, second)
	MustDecode[v1.ShippingAddress](t, b.do(t, "PATCH", at+first.ID, `{"default":false,"address":{}}`), 200)
	first.Default, first.Address = false, nil
	b.wantShipping(t, customer, first, second)

	gone := MustDecode[v1.Deleted](t, b.do(t, "DELETE", at+first.ID, ""), 200)
	wantSameJSON(t, gone, v1.Deleted{ID: first.ID, Object: "shipping_address", Deleted: true})
	b.wantShipping(t, customer, second)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", at+second.ID, ""), 200)
	b.wantShipping(t, customer)

	want := []string{"customer.created 1"}
	for version := 2; version <= 7; version++ {
		want = append(want, "customer.updated "+strconv.Itoa(version))
	}
	if got := b.events(t, numberOf(t, id.Customer, customer)); !slices.Equal(got, want) {
		t.Errorf("events: got %v, want %v", got, want)
	}
}

// TestShippingAddressRefused: an address is found only under its own customer, and its fields are
// checked.
func TestShippingAddressRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer, other := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	address := b.MustShipTo(t, customer, office).ID
	notFound := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "shipping_address"}
	for _, path := range []string{
		"/v1/customers/" + other + "/shipping_addresses/" + address,
		"/v1/customers/" + customer + "/shipping_addresses/" + id.Format(id.ShippingAddress, 1),
		"/v1/customers/" + customer + "/shipping_addresses/" + customer,
	} {
		for _, got := range []response{b.get(t, path), b.do(t, "PATCH", path, "{}"), b.do(t, "DELETE", path, "")} {
			wantRefusal(t, got, notFound)
		}
	}
	noCustomer := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	path := "/v1/customers/" + id.Format(id.Customer, 1) + "/shipping_addresses"
	for _, got := range []response{
		b.post(t, path, "{}"), b.get(t, path+"/"+address), b.do(t, "PATCH", path+"/"+address, "{}"), b.do(t, "DELETE", path+"/"+address, ""),
	} {
		wantRefusal(t, got, noCustomer)
	}
	long := strings.Repeat("x", 101)
	for body, param := range map[string]string{
		`{"city":"` + long + `"}`: "address.city", `{"line1":"` + strings.Repeat("x", 256) + `"}`: "address.line1",
	} {
		wantRefusal(t, b.post(t, "/v1/customers/"+customer+"/shipping_addresses", `{"address":`+body+"}"),
			invalid("invalid_value", param))
	}
	wantRefusal(t, b.post(t, "/v1/customers/"+customer+"/shipping_addresses", `{"first_name":"`+long+`"}`),
		invalid("invalid_value", "first_name"))
	wantRefusal(t, b.do(t, "PATCH", "/v1/customers/"+customer+"/shipping_addresses/"+address, `{"metadata":{"":"x"}}`),
		invalid("invalid_value", "metadata"))
}

// TestManyShippingAddresses: a customer has at most 100 shipping addresses, and together with its
// other fields they have at most the length of a body.
func TestManyShippingAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tooMany := refusal{409, v1.ErrorTypeInvalidRequestError, "too_many_shipping_addresses", "id"}
	full := b.MustCustomer(t, "{}").ID
	path := "/v1/customers/" + full + "/shipping_addresses"
	first := b.MustShipTo(t, full, "{}")
	for range 99 {
		b.MustShipTo(t, full, "{}")
	}
	wantRefusal(t, b.post(t, path, "{}"), tooMany)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", path+"/"+first.ID, ""), 200)
	b.MustShipTo(t, full, "{}")

	entries := make([]string, 45)
	for i := range entries {
		entries[i] = `"` + strconv.Itoa(i) + `":"` + strings.Repeat("é", 500) + `"`
	}
	long := `{"metadata":{` + strings.Join(entries, ",") + `}}`
	customer := b.MustCustomer(t, "{}").ID
	path = "/v1/customers/" + customer + "/shipping_addresses"
	for range (256 << 10) / len(long) {
		b.MustShipTo(t, customer, long)
	}
	wantRefusal(t, b.post(t, path, long), tooMany)
	wantRefusal(t, b.do(t, "PATCH", "/v1/customers/"+customer, long), tooMany)
}

// TestShippingAddressErased: the deletion of a customer erases its shipping addresses, also in its
// events.
func TestShippingAddressErased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	address := b.MustShipTo(t, customer, office).ID
	const stored = `SELECT (SELECT COUNT(*) FROM customers WHERE details LIKE '%Bellevue%')
		+ (SELECT COUNT(*) FROM events WHERE data LIKE '%Bellevue%')`
	if got := b.number(t, stored); got != 2 {
		t.Fatalf("got %d rows with the address, want 2", got)
	}
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	if got := b.number(t, stored); got != 0 {
		t.Errorf("got %d rows with the address, want none", got)
	}
	wantRefusal(t, b.get(t, "/v1/customers/"+customer+"/shipping_addresses/"+address),
		refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
}

// TestShippingAddressOnce: requests with one Idempotency-Key make one address, and get it as it
// was.
func TestShippingAddressOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	path := "/v1/customers/" + customer + "/shipping_addresses"
	made := MustDecode[v1.ShippingAddress](t, b.do(t, "POST", path, office, keyed("k-1")), 201)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", path+"/"+made.ID, ""), 200)
	wantSameJSON(t, MustDecode[v1.ShippingAddress](t, b.do(t, "POST", path, office, keyed("k-1")), 201), made)
	b.wantShipping(t, customer)
}

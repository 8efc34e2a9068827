package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// MustCustomer makes a customer.
func (b *bundle) MustCustomer(t *testing.T, body string) v1.Customer {
	t.Helper()
	return MustDecode[v1.Customer](t, b.post(t, "/v1/customers", body), 201)
}

// write changes the database directly, without the service.
func (b *bundle) write(t *testing.T, statement string) {
	t.Helper()
	b.database.MustExec(t, statement)
}

// numberOf returns the integer in an id.
func numberOf(t *testing.T, prefix id.Prefix, name string) int64 {
	t.Helper()
	n, err := id.Parse(prefix, name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// events returns the types of all events of one object in their order, each with its sequence.
func (b *bundle) events(t *testing.T, object int64) []string {
	t.Helper()
	rows, err := b.inspect.QueryContext(t.Context(), "SELECT type || ' ' || sequence FROM events WHERE object_id = ? ORDER BY id", object)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var out []string
	for rows.Next() {
		var e string
		if err := rows.Scan(&e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// wantSameJSON compares two values by the JSON that a client would read.
func wantSameJSON(t *testing.T, got, want any) {
	t.Helper()
	g, err := json.Marshal(got, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("got %s\nwant %s", g, w)
	}
}

const ann = `{"first_name":"Ann","last_name":"Payer","company":"ACME","email":"ann@example.com","phone":"+1 555 0100",
	"reference":"c-7","description":"Größe 42 👟","metadata":{"a":"b"},
	"billing":{"first_name":"Ann","address":{"line1":"1 Main St","postal_code":"98004","country":"US"}}}`

func TestCustomer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.MustCustomer(t, ann)
	if *made.FirstName != "Ann" || *made.Reference != "c-7" || *made.Description != "Größe 42 👟" || made.Metadata["a"] != "b" ||
		*made.Billing.Address.PostalCode != "98004" || made.Version != 1 || made.Mode != v1.ModeTest {
		t.Errorf("got %+v", made)
	}
	path := "/v1/customers/" + made.ID
	wantSameJSON(t, MustDecode[v1.Customer](t, b.get(t, path), 200), made)

	b.clock.Advance(time.Minute)
	changed := MustDecode[v1.Customer](t, b.do(t, "PATCH", path, `{"email":"new@example.com","phone":"","billing":{},"metadata":{"c":"d"}}`), 200)
	want := made
	email := "new@example.com"
	want.Email, want.Phone, want.Billing, want.Metadata, want.Version = &email, nil, nil, v1.Metadata{"a": "b", "c": "d"}, 2
	want.UpdatedAt = v1.Time{Time: birth.Add(time.Minute)}
	wantSameJSON(t, changed, want)

	b.clock.Advance(time.Minute)
	for _, same := range []string{"{}", `{"email":"new@example.com"}`, `{"phone":""}`, `{"metadata":{}}`, `{"metadata":{"c":"d","x":""}}`} {
		wantSameJSON(t, MustDecode[v1.Customer](t, b.do(t, "PATCH", path, same), 200), want)
	}
	emptied := MustDecode[v1.Customer](t, b.do(t, "PATCH", path, `{"metadata":{"a":"","c":""}}`), 200)
	if len(emptied.Metadata) != 0 || emptied.Version != 3 {
		t.Errorf("got %+v", emptied)
	}

	gone := MustDecode[v1.Deleted](t, b.do(t, "DELETE", path, ""), 200)
	wantSameJSON(t, gone, v1.Deleted{ID: made.ID, Object: "customer", Deleted: true})
	notFound := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	for _, a := range []response{b.get(t, path), b.do(t, "PATCH", path, "{}"), b.do(t, "DELETE", path, ""), b.get(t, path+"/payment_methods")} {
		wantRefusal(t, a, notFound)
	}
	if got, want := b.events(t, numberOf(t, id.Customer, made.ID)), []string{"customer.created 1", "customer.updated 2", "customer.updated 3", "customer.deleted 4"}; !slices.Equal(got, want) {
		t.Errorf("events: got %v, want %v", got, want)
	}
}

func TestCustomerReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/customers", ann, keyed("k"))
	made := MustDecode[v1.Customer](t, first, 201)
	MustDecode[v1.Customer](t, b.do(t, "PATCH", "/v1/customers/"+made.ID, `{"email":""}`), 200)
	wantReplay(t, b.post(t, "/v1/customers", ann, keyed("k")), first)
	wantKeyReused(t, b.post(t, "/v1/customers", "{}", keyed("k")))
	if got := b.number(t, "SELECT COUNT(*) FROM customers"); got != 1 {
		t.Errorf("got %d customers, want 1", got)
	}
}

func TestCustomerList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for range 8 {
		want = slices.Insert(want, 0, b.MustCustomer(t, "{}").ID)
	}
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+want[3], ""), 200)
	b.walk(t, "/v1/customers?", slices.Delete(want, 3, 4))
	other := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	if got := MustDecode[page](t, b.get(t, "/v1/customers", other), 200); len(got.Data) != 0 {
		t.Errorf("another tenant sees %d", len(got.Data))
	}
}

func TestBadCustomers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := func(n int) string { return strings.Repeat("x", n) }
	var cases []badInput
	for name, limit := range map[string]int{
		"first_name": 100, "last_name": 100, "company": 100, "email": 255, "phone": 40, "reference": 255, "description": 1000,
	} {
		MustDecode[v1.Customer](t, b.post(t, "/v1/customers", fmt.Sprintf(`{%q:%q}`, name, long(limit))), 201)
		cases = append(cases,
			badInput{name + " too long", fmt.Sprintf(`{%q:%q}`, name, long(limit+1)), invalid("invalid_value", name), nil},
			badInput{name + " null", fmt.Sprintf(`{%q:null}`, name), invalid("invalid_type", name), nil},
			badInput{name + " a number", fmt.Sprintf(`{%q:7}`, name), invalid("invalid_type", name), nil})
	}
	cases = append(cases,
		badInput{"another field", `{"name":"Ann"}`, invalid("unknown_field", "name"), nil},
		badInput{"a field of billing", `{"billing":{"address":{"postal_code":"` + long(21) + `"}}}`, invalid("invalid_value", "billing.address.postal_code"), nil},
		badInput{"addresses", `{"shipping_addresses":[]}`, invalid("unknown_field", "shipping_addresses"), nil},
		badInput{"metadata", `{"metadata":{"":"x"}}`, invalid("invalid_value", "metadata"), nil},
	)
	b.wantRefused(t, "/v1/customers", cases)
	path := "/v1/customers/" + b.MustCustomer(t, ann).ID
	was := b.get(t, path)
	for _, c := range cases {
		wantRefusal(t, b.do(t, "PATCH", path, c.body), c.want)
	}
	if got := b.get(t, path); string(got.body) != string(was.body) {
		t.Errorf("a refused change changed: got %s, want %s", got.body, was.body)
	}
}

// TestCustomerChangedAtOnce: no change is lost.
func TestCustomerChangedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/customers/" + b.MustCustomer(t, "{}").ID
	fields := []string{"first_name", "last_name", "company", "email", "phone", "reference", "description"}
	done := make(chan error, len(fields))
	for _, f := range fields {
		go func() {
			_, err := b.try(t, "PATCH", path, `{"`+f+`":"x"}`)
			done <- err
		}()
	}
	for range fields {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	got := MustDecode[v1.Customer](t, b.get(t, path), 200)
	for i, f := range []*string{got.FirstName, got.LastName, got.Company, got.Email, got.Phone, got.Reference, got.Description} {
		if f == nil {
			t.Errorf("%s was lost", fields[i])
		}
	}
	if got, want := got.Version, int64(len(fields)+1); got != want {
		t.Errorf("version: got %d, want %d", got, want)
	}
}

// customers lists the first names that a query finds, newest first.
func (b *bundle) customers(t *testing.T, query string, options ...option) string {
	t.Helper()
	var names []string
	for _, c := range MustDecode[v1.CustomerList](t, b.get(t, "/v1/customers?"+query, options...), 200).Data {
		names = append(names, *c.FirstName)
	}
	return strings.Join(names, " ")
}

func TestCustomerFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, c := range []string{
		`"reference":"c-7","email":"ann@example.com"`, `"reference":"c-7","email":"Ann@example.com"`, `"reference":"c-70"`,
		`"email":"ann@example.com"`, `"reference":"größe 👟 100%"`, `"metadata":{"reference":"c-7"}`,
	} {
		b.MustCustomer(t, fmt.Sprintf(`{"first_name":"%d",%s}`, i, c))
	}
	for query, want := range map[string]string{
		"reference=c-7":                                "1 0",
		"email=ann@example.com":                        "3 0",
		"email=ANN@example.com":                        "",
		"reference=c-7&email=Ann@example.com":          "1",
		"reference=c-70&email=ann@example.com":         "",
		"reference=c":                                  "",
		"reference=" + url.QueryEscape("größe 👟 100%"): "4",
		"reference=" + url.QueryEscape("größe 👟 %"):    "",
		"reference=c-7&limit=1":                        "1",
		"":                                             "5 4 3 2 1 0",
	} {
		if got := b.customers(t, query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	all := MustDecode[v1.CustomerList](t, b.get(t, "/v1/customers?reference=c-7"), 200).Data
	if got := b.customers(t, "reference=c-7&starting_after="+all[0].ID); got != "0" {
		t.Errorf("the next page: got %q", got)
	}
	stranger := coretest.MustCreateMerchant(t, b.core.Admin())
	key := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: stranger, Mode: "test", Kind: "secret"}))
	if got := b.customers(t, "reference=c-7", key); got != "" {
		t.Errorf("another merchant finds %q", got)
	}
	MustDecode[v1.Customer](t, b.do(t, "PATCH", "/v1/customers/"+all[0].ID, `{"reference":"c-8"}`), 200)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+all[1].ID, ""), 200)
	if got := b.customers(t, "reference=c-7"); got != "" {
		t.Errorf("renamed and deleted ones: got %q", got)
	}
	if got := b.customers(t, "reference=c-8"); got != "1" {
		t.Errorf("renamed: got %q", got)
	}
	for _, query := range []string{"reference=", "email=", "email=" + strings.Repeat("x", 256), "reference=" + strings.Repeat("x", 256)} {
		name, _, _ := strings.Cut(query, "=")
		wantRefusal(t, b.get(t, "/v1/customers?"+query), invalid("invalid_value", name))
	}
	wantRefusal(t, b.get(t, "/v1/customers?phone=1"), invalid("unknown_parameter", "phone"))
}

// TestCustomersAreLookedUpSQLite: lookups of customers use an index.
func TestCustomersAreLookedUpSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for column, index := range map[string]string{"reference": "customers_by_reference", "email": "customers_by_email"} {
		for _, order := range []string{"AND id < 9 ORDER BY id DESC LIMIT 3", "AND id > 9 ORDER BY id LIMIT 3", "ORDER BY id DESC LIMIT 3"} {
			var one, two, three int
			var plan string
			query := "EXPLAIN QUERY PLAN SELECT id, details FROM customers WHERE merchant_id = ? AND live = ? AND deleted_at = 0 AND details ->> '$." + column + "' = ? " + order
			if err := b.inspect.QueryRowContext(t.Context(), query, 1, 0, "x").Scan(&one, &two, &three, &plan); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(plan, "USING INDEX "+index) {
				t.Errorf("%s %s: got %q", column, order, plan)
			}
		}
	}
}

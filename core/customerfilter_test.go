package core_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

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
	stranger := MustCreateMerchant(t, b.core.Admin())
	key := as(MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: stranger, Mode: "test", Kind: "secret"}))
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

// TestCustomersAreLookedUpSQLite: by an index, not by reading all of them.
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

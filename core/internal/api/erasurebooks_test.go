package api_test

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keptFields are the fields of a payment that its erasure keeps. personalOf are the fields that it
// removes.
const (
	keptFields = `,"reference":"order 7","statement_descriptor":"SHOP",
		"order":{"purchase_order_number":"PO1","tax_amount":2,"shipping_amount":5}`
	personalOf = `,"billing":{"first_name":"Erika"},"shipping":{"first_name":"Erika"},"description":"for Erika",
		"metadata":{"name":"Erika"},"three_d_secure":{"eci":"05","cavv":"AAABBEg0VhI0VniQEjRWAAAAAAA=","version":"2.2.0"}`
)

// rowsOf reads all rows of a table: by id, the values by column.
func (b *bundle) rowsOf(t *testing.T, table string) map[string]string {
	t.Helper()
	rows, err := b.inspect.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, column := range columns {
			out[values[0].String+"."+column] = fmt.Sprint(values[i])
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// fieldsOf lists the values of a JSON text by their paths.
func fieldsOf(t *testing.T, text []byte) map[string]string {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"."+name, member)
			}
		case []any:
			for i, member := range v {
				walk(fmt.Sprintf("%s.%d", path, i), member)
			}
		default:
			out[strings.TrimPrefix(path, ".")] = fmt.Sprint(v)
		}
	}
	walk("", value)
	return out
}

// changed lists the names with different values. With cut, it omits the first part of each name.
func changed(before, after map[string]string, cut bool) []string {
	names := map[string]bool{}
	for _, all := range []map[string]string{before, after} {
		for name := range all {
			was, had := before[name]
			is, has := after[name]
			if was == is && had == has {
				continue
			}
			if _, rest, found := strings.Cut(name, "."); cut && found {
				name = rest
			}
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// TestErasureLeavesTheBooks erases a captured, a voided and a declined payment, a refund and an
// unlinked refund. Exactly the personal fields of the responses and the columns with personal data
// change. Amounts, currencies, states, times, results of the acquirer and API keys stay.
func TestErasureLeavesTheBooks(t *testing.T) {
	t.Parallel()
	b, one, _, _ := setupSenders(t)
	customer := b.MustCustomer(t, "{}").ID
	source := b.MustAttach(t, customer, strings.Replace(visa, "A. Payer", "Erika", 1)).ID
	paying := func(more string) response {
		return b.post(t, "/v1/transactions", paid(source, `,"customer":"`+customer+`"`+keptFields+personalOf+more), from(one))
	}
	captured := MustDecode[v1.Transaction](t, paying(manual), 201).ID
	MustDecode[v1.Capture](t, b.capture(t, captured, `{"amount":40,"final":true,"metadata":{"name":"Erika"}}`, from(one)), 201)
	b.settle(t, captured)
	refund := MustDecode[v1.Refund](t, b.refund(t, captured, `,"amount":10,"reason":"requested_by_customer","reference":"r1",
		"metadata":{"name":"Erika"}`, from(one)), 201).ID
	voided := MustDecode[v1.Transaction](t, paying(manual), 201).ID
	MustDecode[v1.Transaction](t, b.void(t, voided, from(one)), 200)
	declined := strings.Replace(create(131313, keptFields+personalOf), "pm_card_visa", "pm_card_declined", 1)
	if got := b.post(t, "/v1/transactions", declined, from(one)); got.status != 402 {
		t.Fatalf("got %d %s, want a decline", got.status, got.body)
	}
	unlinked := MustDecode[v1.Refund](t, b.post(t, "/v1/refunds",
		giving(500, "usd", "pm_card_visa", `,"reference":"u1","metadata":{"name":"Erika"}`), from(one)), 201).ID
	for more := true; more; { // the refunds settle before they are compared
		more = MustDecode[v1.SettlementRun](t, b.post(t, "/v1/test_helpers/settlement_runs", ""), 200).HasMore
	}
	shown := map[string][]string{
		"/v1/transactions/" + captured: {
			"billing.first_name", "card.fingerprint", "card.holder", "customer", "description", "metadata.name", "payment_method",
			"shipping.first_name", "three_d_secure.eci", "three_d_secure.version",
		},
		"/v1/transactions/" + captured + "/captures": {"data.0.metadata.name"},
		"/v1/refunds/" + refund:                      {"metadata.name"},
		"/v1/refunds/" + unlinked:                    {"card.fingerprint", "metadata.name"},
	}
	shown["/v1/transactions/"+voided] = shown["/v1/transactions/"+captured]
	columns := map[string][]string{
		"transactions": {"client_address", "details", "erased_at", "payment_method", "void_client_address"},
		"captures":     {"client_address", "details"},
		"refunds":      {"client_address", "customer", "details"},
		"events":       {"data"},
	}
	b.stop(t) // background passes may not change a row from here on
	rows := map[string]map[string]string{}
	for table := range columns {
		rows[table] = b.rowsOf(t, table)
	}
	b.start(t)
	fields := map[string]map[string]string{}
	for path := range shown {
		fields[path] = fieldsOf(t, b.get(t, path).body)
	}
	b.clock.Advance(2 * core.LeastKeepPersonal)
	b.keepPersonal = core.LeastKeepPersonal
	b.again(t)
	programtest.WaitFor(t, "the personal data are erased", func() bool { // the stored payment method keeps the holder's name
		return b.number(t, `SELECT (SELECT COUNT(*) FROM transactions WHERE details LIKE '%Erika%')
			+ (SELECT COUNT(*) FROM captures WHERE details LIKE '%Erika%')
			+ (SELECT COUNT(*) FROM refunds WHERE details LIKE '%Erika%')
			+ (SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%' AND type NOT LIKE 'payment_method.%')`) == 0
	})
	for path, want := range shown {
		if got := changed(fields[path], fieldsOf(t, b.get(t, path).body), false); !slices.Equal(got, want) {
			t.Errorf("%s: changed %v, want %v", path, got, want)
		}
	}
	for table, want := range columns {
		if got := changed(rows[table], b.rowsOf(t, table), true); !slices.Equal(got, want) {
			t.Errorf("%s: changed %v, want %v", table, got, want)
		}
	}
}

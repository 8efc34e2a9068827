package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// badInput is a request that must be refused and leave the store as it was.
type badInput struct {
	name, body string
	want       refusal
	options    []option
}

// invalid returns a refusal of the request itself.
func invalid(code, param string) refusal {
	return refusal{400, v1.ErrorTypeInvalidRequestError, code, param}
}

// wantRefused sends every case to path and compares the store's row counts around all of them. Some
// of the refusals are stored under their idempotency keys.
func (b *bundle) wantRefused(t *testing.T, path string, cases []badInput) {
	t.Helper()
	before := b.effects(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			key := keyed(fmt.Sprint("bad input ", i))
			wantRefusal(t, b.post(t, path, c.body, append([]option{key}, c.options...)...), c.want)
			if got, want := b.effects(t), before; got != want {
				t.Fatalf("rows: got %s, want %s", got, want)
			}
		})
	}
}

func TestBadCredentials(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bearer := "Bearer " + b.key
	wrong := refusal{401, v1.ErrorTypeAuthenticationError, "invalid_api_key", ""}
	var cases []badInput
	for name, lines := range map[string][]string{
		"missing":            nil,
		"empty":              {""},
		"no token":           {"Bearer"},
		"garbage":            {"Bearer garbage"},
		"no scheme":          {b.key},
		"one character off":  {bearer[:len(bearer)-1] + "!"},
		"cut off":            {bearer[:len(bearer)-1]},
		"with more behind":   {bearer + "x"},
		"two tokens":         {bearer + " " + b.key},
		"unknown":            {"Bearer " + strangeKey(t)},
		"basic":              {"Basic " + b.key},
		"two lines":          {bearer, bearer},
		"two lines, one bad": {"Bearer x", bearer},
	} {
		cases = append(cases, badInput{name, create(1, ""), wrong, []option{header("Authorization", lines...)}})
	}
	b.wantRefused(t, "/v1/transactions", cases)
	a := b.get(t, "/v1/transactions", header("Authorization"))
	wantRefusal(t, a, wrong)
	if got, want := a.header.Get("WWW-Authenticate"), "Bearer"; got != want {
		t.Errorf("www-authenticate: got %q, want %q", got, want)
	}
	MustDecode[page](t, b.get(t, "/v1/transactions", header("Authorization", "bearer "+b.key)), 200)
}

// strangeKey returns a key of another service.
func strangeKey(t *testing.T) string {
	t.Helper()
	return setup(t).key
}

func TestBadBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	media := refusal{415, v1.ErrorTypeInvalidRequestError, "unsupported_media_type", "Content-Type"}
	packed := media
	packed.param = "Content-Encoding"
	deep := func(n int) string { return `{"x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	b.wantRefused(t, "/v1/transactions", []badInput{
		{"none", "", invalid("invalid_json", ""), nil},
		{"white space only", "  \n", invalid("invalid_json", ""), nil},
		{"not JSON", "amount=1", invalid("invalid_json", ""), nil},
		{"cut off", `{"amount":1`, invalid("invalid_json", ""), nil},
		{"trailing garbage", create(1, "") + "x", invalid("invalid_json", ""), nil},
		{"two objects", create(1, "") + create(2, ""), invalid("invalid_json", ""), nil},
		{"null", "null", invalid("invalid_json", ""), nil},
		{"an array", "[]", invalid("invalid_type", ""), nil},
		{"a text", `"x"`, invalid("invalid_type", ""), nil},
		{"a comment", `{/**/}`, invalid("invalid_json", ""), nil},
		{"a trailing comma", `{"amount":1,}`, invalid("invalid_json", ""), nil},
		{"a byte order mark", "\xef\xbb\xbf" + create(1, ""), invalid("invalid_json", ""), nil},
		{"invalid UTF-8", create(1, ",\"description\":\"\xff\""), invalid("invalid_json", ""), nil},
		{"half a surrogate pair", create(1, `,"description":"\ud800"`), invalid("invalid_json", ""), nil},
		{"33 levels", deep(33), invalid("invalid_json", ""), nil},
		{"32 levels", deep(32), invalid("unknown_field", "x"), nil},
		{"a bomb of brackets", strings.Repeat("[", 200_000), invalid("invalid_json", ""), nil},
		{"too many items", create(1, `,"order":{"line_items":[{}`+strings.Repeat(",{}", 5000)+`]}`), invalid("invalid_json", ""), nil},
		{"101 items", create(1, `,"order":{"line_items":[{}`+strings.Repeat(",{}", 100)+`]}`), invalid("invalid_value", "order.line_items"), nil},
		{"a field twice", create(1, `,"amount":2`), invalid("duplicate_field", "amount"), nil},
		{"a nested field twice", create(1, `,"metadata":{"a":"1","a":"2"}`), invalid("duplicate_field", "metadata.a"), nil},
		{"256 KiB and one byte", create(1, "") + strings.Repeat(" ", 256<<10+1-len(create(1, ""))), tooLarge(), nil},
		{"no content type", create(1, ""), media, []option{header("Content-Type")}},
		{"a form", create(1, ""), media, []option{header("Content-Type", "application/x-www-form-urlencoded")}},
		{"a text type", create(1, ""), media, []option{header("Content-Type", "text/json")}},
		{"a broken content type", create(1, ""), media, []option{header("Content-Type", "application/json; =")}},
		{"packed", "\x1f\x8b\x08", packed, []option{header("Content-Encoding", "gzip")}},
	})
}

func tooLarge() refusal {
	return refusal{413, v1.ErrorTypeInvalidRequestError, "body_too_large", ""}
}

func TestBodiesAtTheLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	exact := create(1, "") + strings.Repeat(" ", 256<<10-len(create(1, "")))
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", exact), 201)
	typed := header("Content-Type", "application/json; charset=utf-8")
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(1, ""), typed, header("Content-Encoding", "identity")), 201)
	before := b.rows(t)
	chunked := func(r *request) { r.chunked = true }
	wantRefusal(t, b.post(t, "/v1/transactions", exact+" ", chunked), tooLarge())
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
}

func TestBadFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := func(amount, currency, method string) string {
		return `{"amount":` + amount + `,"currency":` + currency + `,"payment_method":` + method + `}`
	}
	cases := []badInput{
		{"no field", `{}`, invalid("missing_field", "amount"), nil},
		{"unknown", create(1, `,"amounts":2`), invalid("unknown_field", "amounts"), nil},
		{"other case", create(1, `,"Amount":2`), invalid("unknown_field", "Amount"), nil},
		{"unknown, nested", create(1, `,"billing":{"address":{"zip":"1"}}`), invalid("unknown_field", "billing.address.zip"), nil},
		{"unknown, in a list", create(1, `,"order":{"line_items":[{"sku":1}]}`), invalid("unknown_field", "order.line_items.0.sku"), nil},
		{"no currency", `{"amount":1,"payment_method":"card"}`, invalid("missing_field", "currency"), nil},
		{"no payment method", `{"amount":1,"currency":"usd"}`, invalid("missing_field", "payment_method"), nil},
		{"empty payment method", body("1", `"usd"`, `""`), invalid("missing_field", "payment_method"), nil},
		{"unknown payment method", body("1", `"usd"`, `"pm_nobody"`), invalid("unknown_payment_method", "payment_method"), nil},
		{"long payment method", body("1", `"usd"`, `"`+strings.Repeat("p", 65)+`"`), invalid("invalid_value", "payment_method"), nil},
		{"card with a named method", create(1, `,"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}`), invalid("invalid_value", "card"), nil},
		{"capture of another kind", create(1, `,"capture":"later"`), invalid("invalid_value", "capture"), nil},
		{"capture true", create(1, `,"capture":true`), invalid("invalid_type", "capture"), nil},
		{"method as number", body("1", `"usd"`, `5`), invalid("invalid_type", "payment_method"), nil},
		{"metadata as text", create(1, `,"metadata":"x"`), invalid("invalid_type", "metadata"), nil},
		{"metadata of numbers", create(1, `,"metadata":{"k":1}`), invalid("invalid_type", "metadata.k"), nil},
		{"billing as list", create(1, `,"billing":[]`), invalid("invalid_type", "billing"), nil},
	}
	for _, amount := range []string{"0", "-1", "1.5", "1e2", "1.0", `"10"`, "null", "true", "{}", "1000000000000", "9223372036854775808", "-0", "1e400"} {
		cases = append(cases, badInput{"amount " + amount, body(amount, `"usd"`, `"card"`), invalid("invalid_amount", "amount"), nil})
	}
	for _, currency := range []string{`"USD"`, `"xyz"`, `"us"`, `"usd "`, `"840"`} {
		cases = append(cases, badInput{"currency " + currency, body("1", currency, `"card"`), invalid("unknown_currency", "currency"), nil})
	}
	for _, currency := range []string{"840", "null", "[]"} {
		cases = append(cases, badInput{"currency " + currency, body("1", currency, `"card"`), invalid("invalid_type", "currency"), nil})
	}
	b.wantRefused(t, "/v1/transactions", cases)
}

// TestNulls: no field of the contract takes null. If null counted as absent, "amount": null would
// mean the whole amount.
func TestNulls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	var cases []badInput
	for _, field := range []string{"capture", "card", "billing", "metadata", "reference", "order"} {
		cases = append(cases, badInput{field, create(1, `,"`+field+`":null`), invalid("invalid_type", field), nil})
	}
	b.wantRefused(t, "/v1/transactions", append(cases,
		badInput{"nested", create(1, `,"metadata":{"a":"null","b":null}`), invalid("invalid_type", "metadata.b"), nil},
		badInput{"in a list", create(1, `,"order":{"line_items":[null]}`), invalid("invalid_type", "order.line_items.0"), nil}))
	b.wantRefused(t, "/v1/transactions/"+txn+"/captures", []badInput{
		{"capture amount", `{"amount":null}`, invalid("invalid_amount", "amount"), nil},
		{"final", `{"amount":1,"final":null}`, invalid("invalid_type", "final"), nil},
	})
	MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":50,"reference":"null"}`), 201)
	b.wantRefused(t, "/v1/refunds", []badInput{
		{"refund amount", `{"transaction":"` + txn + `","amount":null}`, invalid("invalid_amount", "amount"), nil},
		{"refund transaction", `{"transaction":null}`, invalid("invalid_type", "transaction"), nil},
	})
}

func TestBadCards(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := func(card string) string {
		return `{"amount":1,"currency":"usd","payment_method":"card","card":{` + card + `}}`
	}
	valid := func(number, more string) string {
		return body(`"number":"` + number + `","exp_month":12,"exp_year":2030` + more)
	}
	expiry := func(month, year string) string {
		return body(`"number":"4242424242424242","exp_month":` + month + `,"exp_year":` + year)
	}
	number := invalid("invalid_card_number", "card.number")
	cvc := invalid("invalid_cvc", "card.cvc")
	cases := []badInput{
		{"no number", body(`"exp_month":12,"exp_year":2030`), invalid("missing_field", "card.number"), nil},
		{"number as number", body(`"number":4242424242424242,"exp_month":12,"exp_year":2030`), invalid("invalid_type", "card.number"), nil},
		{"no month", body(`"number":"4242424242424242","exp_year":2030`), invalid("missing_field", "card.exp_month"), nil},
		{"no year", body(`"number":"4242424242424242","exp_month":12`), invalid("missing_field", "card.exp_year"), nil},
		{"month 13", expiry("13", "2030"), invalid("invalid_value", "card.exp_month"), nil},
		{"month -1", expiry("-1", "2030"), invalid("invalid_value", "card.exp_month"), nil},
		{"month as text", expiry(`"12"`, "2030"), invalid("invalid_type", "card.exp_month"), nil},
		{"year of two digits", expiry("12", "30"), invalid("invalid_value", "card.exp_year"), nil},
		{"year 2100", expiry("12", "2100"), invalid("invalid_value", "card.exp_year"), nil},
		{"expired last month", expiry("10", "2026"), invalid("expired_card", "card.exp_year"), nil},
		{"expired years ago", expiry("12", "2020"), invalid("expired_card", "card.exp_year"), nil},
		{"unknown field", valid("4242424242424242", `,"pin":"1"`), invalid("unknown_field", "card.pin"), nil},
		{"long holder", valid("4242424242424242", `,"holder":"`+strings.Repeat("h", 256)+`"`), invalid("invalid_value", "card.holder"), nil},
	}
	for _, n := range []string{
		"4242424242424241", "42424242420", "00000000000", "42424242424242424242", "4242 4242 4242 4242", "4242-4242-4242-4242", "424242424242424a",
		"４２４２４２４２４２４２４２４２", " 4242424242424242",
	} {
		cases = append(cases, badInput{"number " + n, valid(n, ""), number, nil})
	}
	for _, c := range []string{"", "12", "1234", "12345", "12a", " 123", "１２３"} {
		cases = append(cases, badInput{"cvc " + c, valid("4242424242424242", `,"cvc":"`+c+`"`), cvc, nil})
	}
	cases = append(cases, badInput{"amex cvc of three", valid("378282246310005", `,"cvc":"123"`), cvc, nil})
	b.wantRefused(t, "/v1/transactions", cases)
}

func TestCardExpiresWhenItsMonthHasEndedEverywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := `{"amount":1,"currency":"usd","payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2026}}`
	b.clock.Set(time.Date(2027, time.January, 1, 11, 59, 59, 999e6, time.UTC))
	if a := b.post(t, "/v1/transactions", body); a.status == 400 {
		t.Errorf("in the last time zone of its month: got %s", a.body)
	}
	b.clock.Set(time.Date(2027, time.January, 1, 12, 0, 0, 0, time.UTC))
	b.wantRefused(t, "/v1/transactions", []badInput{{"after", body, invalid("expired_card", "card.exp_year"), nil}})
}

func TestFieldLengths(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	var cases []badInput
	fits := ""
	for param, limit := range map[string]int{"reference": 255, "description": 1000, "statement_descriptor": 22} {
		cases = append(cases, badInput{param, create(1, `,"`+param+`":`+long(limit+1)), invalid("invalid_value", param), nil})
		fits += `,"` + param + `":` + long(limit)
	}
	for param, limit := range map[string]int{"first_name": 100, "last_name": 100, "company": 100, "email": 255, "phone": 40} {
		body := create(1, `,"billing":{"`+param+`":`+long(limit+1)+`}`)
		cases = append(cases, badInput{"billing." + param, body, invalid("invalid_value", "billing."+param), nil})
	}
	for param, limit := range map[string]int{"line1": 255, "line2": 255, "city": 100, "state": 100, "postal_code": 20, "country": 60} {
		body := create(1, `,"shipping":{"address":{"`+param+`":`+long(limit+1)+`}}`)
		cases = append(cases, badInput{"shipping.address." + param, body, invalid("invalid_value", "shipping.address."+param), nil})
	}
	for param, limit := range map[string]int{"id": 64, "name": 255, "description": 1000} {
		body := create(1, `,"order":{"line_items":[{"name":"n","quantity":"1","unit_price":"1"},`+lineItem(param, long(limit+1))+`]}`)
		cases = append(cases, badInput{"line item " + param, body, invalid("invalid_value", "order.line_items.1."+param), nil})
	}
	b.wantRefused(t, "/v1/transactions", cases)
	b.MustCreate(t, 1, fits)
}

// lineItem returns a line item with one field of the test.
func lineItem(param, value string) string {
	fields := map[string]string{"name": `"n"`, "quantity": `"1"`, "unit_price": `"1"`}
	fields[param] = value
	var out []string
	for k, v := range fields {
		out = append(out, `"`+k+`":`+v)
	}
	return "{" + strings.Join(out, ",") + "}"
}

func TestMetadataAndOrderLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entries := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(`"k%d":"v"`, i))
		}
		return `,"metadata":{` + strings.Join(out, ",") + `}`
	}
	entry := func(key, value int) string {
		return `,"metadata":{"` + strings.Repeat("k", key) + `":"` + strings.Repeat("ü", value) + `"}`
	}
	items := func(n int, item string) string {
		return `,"order":{"line_items":[` + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + `]}`
	}
	good := lineItem("name", `"n"`)
	quantity, price := invalid("invalid_value", "order.line_items.0.quantity"), invalid("invalid_value", "order.line_items.0.unit_price")
	cases := []badInput{
		{"51 entries", create(1, entries(51)), invalid("invalid_value", "metadata"), nil},
		{"a key of 41", create(1, entry(41, 1)), invalid("invalid_value", "metadata"), nil},
		{"an empty key", create(1, entry(0, 1)), invalid("invalid_value", "metadata"), nil},
		{"a value of 501", create(1, entry(1, 501)), invalid("invalid_value", "metadata.k"), nil},
		{"101 line items", create(1, items(101, good)), invalid("invalid_value", "order.line_items"), nil},
		{"a line item without name", create(1, items(1, `{"quantity":"1","unit_price":"1"}`)), invalid("missing_field", "order.line_items.0.name"), nil},
		{"a negative tax", create(1, `,"order":{"tax_amount":-1}`), invalid("invalid_amount", "order.tax_amount"), nil},
		{"a fractional tax", create(1, `,"order":{"tax_amount":1.5}`), invalid("invalid_amount", "order.tax_amount"), nil},
		{"too much duty", create(1, `,"order":{"duty_amount":1000000000000}`), invalid("invalid_amount", "order.duty_amount"), nil},
		{"a long purchase order", create(1, `,"order":{"purchase_order_number":"`+strings.Repeat("p", 65)+`"}`), invalid("invalid_value", "order.purchase_order_number"), nil},
	}
	for _, q := range []string{"", "-1", "1.", ".5", "1.23456", "12345678901", "1e3", "one"} {
		cases = append(cases,
			badInput{"quantity " + q, create(1, items(1, lineItem("quantity", `"`+q+`"`))), quantity, nil},
			badInput{"price " + q, create(1, items(1, lineItem("unit_price", `"`+strings.Replace(q, "12345678901", "1234567890123", 1)+`"`))), price, nil})
	}
	b.wantRefused(t, "/v1/transactions", cases)
	b.MustCreate(t, 1, entries(50))
	b.MustCreate(t, 1, entry(40, 500)+items(100, good))
}

func TestBadSteps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":50}`), 201)
	long := strings.Repeat("x", 256)
	var captures, refunds []badInput
	for _, amount := range []string{"0", "-1", "1.5", "1e2", `"10"`, "true", "1000000000000", "9223372036854775808"} {
		want := invalid("invalid_amount", "amount")
		captures = append(captures, badInput{"amount " + amount, `{"amount":` + amount + `}`, want, nil})
		refunds = append(refunds, badInput{"amount " + amount, `{"transaction":"` + txn + `","amount":` + amount + `}`, want, nil})
	}
	bare := []badInput{
		{"a field", `{"amount":1}`, invalid("unknown_field", "amount"), nil},
		{"an array", `[]`, invalid("invalid_type", ""), nil},
		{"null", `null`, invalid("invalid_json", ""), nil},
		{"garbage", `x`, invalid("invalid_json", ""), nil},
	}
	b.wantRefused(t, "/v1/transactions/"+txn+"/void", bare)
	b.wantRefused(t, "/v1/test_helpers/transactions/"+txn+"/settle", bare)
	b.wantRefused(t, "/v1/transactions/"+txn+"/captures", append(captures,
		badInput{"unknown", `{"reason":"x"}`, invalid("unknown_field", "reason"), nil},
		badInput{"final as text", `{"final":"yes"}`, invalid("invalid_type", "final"), nil},
		badInput{"long reference", `{"reference":"` + long + `"}`, invalid("invalid_value", "reference"), nil},
		badInput{"metadata", `{"metadata":{"":"x"}}`, invalid("invalid_value", "metadata"), nil}))
	b.wantRefused(t, "/v1/refunds", append(refunds,
		badInput{"none", "", invalid("invalid_json", ""), nil},
		badInput{"no transaction", `{"amount":1}`, invalid("missing_field", "transaction"), nil},
		badInput{"unknown", `{"transaction":"` + txn + `","captures":"x"}`, invalid("unknown_field", "captures"), nil},
		badInput{"long reason", `{"transaction":"` + txn + `","reason":"` + long + `"}`, invalid("invalid_value", "reason"), nil},
		badInput{"long reference", `{"transaction":"` + txn + `","reference":"` + long + `"}`, invalid("invalid_value", "reference"), nil}))
	b.wantTransaction(t, txn, v1.TransactionStatusPartiallyCaptured, amounts{100, 50, 0, 50, 50})
}

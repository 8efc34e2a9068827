package plainjson_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/plainjson"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// sale is v1's response to a sale.
const sale = `{"id":"txn_38fwgpjdt1vby","object":"transaction","mode":"test","status":"captured","amount":2450,` +
	`"currency":"usd",` +
	`"amount_authorized":2450,"amount_captured":2450,"amount_refunded":0,"amount_capturable":0,"amount_refundable":2450,` +
	`"settlement":"pending","capture":"automatic","partial_authorization":"never","payment_method":"card",` +
	`"card":{"brand":"visa",` +
	`"last4":"1111","exp_month":12,"exp_year":2032,"fingerprint":"075c8a4e8a102c4e2842f0ae74e3512b"},` +
	`"checks":{"cvc":"match",` +
	`"address_line":"match","postal_code":"match"},"authorization":{"code":"U0LY0U",` +
	`"network_transaction_id":"I9ECET0CVBHKTLTNPWFUWOY",` +
	`"response_code":"00","balance":-5,"avs_result_code":"Y","cvc_result_code":"M"},"reference":"aaaa",` +
	`"description":"Two mugs","billing":` +
	`{"address":{"line1":"1 Elm St","postal_code":"98004"},"first_name":"Ana","last_name":"Ruiz"},` +
	`"metadata":{"client_reference":"ord-1001",` +
	`"b":""},"version":1,"created_at":"2026-11-21T05:12:59.357Z","updated_at":"2026-11-21T05:12:59.357Z"}`

// kind is a type that the executor reads responses into.
type kind struct {
	name string
	made func() any
}

func kinds() []kind {
	return []kind{
		{"Transaction", func() any { return new(v1.Transaction) }},
		{"TransactionList", func() any { return new(v1.TransactionList) }},
		{"Capture", func() any { return new(v1.Capture) }},
		{"Refund", func() any { return new(v1.Refund) }},
		{"Customer", func() any { return new(v1.Customer) }},
		{"CustomerList", func() any { return new(v1.CustomerList) }},
		{"PaymentMethod", func() any { return new(v1.PaymentMethod) }},
		{"Token", func() any { return new(v1.Token) }},
		{"APIKey", func() any { return new(v1.APIKey) }},
		{"IdempotencyKeyRecord", func() any { return new(v1.IdempotencyKeyRecord) }},
		{"ErrorBody", func() any { return new(v1.ErrorBody) }},
	}
}

// same holds Unmarshal to json.Unmarshal.
func same(t *testing.T, text string) {
	t.Helper()
	for _, k := range kinds() {
		got, want := k.made(), k.made()
		gotErr, wantErr := plainjson.Unmarshal([]byte(text), got), json.Unmarshal([]byte(text), want)
		if (gotErr == nil) != (wantErr == nil) || wantErr == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s of %s: got %+v, %v, want %+v, %v", k.name, text, got, gotErr, want, wantErr)
		}
	}
}

const twoSales = `{"data":[` + sale + `,` + sale + `],"has_more":true}`

// variants are documents that are just not plain, or just are.
func variants() []string {
	all := []string{"", "{", "{}", "[]", "null", `""`, "0", sale, sale + " ", sale + "}", " " + sale, twoSales}
	for _, pair := range [][2]string{
		{`2450`, `24.5`},
		{`2450`, `-0`},
		{`2450`, `00`},
		{`2450`, `-`},
		{`2450`, `2450e0`},
		{`2450`, `9223372036854775807`},
		{`2450`, `999999999999999999`},
		{`2450`, `9223372036854775808`},
		{`2450`, `"2450"`},
		{`2450`, `true`},
		{`2450`, `null`},
		{`"usd"`, `7`},
		{`"usd"`, `null`},
		{`"usd"`, `"\u0041"`},
		{`"usd"`, `"é"`},
		{`"usd"`, "\"\xff\""},
		{`"usd"`, "\"\x01\""},
		{`"usd"`, "\"\x7f\""},
		{`"usd"`, `""`},
		{`"usd"`, `"a`},
		{`"currency"`, `"amount"`},
		{`"amount_captured"`, `"amount_authorized"`},
		{`"currency"`, `"CURRENCY"`},
		{`"currency"`, `"unknown"`},
		{`"currency":`, `"currency" :`},
		{`"currency":`, `"currency"`},
		{`"b"`, `"client_reference"`},
		{`"b":""`, `"b":1`},
		{`,"b":""`, `,`},
		{`,"b":""`, ` ,"b":""`},
		{`"first_name":"Ana",`, `"first_name":null,`},
		{`2026-11-21`, `2026-13-21`},
		{`05:12:59.357Z`, `05:12:59+02:00`},
		{`05:12:59.357Z`, `5:12:59Z`},
		{`"2026-11-21T05:12:59.357Z"`, `1`},
		{`"exp_month":12`, `"exp_month":12345678901`},
		{`{"client_reference":"ord-1001","b":""}`, `{}`},
		{`{"client_reference":"ord-1001","b":""}`, `[]`},
		{`{"brand"`, `[{"brand"`},
		{`"visa"`, `"visa"}`},
	} {
		all = append(all, strings.Replace(sale, pair[0], pair[1], 1))
	}
	for i := range len(sale) {
		all = append(all, sale[:i])
	}
	return all
}

func TestSameAsTheGeneralDecoder(t *testing.T) {
	t.Parallel()
	for _, text := range variants() {
		same(t, text)
	}
}

// TestSaleIsPlain: the response to most requests is read without the general decoder, which makes
// many more allocations.
func TestSaleIsPlain(t *testing.T) {
	count := func(read func([]byte, any) error) float64 {
		return testing.AllocsPerRun(100, func() {
			if err := read([]byte(sale), new(v1.Transaction)); err != nil {
				t.Fatal(err)
			}
		})
	}
	plain := count(plainjson.Unmarshal)
	if want := 24.0; plain > want {
		t.Errorf("allocations: got %v, want at most %v", plain, want)
	}
}

func FuzzSameAsTheGeneralDecoder(f *testing.F) {
	for _, text := range variants()[:60] {
		f.Add(text)
	}
	f.Fuzz(same)
}

func BenchmarkSale(b *testing.B) {
	general := func(b []byte, v any) error { return json.Unmarshal(b, v) }
	for name, read := range map[string]func([]byte, any) error{"Plain": plainjson.Unmarshal, "General": general} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read([]byte(sale), new(v1.Transaction)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

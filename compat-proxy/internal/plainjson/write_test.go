package plainjson_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/plainjson"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// written are the types that the executor sends and that provider-b's responses have. Some others
// must be left to the general encoder.
func written() []kind {
	return append(
		kinds(),
		kind{"TransactionCreate", func() any { return new(v1.TransactionCreate) }},
		kind{"CaptureCreate", func() any { return new(v1.CaptureCreate) }},
		kind{"RefundCreate", func() any { return new(v1.RefundCreate) }},
		kind{"Answer", func() any { return new(wire.Answer) }},
		kind{"Details", func() any { return new(wire.Transaction) }},
		kind{"odd", func() any { return new(odd) }},
	)
}

// odd has members that the other types lack.
type odd struct {
	Zero   v1.Time            `json:"zero,omitzero"`
	Number int                `json:"number,omitempty"`
	Truth  bool               `json:"truth,omitempty"`
	Count  int                `json:"count,omitzero"`
	Inner  struct{ A, B int } `json:"inner,omitempty"`
	Map    map[string]string  `json:"map"`
	List   []string           `json:"list,omitempty"`
	Any    any                `json:"any,omitempty"`
	Secret secret.String      `json:"secret,omitempty"`
}

// alike compares Marshal and MarshalRevealed with the general encoder.
func alike(t *testing.T, name string, v any) {
	t.Helper()
	got, gotErr := plainjson.Marshal(v)
	want, wantErr := json.Marshal(v, json.Deterministic(true))
	// the general encoder has maps in any order
	if (gotErr == nil) != (wantErr == nil) || wantErr == nil && len(got) != len(want) {
		t.Errorf("%s: got %s, %v, want %s, %v", name, got, gotErr, want, wantErr)
	}
	got, gotErr = plainjson.MarshalRevealed(v)
	want, wantErr = v1.Marshal(v)
	if (gotErr == nil) != (wantErr == nil) || wantErr == nil && string(got) != string(want) {
		t.Errorf("%s, revealed: got %s, %v, want %s, %v", name, got, gotErr, want, wantErr)
	}
}

const (
	request = `{"amount":10221,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111",` +
		`"exp_month":12,"exp_year":2031,` +
		`"cvc":"123","holder":"Ana \"A\" L\u00f3pez\n"},"capture":"manual","reference":"","billing":{"first_name":"Ana",` +
		`"address":{}},` +
		`"metadata":{"b":"2","a":"1","\u00e9":"\u2028"}}`
	answered = `{"_links":{"self":{"href":"/pts/v2/payments/1","method":"GET"}},"id":"1","status":"AUTHORIZED",` +
		`"details":[{"field":"a","reason":"b"},` +
		`{"field":"","reason":""}],"clientReferenceInformation":{"code":"<A&B>"},"orderInformation":{"amountDetails":{}},` +
		`"paymentInformation":{}}`
	oddities = `{"zero":"2026-11-21T05:12:59.357Z","number":1,"truth":true,"count":1,"inner":{"A":1},"map":{"a":"b"},` +
		`"list":["a"],"any":[1]}`
)

func TestWritesAsTheGeneralEncoder(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{}", sale, request, answered, oddities, `{"data":[` + sale + `]}`} {
		for _, k := range written() {
			v := k.made()
			_ = json.Unmarshal([]byte(text), v) // the part that could be read is a value like any other
			alike(t, k.name, v)
			alike(t, k.name, reflect.ValueOf(v).Elem().Interface())
		}
	}
	bad := "\xff"
	for name, v := range map[string]any{
		"nil": nil, "text": "a", "no UTF-8": wire.Answer{ID: bad}, "no UTF-8 in a map": odd{Map: map[string]string{bad: ""}},
		"masked":   secret.New("4111"),
		"function": func() {}, "nil list": []string(nil), "nil map": odd{}, "quotes": wire.Answer{ID: `"\`},
		"control":      wire.Answer{ID: "\x01\x7f<>"},
		"secret in it": odd{Secret: secret.New("4111111111111111")},
	} {
		alike(t, name, v)
	}
}

// A secret shows only where it is meant to.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	number := "4111111111111111"
	body := v1.CardInput{Number: secret.New(number)}
	if got, err := plainjson.Marshal(body); err != nil || bytes.Contains(got, []byte(number)) {
		t.Errorf("got %s, %v, want the number masked", got, err)
	}
	if got, err := plainjson.MarshalRevealed(body); err != nil || !bytes.Contains(got, []byte(number)) {
		t.Errorf("got %s, %v, want the number", got, err)
	}
}

func FuzzWritesAsTheGeneralEncoder(f *testing.F) {
	for _, text := range []string{"{}", sale, request, answered, oddities} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range written() {
			v := k.made()
			_ = json.Unmarshal([]byte(text), v) // the part that could be read is a value like any other
			alike(t, k.name, v)
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	v := new(v1.TransactionCreate)
	if err := json.Unmarshal([]byte(request), v); err != nil {
		b.Fatal(err)
	}
	for name, write := range map[string]func(any) ([]byte, error){
		"Plain":   plainjson.MarshalRevealed,
		"General": v1.Marshal,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := write(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// lenient are unusual requests that real clients send, each with a field as the package reads it.
var lenient = []struct {
	name, body string
	get        func(*wire.Request) string
	want       string
}{
	{"Empty", ``, func(r *wire.Request) string { return string(r.ClientReference.Code) }, ""},
	{
		"EmptyObject", `{"processingInformation":{"authorizationOptions":{}}}`,
		func(r *wire.Request) string { return string(r.ClientReference.Code) }, "",
	},
	{"Null", `{"orderInformation":{"amountDetails":{"totalAmount":null}},"paymentInformation":null,` +
		`"merchantDefinedInformation":null}`, totalAmount, ""},
	{"KeyCase", `{"OrderInformation":{"AMOUNTDETAILS":{"totalamount":"1.00"}}}`, totalAmount, "1.00"},
	{
		"UnknownKeys", `{"orderInformation":{"kind":[{}],"amountDetails":{"totalAmount":"1.00"}},"more":{"a":[1]}}`,
		totalAmount, "1.00",
	},
	{"Number", `{"orderInformation":{"amountDetails":{"totalAmount":102.10}}}`, totalAmount, "102.10"},
	{
		"NumberExpiry", `{"paymentInformation":{"tokenizedCard":{"expirationMonth":9}}}`,
		func(r *wire.Request) string { return string(r.Payment.TokenizedCard.ExpirationMonth) }, "9",
	},
	{
		"Bool", `{"consumerAuthenticationInformation":{"veresEnrolled":true}}`,
		func(r *wire.Request) string { return string(r.ConsumerAuthentication.VERESEnrolled) }, "true",
	},
	{"FlagText", `{"processingInformation":{"capture":"TRUE"}}`, capture, "true"},
	{"FlagNumber", `{"processingInformation":{"capture":1}}`, capture, "true"},
	{"FlagNull", `{"processingInformation":{"capture":null}}`, capture, "false"},
	{"FlagZero", `{"processingInformation":{"capture":"0"}}`, capture, "false"},
	{"FlagEmpty", `{"processingInformation":{"capture":""}}`, capture, "false"},
	{"CompanyText", `{"orderInformation":{"billTo":{"company":"Acme"}}}`, company, "Acme"},
	{"CompanyNull", `{"orderInformation":{"billTo":{"company":null}}}`, company, ""},
	{
		"CompanyObject", `{"orderInformation":{"billTo":{"company":{"NAME":"Acme","address1":"1 Main St"}}}}`, company,
		"Acme",
	},
	{"CompanyEmptyObject", `{"orderInformation":{"billTo":{"company":{}}}}`, company, ""},
	{
		"PreviousTransactionID", `{"processingInformation":{"authorizationOptions":{"initiator":{` +
			`"merchantInitiatedTransaction":{"previousTransactionID":123}}}}}`,
		func(r *wire.Request) string {
			return string(r.Processing.AuthorizationOptions.Initiator.MerchantInitiated.PreviousTransactionID)
		}, "123",
	},
	{
		"Sequence", `{"processingInformation":{"captureOptions":{"captureSequenceNumber":"1","totalCaptureCount":2}}}`,
		func(r *wire.Request) string {
			return string(r.Processing.CaptureOptions.SequenceNumber + r.Processing.CaptureOptions.TotalCount)
		}, "12",
	},
	{
		"HiddenNumber", `{"paymentInformation":{"card":{"number":4111111111111111}}}`,
		func(r *wire.Request) string { return r.Payment.Card.Number.Reveal() }, "4111111111111111",
	},
}

func TestParseLenient(t *testing.T) {
	t.Parallel()
	for _, tt := range lenient {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := wire.Parse([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.get(r); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func totalAmount(r *wire.Request) string { return string(r.Order.AmountDetails.TotalAmount) }
func company(r *wire.Request) string     { return string(r.Order.BillTo.Company) }

func capture(r *wire.Request) string {
	if r.Processing.Capture {
		return "true"
	}
	return "false"
}

// TestParseRefuses has invalid requests, with the field that the refusal names.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, want string }{
		{"NotJSON", `<xml/>`, ""},
		{"Cut", `{"orderInformation":{`, ""},
		{"Trailing", `{} {}`, ""},
		{"Array", `[]`, ""},
		{"Text", `"x"`, ""},
		{"Null", `null`, ""},
		{
			"ObjectForText", `{"orderInformation":{"amountDetails":{"totalAmount":{"value":1}}}}`,
			"orderInformation.amountDetails.totalAmount",
		},
		{
			"ArrayForText", `{"orderInformation":{"amountDetails":{"currency":["USD"]}}}`,
			"orderInformation.amountDetails.currency",
		},
		{"TextForObject", `{"orderInformation":"x"}`, "orderInformation"},
		{"ObjectForArray", `{"orderInformation":{"lineItems":{}}}`, "orderInformation.lineItems"},
		{"InArray", `{"orderInformation":{"lineItems":[{},{"unitPrice":[]}]}}`, "orderInformation.lineItems.1.unitPrice"},
		{"ObjectForFlag", `{"processingInformation":{"capture":{}}}`, "processingInformation.capture"},
		{"ArrayForCompany", `{"orderInformation":{"billTo":{"company":[]}}}`, "orderInformation.billTo.company"},
		{"ObjectForNumber", `{"paymentInformation":{"card":{"number":{}}}}`, "paymentInformation.card.number"},
		{
			"Twice", `{"orderInformation":{"amountDetails":{"totalAmount":"1","totalAmount":"2"}}}`,
			"orderInformation.amountDetails.totalAmount",
		},
		{
			"TwiceInOtherCase", `{"orderInformation":{"amountDetails":{"totalAmount":"1","TotalAmount":"2"}}}`,
			"orderInformation.amountDetails.TotalAmount",
		},
		{"Deep", `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, ""},
		{"DeepWithStrings", `{"a\"[":"]]]]\\","b":` + strings.Repeat(`{"]":`, 40) + "1" + strings.Repeat("}", 40) + `}`, ""},
		{"TooManyItems", `{"orderInformation":{"lineItems":[{}` + strings.Repeat(",{}", 5000) + `]}}`, ""},
		{"InvalidUTF8", "{\"a\":\"\xff\"}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := wire.Parse([]byte(tt.body))
			var field *wire.FieldError
			if !errors.As(err, &field) {
				t.Fatalf("got error %v, want a FieldError", err)
			}
			if field.Field != tt.want {
				t.Errorf("got field %q, want %q", field.Field, tt.want)
			}
		})
	}
}

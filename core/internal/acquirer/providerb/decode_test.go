package providerb_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
)

// classOf decodes a response, and returns the class of its outcome.
func classOf(t *testing.T, status int, body, operation string) string {
	t.Helper()
	got, err := providerb.Decode(status, body, operation, 1000)
	switch {
	case errors.Is(err, acquirer.ErrUnavailable):
		return "no-effect"
	case errors.Is(err, acquirer.ErrUnknown):
		return "unknown"
	case err != nil:
		t.Fatal(err)
	}
	return got.Class
}

// bodies are responses with a code, by the place at which the provider sends it. The reason of a
// status is one that declines.
var bodies = map[string]struct {
	status int
	body   string
}{
	"status": {201, `{"id":"7345678901236789404951","status":%q,"errorInformation":{"reason":"GENERAL_DECLINE"},` +
		`"orderInformation":{"amountDetails":{"authorizedAmount":"10.00","currency":"USD"}}}`},
	"decline": {201, `{"id":"7345678901236789404951","status":"DECLINED","errorInformation":{"reason":%q}}`},
	"refusal": {400, `{"status":"INVALID_REQUEST","reason":%q,"message":"Declined"}`},
	"failure": {502, `{"status":"SERVER_ERROR","reason":%q,"message":"Error"}`},
}

// TestCodes: each code of the contract has the class that testdata/codes gives it, for each
// operation. The connector has no other code.
func TestCodes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/codes")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		place, name := words[0], words[1]
		listed[place] = append(listed[place], name)
		testCode(t, place, name, words[2:])
	}
	delete(listed, "failure")
	names := providerb.Names()
	for _, place := range slices.Sorted(maps.Keys(listed)) {
		slices.Sort(listed[place])
		slices.Sort(names[place])
		if !slices.Equal(listed[place], names[place]) {
			t.Errorf("%s: testdata has %q, and the table %q", place, listed[place], names[place])
		}
	}
}

// TestRetryable: only the declines of systems that were away are retryable.
func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"decline", "refusal"} {
		for _, name := range providerb.Names()[place] {
			got, err := providerb.Decode(bodies[place].status, fmt.Sprintf(bodies[place].body, name), "sale", 1000)
			want := place == "decline" && slices.Contains([]string{"ISSUER_UNAVAILABLE", "PROCESSOR_ERROR"}, name)
			if err == nil && got.Response.Retryable != want || err != nil && want {
				t.Errorf("%s %s: got %+v, %v, want retryable: %t", place, name, got, err, want)
			}
		}
	}
}

func testCode(t *testing.T, place, name string, words []string) {
	t.Helper()
	usual, special := "unknown", map[string]string{}
	for _, word := range words {
		operation, class, found := strings.Cut(word, "=")
		switch {
		case found:
			special[operation] = class
		case usual == "unknown":
			usual = word
		case providerb.DeclineCode(place, name) != word:
			t.Errorf("%s %s: decline code %q, want %q", place, name, providerb.DeclineCode(place, name), word)
		}
	}
	if usual == "reasoned" {
		usual = "declined" // by the reason of bodies
	}
	for _, operation := range providerb.Operations() {
		want, ok := special[operation]
		if !ok {
			want = usual
		}
		body := bodies[place].body
		if name == "PARTIAL_AUTHORIZED" {
			body = strings.Replace(body, "10.00", "9.99", 1)
		}
		if got := classOf(t, bodies[place].status, fmt.Sprintf(body, name), operation); got != want {
			t.Errorf("%s %s, %s: got %s, want %s", place, name, operation, got, want)
		}
	}
}

const authorized = `{"id":"1","status":"AUTHORIZED","orderInformation":{"amountDetails":` +
	`{"authorizedAmount":"10.00","currency":"USD"}}}`

var declinedBody = `{"id":"1","status":"DECLINED","errorInformation":{"reason":"GENERAL_DECLINE"}}`

// change returns the body of an approval with another text in it.
func change(from, to string) string { return strings.Replace(authorized, from, to, 1) }

// unknownResponses are responses after which the outcome is unknown.
var unknownResponses = map[string]struct {
	status    int
	body      string
	operation string
}{
	"empty":                  {201, "", "sale"},
	"no JSON":                {201, "<html>Created</html>", "sale"},
	"cut off":                {201, authorized[:len(authorized)-1], "sale"},
	"two values":             {201, authorized + "{}", "sale"},
	"array":                  {201, "[" + authorized + "]", "sale"},
	"repeated name":          {201, change(`"id":"1"`, `"id":"1","id":"2"`), "sale"},
	"deep":                   {201, strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000), "sale"},
	"status of another type": {201, change(`"AUTHORIZED"`, "1"), "sale"},
	"unknown status":         {201, change("AUTHORIZED", "AUTHORISED"), "sale"},
	"no status":              {201, change(`"status":"AUTHORIZED",`, ""), "sale"},
	"no id":                  {201, change(`"id":"1",`, ""), "sale"},
	"id with a slash":        {201, change(`"id":"1"`, `"id":"1/captures"`), "sale"},
	"long id":                {201, change(`"id":"1"`, `"id":"`+strings.Repeat("1", 65)+`"`), "sale"},
	"no amount":              {201, change(`"authorizedAmount":"10.00",`, ""), "sale"},
	"another amount":         {201, change("10.00", "10.01"), "sale"},
	"less":                   {201, change("10.00", "9.99"), "sale"},
	"more than a part":       {201, change("AUTHORIZED", "PARTIAL_AUTHORIZED"), "sale"},
	"no part":                {201, strings.Replace(change("AUTHORIZED", "PARTIAL_AUTHORIZED"), "10.00", "0", 1), "sale"},
	"below zero":             {201, change("10.00", "-10.00"), "sale"},
	"no amount of money":     {201, change("10.00", "ten"), "sale"},
	"another currency":       {201, change("USD", "EUR"), "sale"},
	"another reference":      {201, change(`"id"`, `"clientReferenceInformation":{"code":"other"},"id"`), "sale"},
	"another transaction":    {201, change(`"id"`, `"clientReferenceInformation":{"transactionId":"x"},"id"`), "sale"},
	"another's decline": {
		201, strings.Replace(declinedBody, `"id"`, `"clientReferenceInformation":{"code":"other"},"id"`, 1), "sale",
	},
	"unknown reason":        {201, strings.Replace(declinedBody, "GENERAL_", "SPECIAL_", 1), "sale"},
	"decline without one":   {201, `{"id":"1","status":"DECLINED"}`, "sale"},
	"HTTP 200":              {200, authorized, "sale"},
	"HTTP 202":              {202, authorized, "sale"},
	"redirect":              {307, `{}`, "sale"},
	"400 of a gateway":      {400, `{"message":"Bad Request"}`, "sale"},
	"400 of another status": {400, `{"status":"DECLINED","reason":"INVALID_DATA"}`, "sale"},
	"400, unknown reason":   {400, `{"status":"INVALID_REQUEST","reason":"STRANGE"}`, "sale"},
	"401 of a gateway":      {401, `{"message":"Unauthorized"}`, "sale"},
	"403":                   {403, `{"errors":[{"type":"FORBIDDEN"}]}`, "sale"},
	"404":                   {404, `{"message":"The requested resource does not exist"}`, "capture"},
	"408":                   {408, ``, "sale"},
	"409":                   {409, `{"status":"INVALID_REQUEST","reason":"INVALID_DATA"}`, "sale"},
	"429":                   {429, `{"message":"Too many requests"}`, "sale"},
	"500":                   {500, `{"status":"INVALID_REQUEST","reason":"INVALID_DATA"}`, "sale"},
	"503":                   {503, `{"status":"SERVER_ERROR","reason":"SYSTEM_ERROR"}`, "sale"},
	"refund of another amount": {
		201, `{"id":"1","status":"PENDING","refundAmountDetails":{"refundAmount":"1.00","currency":"USD"}}`, "refund",
	},
	"capture of another amount": {
		201, `{"id":"1","status":"PENDING","orderInformation":{"amountDetails":{"totalAmount":"1.00"}}}`, "capture",
	},
	"reversal of another amount": {
		201, `{"id":"1","status":"REVERSED","reversalAmountDetails":{"reversedAmount":"1.00"}}`, "reversal",
	},
	"credit with two amounts": {
		201, `{"id":"1","status":"PENDING","creditAmountDetails":{"creditAmount":"10.00"},` +
			`"orderInformation":{"amountDetails":{"totalAmount":"10.01"}}}`, "credit",
	},
}

// TestDecodeUnknown: a response that is not complete, that contradicts its request or that may come
// from another server leaves the outcome unknown.
func TestDecodeUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range unknownResponses {
		if got := classOf(t, c.status, c.body, c.operation); got != "unknown" {
			t.Errorf("%s: got %s, want unknown", name, got)
		}
	}
	if got := classOf(t, 201, authorized, "sale"); got != "approved" {
		t.Errorf("the unchanged response: got %s, want approved", got)
	}
	if got := classOf(t, 401, `{"response":{"rmsg":"Authentication Failed"}}`, "sale"); got != "no-effect" {
		t.Errorf("refused credentials: got %s, want no-effect", got)
	}
}

// responses are responses of the wire contract, and their outcomes.
var responses = map[string]struct {
	body, operation string
	amount          int64
	want            acquirer.Response
}{
	"authorization": {
		`{"id":"7345678901236789404951","status":"AUTHORIZED",` +
			`"orderInformation":{"amountDetails":{"authorizedAmount":"102.21","currency":"USD"}},` +
			`"processorInformation":{"approvalCode":"831000","responseCode":"00","networkTransactionId":"016150703802094",` +
			`"transactionLinkIdentifier":"MCC0000000010211130000"}}`,
		"authorize", 10221,
		acquirer.Response{
			Approved: true, ID: "7345678901236789404951", Code: "831000", NetworkTransactionID: "016150703802094",
			NetworkLinkID: "MCC0000000010211130000", ResponseCode: "00", Amount: 10221,
		},
	},
	"part": {
		`{"id":"2","status":"PARTIAL_AUTHORIZED","orderInformation":{"amountDetails":` +
			`{"totalAmount":"1000.00","authorizedAmount":"499.01","currency":"USD"}},"processorInformation":` +
			`{"approvalCode":"83100","responseCode":"10","transactionId":"016150703802096"},` +
			`"paymentInformation":{"accountFeatures":{"balanceAmount":"0.00","currency":"USD"}}}`,
		"sale", 100000,
		acquirer.Response{
			Approved: true, ID: "2", NetworkTransactionID: "016150703802096", ResponseCode: "00", Amount: 49901,
			Balance: acquirer.Balance{Given: true},
		},
	},
	"decline": {
		`{"id":"3","status":"DECLINED","errorInformation":{"reason":"INVALID_ACCOUNT"}}`,
		"sale", 100,
		acquirer.Response{
			ID: "3", DeclineCode: "card_not_supported", ResponseCode: "14", OwnCode: "INVALID_ACCOUNT",
			Network: acquirer.NetworkDecline{Given: true},
		},
	},
	"decline with the network's advice": {
		`{"id":"3","status":"DECLINED","errorInformation":{"reason":"PROCESSOR_DECLINED"},` +
			`"processorInformation":{"responseCode":"82","merchantAdvice":{"code":"03","codeRaw":"7903"}}}`,
		"sale", 100,
		acquirer.Response{
			ID: "3", DeclineCode: "generic_decline", ResponseCode: "82", OwnCode: "PROCESSOR_DECLINED",
			Network: acquirer.NetworkDecline{Given: true, Code: "82", Advice: "03"},
		},
	},
	"lost card without the network's code": {
		`{"id":"4","status":"DECLINED","errorInformation":{"reason":"STOLEN_LOST_CARD"}}`,
		"sale", 100,
		acquirer.Response{
			ID: "4", DeclineCode: "pickup_card", ResponseCode: "04", OwnCode: "STOLEN_LOST_CARD",
			Network: acquirer.NetworkDecline{Given: true, Code: "04"},
		},
	},
	"stolen card": {
		`{"id":"4","status":"201","errorInformation":{"reason":"STOLEN_LOST_CARD"},` +
			`"processorInformation":{"responseCode":"43"}}`,
		"sale", 100,
		acquirer.Response{
			ID: "4", DeclineCode: "stolen_card", ResponseCode: "43", OwnCode: "STOLEN_LOST_CARD",
			Network: acquirer.NetworkDecline{Given: true, Code: "43"},
		},
	},
	"decline with an approval's code": {
		`{"id":"5","status":"DECLINED","errorInformation":{"reason":"CV_FAILED"},` +
			`"processorInformation":{"responseCode":"00","approvalCode":"A1B2C3"}}`,
		"sale", 100,
		acquirer.Response{
			ID: "5", Code: "A1B2C3", DeclineCode: "incorrect_cvc", ResponseCode: "N7", OwnCode: "CV_FAILED",
			Network: acquirer.NetworkDecline{Given: true},
		},
	},
	"capture": {
		`{"id":"6","status":"PENDING","orderInformation":{"amountDetails":{"totalAmount":"60.00","currency":"usd"}}}`,
		"capture", 6000,
		acquirer.Response{Approved: true, ID: "6", ResponseCode: "00", Amount: 6000},
	},
	"verification": {
		`{"id":"7","status":"AUTHORIZED"}`, "authorize", 0, acquirer.Response{Approved: true, ID: "7", ResponseCode: "00"},
	},
	"reversed before": {
		`{"status":"INVALID_REQUEST","reason":"AUTH_ALREADY_REVERSED"}`,
		"reversal", 500,
		acquirer.Response{Approved: true, ResponseCode: "00", Amount: 500},
	},
}

// TestDecodeResponses decodes responses of the wire contract's examples.
func TestDecodeResponses(t *testing.T) {
	t.Parallel()
	for name, c := range responses {
		status := 201
		if strings.Contains(c.body, "INVALID_REQUEST") {
			status = 400
		}
		if got, err := providerb.Decode(status, c.body, c.operation, c.amount); err != nil || got.Response != c.want {
			t.Errorf("%s: got %+v and %v, want %+v", name, got.Response, err, c.want)
		}
	}
}

// FuzzDecode: no response is approved for another amount, or has an id that cannot be stored.
func FuzzDecode(f *testing.F) {
	f.Add(201, authorized, "sale", int64(1000))
	for _, c := range bodies {
		f.Add(c.status, fmt.Sprintf(c.body, "DECLINED"), "refund", int64(1000))
	}
	f.Fuzz(func(t *testing.T, status int, body, operation string, amount int64) {
		got, err := providerb.Decode(status, body, operation, amount)
		switch r := got.Response; {
		case err != nil && !errors.Is(err, acquirer.ErrUnknown) && !errors.Is(err, acquirer.ErrUnavailable):
			t.Errorf("an error of another class: %v", err)
		case err != nil && r.Approved:
			t.Errorf("an error with an approval: %v", err)
		case err == nil && r.Approved && (r.Amount > amount || r.ResponseCode != "00" || r.DeclineCode != ""):
			t.Errorf("approved: %+v of %d", r, amount)
		case err == nil && !r.Approved && (r.DeclineCode == "" || len(r.ResponseCode) != 2 || r.Amount != 0):
			t.Errorf("declined: %+v", r)
		case len(r.ID) > 64, len(r.NetworkTransactionID) > 64, r.Code != "" && len(r.Code) != 6:
			t.Errorf("a text of another form: %+v", r)
		}
	})
}

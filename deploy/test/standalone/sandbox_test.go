package standalone_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// dialectResponse has the fields of a provider-a response that the tests read.
type dialectResponse struct {
	body     string
	Response struct {
		Code        string `json:"responseCode"`
		AuthCode    string `json:"authCode"`
		AVS         string `json:"avsResultCode"`
		CVV         string `json:"cvvResultCode"`
		CAVV        string `json:"cavvResultCode"`
		ID          string `json:"transId"`
		SplitTender string `json:"splitTenderId"`
		Prepaid     struct {
			Requested string `json:"requestedAmount"`
			Approved  string `json:"approvedAmount"`
			Balance   string `json:"balanceOnCard"`
		} `json:"prePaidCard"`
		Messages []dialectMessage `json:"messages"`
		Errors   []struct {
			Code string `json:"errorCode"`
		} `json:"errors"`
	} `json:"transactionResponse"`
	Transaction struct {
		Type   string `json:"transactionType"`
		Status string `json:"transactionStatus"`
	} `json:"transaction"`
	Messages struct {
		Message []dialectMessage `json:"message"`
	} `json:"messages"`
}

// dialectMessage is a message of either kind.
type dialectMessage struct {
	Code string `json:"code"`
}

// outcome returns the response code with the reason, or the envelope's code.
func (a dialectResponse) outcome() string {
	for _, m := range a.Response.Messages {
		return a.Response.Code + "/" + m.Code
	}
	for _, e := range a.Response.Errors {
		return a.Response.Code + "/" + e.Code
	}
	return a.Messages.Message[0].Code
}

// mustAsk posts a request of the dialect, as JSON with an API key for its login; members follow the
// login.
func mustAsk(tb testing.TB, p *process, key, method, members string) dialectResponse {
	tb.Helper()
	return mustAskAs(tb, p, "me", key, method, members)
}

// mustAskAs is mustAsk for a login.
func mustAskAs(tb testing.TB, p *process, name, key, method, members string) dialectResponse {
	tb.Helper()
	body := fmt.Sprintf(`{%q:{"merchantAuthentication":{"name":%q,"transactionKey":%q},%s}}`, method, name, key, members)
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, p.HTTP+"/xml/v1/request.api",
		strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err != nil {
		tb.Fatal(err)
	}
	a := dialectResponse{body: string(data)}
	if err := json.Unmarshal(data[len("\xef\xbb\xbf"):], &a); err != nil || len(a.Messages.Message) == 0 {
		tb.Fatalf("%s: %s: %v", members, data, err)
	}
	return a
}

// mustTransact calls mustAsk for a transaction.
func mustTransact(tb testing.TB, p *process, key, members string) dialectResponse {
	tb.Helper()
	return mustAsk(tb, p, key, "createTransactionRequest", `"transactionRequest":{`+members+`}`)
}

// mustDetails reads a transaction by its number.
func mustDetails(tb testing.TB, p *process, number string) dialectResponse {
	tb.Helper()
	return mustAsk(tb, p, p.Keys.SKTest, "getTransactionDetailsRequest", `"transId":"`+number+`"`)
}

const legacyCard = `"payment":{"creditCard":{"cardNumber":"4111111111111111","expirationDate":"2031-04"}}`

// TestSandboxTriggers checks the sandbox's triggers, row by row of the contract's two tables, with
// the real simulator.
func TestSandboxTriggers(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	for _, tt := range []struct {
		zip, code string
		want      string // outcome and result codes
		prepaid   string // requested, approved and balance
	}{
		{zip: "98004", want: "1/1 Y P 2"},
		{zip: "", want: "1/1 Y P 2"},
		{zip: "46282", want: "2/2 Y P 2"},
		{zip: "46201", want: "1/1 A P 2"},
		{zip: "46203", want: "1/1 E P 2"},
		{zip: "46204", want: "1/1 G P 2"},
		{zip: "46205", want: "1/1 N P 2"},
		{zip: "46206", want: "1/1 P P 2"},
		{zip: "46207", want: "1/1 R P 2"},
		{zip: "46208", want: "1/1 S P 2"},
		{zip: "46209", want: "1/1 U P 2"},
		{zip: "46211", want: "1/1 W P 2"},
		{zip: "46214", want: "1/1 X P 2"},
		{zip: "46217", want: "1/1 Z P 2"},
		{zip: "46225", want: "4/295 Y P 2", prepaid: "24.50 1.23 "},
		{zip: "46226", want: "1/1 Y P 2", prepaid: "24.50 24.50 1.23"},
		{zip: "46227", want: "1/1 Y P 2", prepaid: "24.50 24.50 -1.23"},
		{zip: "46228", want: "4/295 Y P 2", prepaid: "24.50 1.23 0.00"},
		{zip: "98004", code: "900", want: "1/1 Y M 2"},
		{zip: "98004", code: "901", want: "2/65 Y N 2"},
		{zip: "98004", code: "902", want: "2/65 Y S 2"},
		{zip: "98004", code: "903", want: "2/65 Y U 2"},
		{zip: "98004", code: "904", want: "1/1 Y P 2"},
		{zip: "98004", code: "123", want: "1/1 Y P 2"},
	} {
		t.Run(tt.zip+" "+tt.code, func(t *testing.T) {
			t.Parallel()
			card := legacyCard
			if tt.code != "" {
				card = strings.Replace(card, `"2031-04"`, `"2031-04","cardCode":"`+tt.code+`"`, 1)
			}
			a := mustTransact(t, p, p.Keys.SKTest,
				`"transactionType":"authCaptureTransaction","amount":24.5,`+card+`,"billTo":{"zip":"`+tt.zip+`"},`+
					`"transactionSettings":{"setting":[{"settingName":"allowPartialAuth","settingValue":"true"},`+
					`{"settingName":"duplicateWindow","settingValue":"0"}]}`)
			r := a.Response
			if got := strings.Join([]string{a.outcome(), r.AVS, r.CVV, r.CAVV}, " "); got != tt.want {
				t.Errorf("got %s, want %s: %s", got, tt.want, a.body)
			}
			if got := strings.Join([]string{r.Prepaid.Requested, r.Prepaid.Approved, r.Prepaid.Balance},
				" "); strings.TrimLeft(got, " ") != tt.prepaid {
				t.Errorf("prePaidCard: got %q, want %q", got, tt.prepaid)
			}
			if (r.SplitTender != "") != (r.Code == "4") || r.SplitTender != "" && r.SplitTender != r.ID {
				t.Errorf("splitTenderId: got %q for %s", r.SplitTender, r.ID)
			}
		})
	}
}

// TestPartialApprovalNeedsTheField checks that a partial approval needs allowPartialAuth, to the
// cent.
func TestPartialApprovalNeedsTheField(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	const zip = `,"billTo":{"zip":"46225"}`
	for _, tt := range []struct{ amount, allow, want string }{
		{"1.22", "", "1/1"},
		{"1.23", "", "1/1"},
		{"1.24", "", "2/2"},
		{"1.23", "TRUE", "1/1"},
		{"1.24", "1", "4/295"},
		{"1.25", "false", "2/2"},
	} {
		a := mustTransact(t, p, p.Keys.SKTest,
			`"transactionType":"authCaptureTransaction","amount":`+tt.amount+`,`+legacyCard+zip+
				`,"transactionSettings":{"setting":[{"settingName":"duplicateWindow","settingValue":"0"},`+
				`{"settingName":"allowPartialAuth","settingValue":"`+tt.allow+`"}]}`)
		if got := a.outcome(); got != tt.want {
			t.Errorf("%s, allowed %q: got %s, want %s: %s", tt.amount, tt.allow, got, tt.want, a.body)
		}
	}
}

// TestSplitTender pays an order with two cards, and releases it.
func TestSplitTender(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	do := func(members, want string) dialectResponse {
		t.Helper()
		a := mustTransact(t, p, p.Keys.SKTest, members)
		if got := a.outcome(); got != want {
			t.Errorf("%s: got %s, want %s: %s", members, got, want, a.body)
		}
		return a
	}
	const sale = `"transactionType":"authCaptureTransaction","amount":`
	first := do(sale+`24.5,`+legacyCard+`,"billTo":{"zip":"46225"},"transactionSettings":{"setting":`+
		`{"settingName":"allowPartialAuth","settingValue":true}}`, "4/295").Response.ID
	of := `,"splitTenderId":"` + first + `"`
	do(sale+`4,`+legacyCard+of, "1/1")
	do(sale+`4,`+legacyCard+of, "3/11")
	last := do(sale+`19.27,`+legacyCard+of+`,"order":{"invoiceNumber":"INV-7"}`, "1/1")
	if got := last.Response.SplitTender; got != first || strings.Count(last.body, `"responseToCustomer"`) != 3 {
		t.Errorf("got %s, want three payments of %s", last.body, first)
	}
	do(sale+`19.27,`+legacyCard+of+`,"order":{"invoiceNumber":"INV-7"}`, "3/11")
	do(sale+`0.01,`+legacyCard+of, "3/298")
	do(sale+`1,`+legacyCard+`,"splitTenderId":"`+last.Response.ID+`"`, "3/296")
	do(`"transactionType":"voidTransaction"`+of, "1/1")
	for _, number := range []string{first, last.Response.ID} {
		if got := mustDetails(t, p, number).Transaction.Status; got != "voided" {
			t.Errorf("%s: got %s, want voided", number, got)
		}
	}
	do(`"transactionType":"voidTransaction"`+of, "1/310")
	do(sale+`1,`+legacyCard+of, "3/298")
}

// TestLegacyOddTypes makes a voice authorization and a refund without a payment, with the real
// simulator.
func TestLegacyOddTypes(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	do := func(members, want string) dialectResponse {
		t.Helper()
		a := mustTransact(t, p, p.Keys.SKTest, members)
		if got := a.outcome(); got != want {
			t.Errorf("%s: got %s, want %s: %s", members, got, want, a.body)
		}
		return a
	}
	const refused = `"payment":{"creditCard":{"cardNumber":"4000000000000010","expirationDate":"2031-04"}}`
	do(`"transactionType":"authCaptureTransaction","amount":7,`+refused, "2/3")
	forced := do(`"transactionType":"captureOnlyTransaction","amount":7,`+refused+`,"authCode":"ab12c9"`, "1/1")
	if r := forced.Response; r.AuthCode != "AB12C9" || r.AVS+r.CVV+r.CAVV != "P" {
		t.Errorf("captureOnly: got %s", forced.body)
	}
	if d := mustDetails(t, p, forced.Response.ID).Transaction; d.Type != "captureOnlyTransaction" ||
		d.Status != "capturedPendingSettlement" {
		t.Errorf("details: got %+v", d)
	}
	do(`"transactionType":"voidTransaction","refTransId":"`+forced.Response.ID+`"`, "1/1")
	do(`"transactionType":"voidTransaction","refTransId":"`+forced.Response.ID+`"`, "1/310")

	const credit = `"transactionType":"refundTransaction","amount":8,`
	given := do(credit+legacyCard, "1/1")
	if d := mustDetails(t, p, given.Response.ID).Transaction; d.Type != "refundTransaction" ||
		d.Status != "refundPendingSettlement" && d.Status != "refundSettledSuccessfully" {
		t.Errorf("details: got %+v", d)
	}
	do(credit+legacyCard, "3/11")
	do(credit+legacyCard+`,"transactionSettings":{"setting":{"settingName":"duplicateWindow","settingValue":"0"}}`, "1/1")
	do(`"transactionType":"refundTransaction","amount":1313.13,`+legacyCard, "2/2")
	do(credit+`"payment":{"bankAccount":{"routingNumber":"244183602","accountNumber":"000123456789",`+
		`"nameOnAccount":"Ana Ruiz"}}`, "1/1")
	do(credit+`"payment":{"creditCard":{"cardNumber":"XXXX1111","expirationDate":"XXXX"}}`, "3/33")
	do(`"transactionType":"voidTransaction","refTransId":"`+given.Response.ID+`"`, "3/175")
}

// TestSandboxLogin sends requests for which a sandbox login differs from any other login of the
// same merchant.
func TestSandboxLogin(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	const (
		account = `,"accountNumber":"15378535","nameOnAccount":"Ana Ruiz"}}`
		bank    = `"payment":{"bankAccount":{"routingNumber":"244183602"` + account
		badBank = `"payment":{"bankAccount":{"routingNumber":"121042883"` + account
		token   = `"payment":{"creditCard":{"cardNumber":"4000100011112224","expirationDate":"2031-04",` +
			`"isPaymentToken":true,"cryptogram":"EHuWW9PiBkWvqE5juRwDzAUFBAk="}}`
		track = `"payment":{"trackData":{"track1":"%B378282246310005^LONGSON/LONGBOB^1705101130504392?"}}`
		of    = `"transactionType":"`
	)
	for _, tt := range []struct{ name, members, sandbox, strict string }{
		{"card credit", of + `refundTransaction","amount":1,` + legacyCard, "1/1", "1/1"},
		{"token credit", of + `refundTransaction","amount":2,` + token, "1/1", "3/66"},
		{"bank credit", of + `refundTransaction","amount":3,` + bank, "4/193", "1/1"},
		{"bank authorization", of + `authOnlyTransaction","amount":4,` + bank, "1/1", "3/53"},
		{"bad routing number", of + `authOnlyTransaction","amount":5,` + badBank, "3/9", "3/53"},
		{"debit at the limit", of + `authCaptureTransaction","amount":100,` + bank, "1/1", "1/1"},
		{"debit over the limit", of + `authCaptureTransaction","amount":100.01,` + bank, "2/2", "1/1"},
		{"track sale", of + `authCaptureTransaction","amount":6,` + track, "1/1", "3/8"},
		{"track authorization", of + `authOnlyTransaction","amount":7,` + track, "1/1", "3/8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			transaction := `"transactionRequest":{` + tt.members + `}`
			got := mustAskAs(t, p, p.ProviderA.Name, p.ProviderA.TransactionKey, "createTransactionRequest", transaction)
			if got.outcome() != tt.sandbox {
				t.Errorf("sandbox login: got %s, want %s: %s", got.outcome(), tt.sandbox, got.body)
			}
			if code := got.Response.Code; (code == "3") != (got.Response.ID == "0") {
				t.Errorf("sandbox login: got number %s", got.Response.ID)
			}
			if got := mustAsk(t, p, p.Keys.SKTest, "createTransactionRequest", transaction); got.outcome() != tt.strict {
				t.Errorf("API key: got %s, want %s: %s", got.outcome(), tt.strict, got.body)
			}
		})
	}
}

// TestSandboxBankAuthorization checks that v1's books show the authorization of a bank account as a
// debit, until it is voided.
func TestSandboxBankAuthorization(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	do := func(members, want string) dialectResponse {
		t.Helper()
		a := mustAskAs(t, p, p.ProviderA.Name, p.ProviderA.TransactionKey, "createTransactionRequest",
			`"transactionRequest":{`+members+`}`)
		if got := a.outcome(); got != want {
			t.Fatalf("%s: got %s, want %s: %s", members, got, want, a.body)
		}
		return a
	}
	made := do(`"transactionType":"authOnlyTransaction","amount":4,"payment":{"bankAccount":{"routingNumber":"244183602",`+
		`"accountNumber":"15378535","nameOnAccount":"Ana Ruiz"}}`, "1/1").Response.ID
	books := func() string {
		t.Helper()
		return merchantOf(t, p).must(t, http.MethodGet, "/v1/transactions/"+txn(t, made), "", "").body
	}
	for _, want := range []string{`"status":"captured"`, `"amount_captured":400`, `"authorization_only":"true"`} {
		if got := books(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	do(`"transactionType":"priorAuthCaptureTransaction","refTransId":"`+made+`"`, "1/311")
	do(`"transactionType":"voidTransaction","refTransId":"`+made+`"`, "1/1")
	if got, want := books(), `"status":"voided"`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

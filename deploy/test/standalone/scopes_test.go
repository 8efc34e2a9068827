package standalone_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// legacyNeeds are the scopes that each kind of request needs, besides compat:use.
var legacyNeeds = []struct {
	name, method, members string
	scopes                []string
}{
	{"sale", transact, txnOf(`"authCaptureTransaction","amount":1,` + legacyCard), []string{"payments:authorize"}},
	{"authorize", transact, txnOf(`"authOnlyTransaction","amount":1,` + legacyCard), []string{"payments:authorize"}},
	{
		"capture", transact, txnOf(`"priorAuthCaptureTransaction","refTransId":"{held}"`),
		[]string{"payments:authorize"},
	},
	{"void", transact, txnOf(`"voidTransaction","refTransId":"{held}"`), []string{"payments:authorize"}},
	{
		"refund", transact, txnOf(`"refundTransaction","amount":1,` + legacyCard + `,"refTransId":"{settled}"`),
		[]string{"payments:authorize"},
	},
	{
		"unlinked refund", transact, txnOf(`"refundTransaction","amount":1,` + legacyCard),
		[]string{"payments:authorize", "refunds:create"},
	},
	{"details", "getTransactionDetailsRequest", `"transId":"{held}"`, []string{"transactions:read"}},
	{
		"profile create", "createCustomerProfileRequest", `"profile":{"email":"ana@example.org"}`,
		[]string{"customers:write"},
	},
	{
		"profile charge", transact, txnOf(`"authCaptureTransaction","amount":1,"profile":{"customerProfileId":"8"}`),
		[]string{"payments:authorize"},
	},
	{"authenticateTest", "authenticateTestRequest", `"refId":"r"`, nil},
}

const transact = "createTransactionRequest"

func txnOf(members string) string { return `"transactionRequest":{"transactionType":` + members + `}` }

// TestLegacyEndpointHoldsToScopes sends requests with keys that lack a needed scope to the legacy
// endpoint of the real core. They are refused with the code for it, and have no effect.
func TestLegacyEndpointHoldsToScopes(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	m := merchantOf(t, p)
	held := mustDecode[v1.Transaction](t,
		m.must(t, http.MethodPost, "/v1/transactions", "",
			`{"amount":500,"currency":"usd","payment_method":"card","capture":"manual"}`))
	settled := mustDecode[v1.Transaction](t,
		m.must(t, http.MethodPost, "/v1/transactions", "", `{"amount":500,"currency":"usd","payment_method":"card",`+
			`"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`))
	m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+settled.ID+"/settle", "", "")
	fill := strings.NewReplacer("{held}", mustNumber(t, held.ID), "{settled}", mustNumber(t, settled.ID))
	keys := map[string]string{}
	all := []string{
		"payments:authorize", "payments:capture", "refunds:create", "transactions:read", "customers:write", "customers:read",
		"tokens:create", "compat:use",
	}
	for _, missing := range all {
		scopes := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == missing })
		keys[missing] = m.mustKey(t, scopes...)
	}
	before := m.must(t, http.MethodGet, "/v1/transactions", "", "").
		body + m.must(t, http.MethodGet, "/v1/refunds", "", "").body
	for _, kind := range legacyNeeds {
		for _, missing := range append(slices.Clone(kind.scopes), "compat:use") {
			want := "E00011"
			if missing == "compat:use" {
				want = "E00010"
			}
			if a := mustAsk(t, p, keys[missing], kind.method, fill.Replace(kind.members)); a.outcome() != want {
				t.Errorf("%s without %s: got %s, want %s: %s", kind.name, missing, a.outcome(), want, a.body)
			}
		}
	}
	if after := m.must(t, http.MethodGet, "/v1/transactions", "", "").
		body + m.must(t, http.MethodGet, "/v1/refunds", "", "").body; after != before {
		t.Errorf("something moved:\n got %s\nwant %s", after, before)
	}
	capture := fill.Replace(txnOf(`"priorAuthCaptureTransaction","refTransId":"{held}"`))
	if a := mustAsk(t, p, keys["customers:write"], transact, capture); a.outcome() != "1/1" {
		t.Errorf("a capture needs no customers:write: got %s", a.body)
	}
}

// mustKey makes a key with the scopes.
func (m *merchant) mustKey(tb testing.TB, scopes ...string) string {
	tb.Helper()
	body := `{"kind":"secret","scopes":["` + strings.Join(scopes, `","`) + `"]}`
	made := m.must(tb, http.MethodPost, "/v1/api_keys", "", body)
	secret := mustDecode[struct {
		Secret string `json:"secret"`
	}](tb, made).Secret
	if secret == "" {
		tb.Fatalf("no key with %v: %s", scopes, made.body)
	}
	return secret
}

func mustNumber(tb testing.TB, txn string) string {
	tb.Helper()
	n, err := id.ToDecimal(id.Transaction, txn)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// TestLegacyScopesSuffice sends the requests of each method with a key that has exactly the scopes
// of the specification, to the real core.
func TestLegacyScopesSuffice(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	m := merchantOf(t, p)
	ana := mustStoredProfile(t, p, m.mustKey(t, "customers:write", "compat:use"))
	key := m.mustKey(t, "payments:authorize", "compat:use")
	send := func(members, want string) string {
		t.Helper()
		return mustOutcome(t, p, key, transact, txnOf(members), want).Response.ID
	}
	sold := send(`"authCaptureTransaction","amount":10,`+legacyCard, "1/1")
	send(`"authCaptureTransaction","amount":10,`+legacyCard, "3/11")
	held := send(`"authOnlyTransaction","amount":11,`+legacyCard, "1/1")
	send(`"captureOnlyTransaction","amount":12,`+legacyCard+`,"authCode":"A1B2C3"`, "1/1")
	send(`"priorAuthCaptureTransaction","refTransId":"`+held+`"`, "1/1")
	send(`"voidTransaction","refTransId":"`+sold+`"`, "1/1")
	m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+stored(t, m, held).ID+"/settle", "", "")
	refund := `"refundTransaction","amount":1,` + legacyCard
	refunded := send(refund+`,"refTransId":"`+held+`"`, "1/1")
	send(refund+`,"refTransId":"`+held+`"`, "3/11")
	send(`"voidTransaction","refTransId":"`+refunded+`"`, "3/175")
	send(refund, "E00011")
	send(`"authCaptureTransaction","amount":13,`+by(ana.Customer, "", ""), "1/1")
	send(`"authCaptureTransaction","amount":14,`+by(ana.Customer, ana.Methods[1], ""), "3/6")
	send(`"authCaptureTransaction","amount":15,`+by(ana.Customer, ana.Methods[2], `,"cardCode":"900"`), "1/1")
	first := send(`"authCaptureTransaction","amount":24.5,`+legacyCard+`,"billTo":{"zip":"46225"},"transactionSettings":`+
		`{"setting":{"settingName":"allowPartialAuth","settingValue":true}}`, "4/295")
	send(`"authCaptureTransaction","amount":4,`+legacyCard+`,"splitTenderId":"`+first+`"`, "1/1")
	send(`"voidTransaction","splitTenderId":"`+first+`"`, "1/1")

	read := m.mustKey(t, "transactions:read", "compat:use")
	mustOutcome(t, p, read, "getTransactionDetailsRequest", `"transId":"`+held+`"`, "I00001")
	mustOutcome(t, p, read, "getTransactionDetailsRequest", `"transId":"`+refunded+`"`, "I00001")
	mustOutcome(t, p, m.mustKey(t, "compat:use"), "authenticateTestRequest", `"refId":"r"`, "I00001")
}

// mustStoredProfile makes two profiles with the key, and the first one twice. The second has a card
// by default, a card of no brand, and a bank account.
func mustStoredProfile(t *testing.T, p *process, key string) profileNumbers {
	t.Helper()
	const (
		create  = "createCustomerProfileRequest"
		who     = `"profile":{"merchantCustomerId":"c-1","email":"ana@example.org"}`
		strange = `"payment":{"creditCard":{"cardNumber":"9999999999999995","expirationDate":"2031-04"}}`
		bank    = `"payment":{"bankAccount":{"routingNumber":"244183602","accountNumber":"123456789",` +
			`"nameOnAccount":"Ana Ruiz"}}`
	)
	mustOutcome(t, p, key, create, who, "I00001")
	mustOutcome(t, p, key, create, who, "E00039")
	return readProfile(t, mustOutcome(t, p, key, create, `"profile":{"email":"bo@example.org","paymentProfiles":[{`+
		legacyCard+`,"defaultPaymentProfile":true},{`+strange+`},{`+bank+`}]}`, "I00001"))
}

// mustOutcome calls mustAsk, and checks the outcome.
func mustOutcome(tb testing.TB, p *process, key, method, members, want string) dialectResponse {
	tb.Helper()
	a := mustAsk(tb, p, key, method, members)
	if got := a.outcome(); got != want {
		tb.Errorf("%s: got %s, want %s: %s", members, got, want, a.body)
	}
	return a
}

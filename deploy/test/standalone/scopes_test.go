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
		[]string{"payments:authorize", "payments:capture", "transactions:read"},
	},
	{"void", transact, txnOf(`"voidTransaction","refTransId":"{held}"`), []string{"payments:authorize"}},
	{
		"refund", transact, txnOf(`"refundTransaction","amount":1,` + legacyCard + `,"refTransId":"{settled}"`),
		[]string{"payments:authorize", "refunds:create", "transactions:read"},
	},
	{
		"unlinked refund", transact, txnOf(`"refundTransaction","amount":1,` + legacyCard),
		[]string{"payments:authorize", "refunds:create"},
	},
	{"details", "getTransactionDetailsRequest", `"transId":"{held}"`, []string{"transactions:read"}},
	{
		"profile create", "createCustomerProfileRequest", `"profile":{"email":"ana@example.org"}`,
		[]string{"customers:write", "customers:read"},
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
		made := m.must(t, http.MethodPost, "/v1/api_keys", "",
			`{"kind":"secret","scopes":["`+strings.Join(scopes, `","`)+`"]}`)
		keys[missing] = mustDecode[struct {
			Secret string `json:"secret"`
		}](t, made).Secret
		if keys[missing] == "" {
			t.Fatalf("no key without %s: %s", missing, made.body)
		}
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

func mustNumber(tb testing.TB, txn string) string {
	tb.Helper()
	n, err := id.ToDecimal(id.Transaction, txn)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

package standalone_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// restNeeds are the scopes that each kind of request needs, besides compat:use.
var restNeeds = []struct {
	name, method, path, body string
	scopes                   []string
}{
	{
		"authorize", http.MethodPost, "/pts/v2/payments", restPayment("1.00", "USD", false, ""),
		[]string{"payments:authorize"},
	},
	{"sale", http.MethodPost, "/pts/v2/payments", restPayment("1.00", "USD", true, ""), []string{"payments:authorize"}},
	{
		"capture", http.MethodPost, "/pts/v2/payments/{held}/captures", restAmount("1.00", ""),
		[]string{"payments:capture", "transactions:read"},
	},
	{
		"reversal", http.MethodPost, "/pts/v2/payments/{held}/reversals", restReversal("5.00", ""),
		[]string{"payments:authorize", "transactions:read"},
	},
	{
		"refund", http.MethodPost, "/pts/v2/payments/{sold}/refunds", restAmount("1.00", ""),
		[]string{"refunds:create", "transactions:read"},
	},
	{
		"refund of a capture", http.MethodPost, "/pts/v2/captures/{taken}/refunds", restAmount("1.00", ""),
		[]string{"refunds:create", "transactions:read"},
	},
	{
		"void of a sale", http.MethodPost, "/pts/v2/payments/{sold}/voids", `{}`,
		[]string{"payments:authorize", "transactions:read"},
	},
	{
		"void of a capture", http.MethodPost, "/pts/v2/captures/{taken}/voids", `{}`,
		[]string{"payments:authorize", "transactions:read"},
	},
	{
		"reversal by name", http.MethodPost, "/pts/v2/reversals", restReversal("5.00", "held"),
		[]string{"payments:authorize", "transactions:read"},
	},
	{
		"void by name", http.MethodPost, "/pts/v2/voids", `{"clientReferenceInformation":{"transactionId":"sold"}}`,
		[]string{"payments:authorize", "transactions:read"},
	},
	{
		"credit", http.MethodPost, "/pts/v2/credits",
		strings.Replace(restPayment("1.00", "USD", false, ""), `"capture":false`, "", 1),
		[]string{"refunds:create"},
	},
	{"details", http.MethodGet, "/tss/v2/transactions/{held}", "", []string{"transactions:read"}},
	{"details by link", http.MethodGet, "/pts/v2/payments/{held}", "", []string{"transactions:read"}},
}

// TestRestEndpointHoldsToScopes checks that a key without a needed scope is refused at the REST
// endpoint without an effect, with real keys of the real core.
func TestRestEndpointHoldsToScopes(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	held := d.must(t, restPayments, restPayment("5.00", "USD", false, "held"), "AUTHORIZED").ID
	sold := d.must(t, restPayments, restPayment("5.00", "USD", true, "sold"), "AUTHORIZED").ID
	other := d.must(t, restPayments, restPayment("5.00", "USD", false, ""), "AUTHORIZED").ID
	taken := d.must(t, restPayments+"/"+other+"/captures", restAmount("5.00", ""), "PENDING").ID
	fill := strings.NewReplacer("{held}", held, "{sold}", sold, "{taken}", taken)
	keys := map[string]string{}
	all := []string{
		"payments:authorize", "payments:capture", "refunds:create", "transactions:read", "customers:write",
		"customers:read", "compat:use",
	}
	for _, missing := range all {
		scopes := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == missing })
		made := m.must(t, http.MethodPost, "/v1/api_keys", "",
			`{"kind":"secret","scopes":["`+strings.Join(scopes, `","`)+`"]}`)
		keys[missing] = mustDecode[struct {
			Secret string `json:"secret"`
		}](t, made).Secret
	}
	before := shown(t, m)
	for _, kind := range restNeeds {
		for _, missing := range append(slices.Clone(kind.scopes), "compat:use") {
			a, err := (&restClient{d.base, keys[missing], d.http}).
				do(t.Context(), kind.method, fill.Replace(kind.path), kind.body)
			if err != nil || a.HTTP != http.StatusForbidden || !strings.Contains(a.Body, missing) {
				t.Errorf("%s without %s: got %d %s (%v), want 403 that names it", kind.name, missing, a.HTTP, a.Body, err)
			}
		}
	}
	if after := shown(t, m); after != before {
		t.Errorf("something moved:\n got %s\nwant %s", after, before)
	}
	(&restClient{d.base, keys["customers:write"], d.http}).
		must(t, restPayments+"/"+held+"/captures", restAmount("5.00", ""), "PENDING")
	if got := stored(t, m, held); got.Status != v1.TransactionStatusCaptured {
		t.Errorf("a capture needs no customers:write: %s", got.Status)
	}
}

// shown returns all payments and refunds in v1.
func shown(t *testing.T, m *merchant) string {
	t.Helper()
	return m.must(t, http.MethodGet, "/v1/transactions", "", "").body + m.must(t, http.MethodGet, "/v1/refunds", "", "").
		body
}

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
		[]string{"payments:capture"},
	},
	{
		"reversal", http.MethodPost, "/pts/v2/payments/{held}/reversals", restReversal("5.00", ""),
		[]string{"payments:authorize"},
	},
	{
		"refund", http.MethodPost, "/pts/v2/payments/{sold}/refunds", restAmount("1.00", ""),
		[]string{"refunds:create"},
	},
	{
		"refund of a capture", http.MethodPost, "/pts/v2/captures/{taken}/refunds", restAmount("1.00", ""),
		[]string{"refunds:create"},
	},
	{
		"void of a sale", http.MethodPost, "/pts/v2/payments/{sold}/voids", `{}`,
		[]string{"payments:authorize"},
	},
	{
		"void of a capture", http.MethodPost, "/pts/v2/captures/{taken}/voids", `{}`,
		[]string{"payments:authorize"},
	},
	{
		"reversal by name", http.MethodPost, "/pts/v2/reversals", restReversal("5.00", "held"),
		[]string{"payments:authorize"},
	},
	{
		"void by name", http.MethodPost, "/pts/v2/voids", `{"clientReferenceInformation":{"transactionId":"sold"}}`,
		[]string{"payments:authorize"},
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
		keys[missing] = m.mustKey(t, scopes...)
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

// scopedClient returns a client with a key that has only these scopes.
func (d *restClient) scopedClient(tb testing.TB, m *merchant, scopes ...string) *restClient {
	tb.Helper()
	return &restClient{d.base, m.mustKey(tb, scopes...), d.http}
}

// TestRestScopesSuffice sends requests that move money to the real core. Each key has exactly the
// scopes of the catalogue.
func TestRestScopesSuffice(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	pay := d.scopedClient(t, m, "payments:authorize", "compat:use")
	take := d.scopedClient(t, m, "payments:capture", "compat:use")

	held := pay.must(t, restPayments, restPayment("5.00", "USD", false, "held"), "AUTHORIZED").ID
	pay.must(t, restPayments, restPayment("5.00", "USD", false, "held"), "AUTHORIZED") // a retry by its name
	take.must(t, restPayments+"/"+held+"/captures", restAmount("5.00", ""), "PENDING")
	reviewed := pay.must(t, restPayments, withAddress(restPayment("5.00", "USD", true, "sold")), "AUTHORIZED").ID
	if got := stored(t, m, reviewed); got.Status != v1.TransactionStatusCaptured || got.Capture != v1.CaptureModeManual {
		t.Errorf("a sale with an address: got %s and capture %s, want two steps", got.Status, got.Capture)
	}
	pay.must(t, "/pts/v2/voids", `{"clientReferenceInformation":{"transactionId":"sold"}}`, "VOIDED")
	pay.must(t, restPayments, restPayment("6.00", "USD", false, "lost"), "AUTHORIZED")
	pay.must(t, "/pts/v2/reversals", restReversal("6.00", "lost"), "REVERSED")
	other := pay.must(t, restPayments, restPayment("7.00", "USD", false, ""), "AUTHORIZED").ID
	pay.must(t, restPayments+"/"+other+"/reversals", restReversal("7.00", ""), "REVERSED")
	sold := pay.must(t, restPayments, restPayment("8.00", "USD", true, ""), "AUTHORIZED").ID
	pay.must(t, restPayments+"/"+sold+"/voids", `{}`, "VOIDED")
	kept := pay.must(t, restPayments, restPayment("9.00", "USD", false, ""), "AUTHORIZED").ID
	part := take.must(t, restPayments+"/"+kept+"/captures", restAmount("9.00", ""), "PENDING").ID
	pay.must(t, "/pts/v2/captures/"+part+"/voids", `{}`, "VOIDED")

	storing := d.scopedClient(t, m, "payments:authorize", "customers:write", "compat:use")
	payment := restPayment("3.00", "USD", false, "")
	payment = strings.Replace(payment, `{"capture"`, `{"actionList":["TOKEN_CREATE"],"capture"`, 1)
	if a := storing.must(t, restPayments, payment, "AUTHORIZED"); !strings.Contains(a.Body, `"paymentInstrument"`) {
		t.Errorf("TOKEN_CREATE: got %s, want a stored payment source", a.Body)
	}
}

// TestRestRefundScopesSuffice is TestRestScopesSuffice for refunds and reads.
func TestRestRefundScopesSuffice(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	pay := d.scopedClient(t, m, "payments:authorize", "compat:use")
	give := d.scopedClient(t, m, "refunds:create", "compat:use")
	read := d.scopedClient(t, m, "transactions:read", "compat:use")

	held := d.must(t, restPayments, restPayment("5.00", "USD", false, ""), "AUTHORIZED").ID
	taken := d.must(t, restPayments+"/"+held+"/captures", restAmount("5.00", ""), "PENDING").ID
	refunded := give.must(t, restPayments+"/"+held+"/refunds", restAmount("1.00", "r-1"), "PENDING").ID
	give.must(t, restPayments+"/"+held+"/refunds", restAmount("1.00", "r-1"), "PENDING") // a retry by its name
	give.must(t, "/pts/v2/captures/"+taken+"/refunds", restAmount("1.00", ""), "PENDING")
	given := strings.Replace(restPayment("1.00", "USD", false, ""), `"capture":false`, "", 1)
	credit := give.must(t, "/pts/v2/credits", given, "PENDING").ID
	pay.must(t, "/pts/v2/refunds/"+refunded+"/voids", `{}`, "NOT_VOIDABLE")
	pay.must(t, "/pts/v2/credits/"+credit+"/voids", `{}`, "NOT_VOIDABLE")
	for _, path := range []string{
		"/pts/v2/payments/" + held, "/pts/v2/captures/" + taken, "/pts/v2/refunds/" + refunded,
		"/tss/v2/transactions/" + credit,
	} {
		if a, err := read.do(t.Context(), http.MethodGet, path, ""); err != nil || a.HTTP != http.StatusOK {
			t.Errorf("%s: got %d %s, error %v, want 200", path, a.HTTP, a.Body, err)
		}
	}
	for name, number := range map[string]string{"getTransaction": held, "getCapture": taken, "getRefund": refunded} {
		call := `{"jsonrpc":"2.0","id":"1","method":"compat.provider-b.` + name + `","params":{"id":"` + number + `"}}`
		a, err := read.do(t.Context(), http.MethodPost, "/compat/rpc", call)
		if err != nil || !strings.Contains(a.Body, `"id":"`+number+`"`) {
			t.Errorf("%s by RPC: got %s, error %v, want %s", name, a.Body, err, number)
		}
	}
}

// shown returns all payments and refunds in v1.
func shown(t *testing.T, m *merchant) string {
	t.Helper()
	return m.must(t, http.MethodGet, "/v1/transactions", "", "").body + m.must(t, http.MethodGet, "/v1/refunds", "", "").
		body
}

package providera_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
)

// requests has one request for each operation, as JSON after the login. needs holds the response
// without each scope that the operation needs besides the method's.
var requests = []struct {
	name, method, members string
	needs                 map[string]string
	unserved              bool // the response to a key with every scope does not matter here
}{
	{name: "sale", method: transact, members: `"transactionRequest":{"transactionType":"authCaptureTransaction",` +
		`"amount":1,` + fullCard + `}`},
	{name: "authorize", method: transact, members: `"transactionRequest":{"transactionType":"authOnlyTransaction",` +
		`"amount":1,` + fullCard + `}`},
	{
		name: "capture only", method: transact,
		members: `"transactionRequest":{"transactionType":"captureOnlyTransaction","amount":1,` + fullCard +
			`,"authCode":"A1"}`,
	},
	{
		name: "capture", method: transact, members: `"transactionRequest":{"transactionType":"priorAuthCaptureTransaction",` +
			`"refTransId":"7"}`,
	},
	{name: "void", method: transact, members: `"transactionRequest":{"transactionType":"voidTransaction",` +
		`"refTransId":"7"}`},
	{
		name: "void of an order", method: transact, members: `"transactionRequest":{"transactionType":"voidTransaction",` +
			`"splitTenderId":"7"}`,
		unserved: true,
	},
	{
		name: "refund", method: transact,
		members: `"transactionRequest":{"transactionType":"refundTransaction","amount":1,` + fullCard + `,"refTransId":"7"}`,
	},
	{
		name: "unlinked refund", method: transact, members: `"transactionRequest":{"transactionType":"refundTransaction",` +
			`"amount":1,` + fullCard + `}`,
		needs: map[string]string{"refunds:create": denied},
	},
	{
		name: "profile charge", method: transact, unserved: true,
		members: `"transactionRequest":{"transactionType":"authCaptureTransaction","amount":1,` +
			`"profile":{"customerProfileId":"8","paymentProfile":{"paymentProfileId":"9"}}}`,
	},
	{
		name: "details", method: "getTransactionDetailsRequest", members: `"transId":"7"`,
		needs: reading,
	},
	{
		name: "profile create", method: "createCustomerProfileRequest", members: `"profile":{"email":"ana@example.org"}`,
		unserved: true, needs: map[string]string{"customers:write": denied},
	},
	{
		name: "profile create with a card", method: "createCustomerProfileRequest", unserved: true,
		members: `"profile":{"email":"ana@example.org","paymentProfiles":{` + fullCard + `}}`,
		needs:   map[string]string{"customers:write": denied},
	},
	{name: "authenticateTest", method: "authenticateTestRequest", members: `"refId":"r"`},
	{name: "merchant details", method: "getMerchantDetailsRequest", members: `"refId":"r"`},
	{name: "logout", method: "logoutRequest", members: `"refId":"r"`},
	{name: "unsettled", method: "getUnsettledTransactionListRequest", members: `"status":"any"`, needs: reading},
	{name: "batch", method: "getTransactionListRequest", members: `"batchId":"7"`, needs: reading},
	{
		name: "customer", method: "getTransactionListForCustomerRequest", members: `"customerProfileId":"7"`, needs: reading,
	},
	{name: "batches", method: "getSettledBatchListRequest", members: `"includeStatistics":true`, needs: reading},
	{
		name: "get profile", method: "getCustomerProfileRequest", members: `"customerProfileId":"7"`, unserved: true,
		needs: map[string]string{"customers:read": denied},
	},
	{
		name: "profile ids", method: "getCustomerProfileIdsRequest", members: `"refId":"r"`, unserved: true,
		needs: map[string]string{"customers:read": denied},
	},
	{
		name: "delete profile", method: "deleteCustomerProfileRequest", members: `"customerProfileId":"7"`, unserved: true,
		needs: map[string]string{"customers:write": denied},
	},
	{
		name: "create payment profile", method: "createCustomerPaymentProfileRequest", unserved: true,
		members: `"customerProfileId":"7","paymentProfile":{` + fullCard + `}`,
		needs:   map[string]string{"customers:write": denied},
	},
	{
		name: "get payment profile", method: "getCustomerPaymentProfileRequest", unserved: true,
		members: `"customerProfileId":"7","customerPaymentProfileId":"8"`, needs: map[string]string{"customers:read": denied},
	},
	{
		name: "delete payment profile", method: "deleteCustomerPaymentProfileRequest", unserved: true,
		members: `"customerProfileId":"7","customerPaymentProfileId":"8"`,
		needs:   map[string]string{"customers:write": denied},
	},
	{
		name: "update profile", method: "updateCustomerProfileRequest", unserved: true,
		members: `"profile":{"email":"ana@example.org","customerProfileId":"7"}`,
		needs:   map[string]string{"customers:write": denied},
	},
	{
		name: "update payment profile", method: "updateCustomerPaymentProfileRequest", unserved: true,
		members: `"customerProfileId":"7","paymentProfile":{` + fullCard + `,"customerPaymentProfileId":"8"}`,
		needs:   map[string]string{"customers:write": denied},
	},
	{
		name: "validate payment profile", method: "validateCustomerPaymentProfileRequest", unserved: true,
		members: `"customerProfileId":"7","customerPaymentProfileId":"8","validationMode":"testMode"`,
		needs:   map[string]string{"customers:write": denied},
	},
	{
		name: "expiring", method: "getCustomerPaymentProfileListRequest", unserved: true,
		members: `"searchType":"cardsExpiringInMonth","month":"2031-04"`, needs: map[string]string{"customers:read": denied},
	},
	{
		name: "from transaction", method: "createCustomerProfileFromTransactionRequest", unserved: true,
		members: `"transId":"7"`, needs: map[string]string{"customers:write": denied},
	},
	{
		name: "stored sale", method: storedTransact, unserved: true,
		members: `"transaction":{"profileTransAuthCapture":{"amount":1,"customerProfileId":"8",` +
			`"customerPaymentProfileId":"9"}}`,
	},
	{
		name: "stored capture", method: storedTransact,
		members: `"transaction":{"profileTransPriorAuthCapture":{"amount":1,"transId":"7"}}`,
	},
	{name: "stored void", method: storedTransact, members: `"transaction":{"profileTransVoid":{"transId":"7"}}`},
	{
		name: "stored refund", method: storedTransact,
		members: `"transaction":{"profileTransRefund":{"amount":1,"creditCardNumberMasked":"XXXX1111","transId":"7"}}`,
	},
	{
		name: "create address", method: "createCustomerShippingAddressRequest", unserved: true,
		members: `"customerProfileId":"7","address":{"firstName":"Bo"}`, needs: map[string]string{"customers:write": denied},
	},
	{
		name: "get address", method: "getCustomerShippingAddressRequest", unserved: true,
		members: `"customerProfileId":"7","customerAddressId":"7"`, needs: map[string]string{"customers:read": denied},
	},
	{
		name: "update address", method: "updateCustomerShippingAddressRequest", unserved: true,
		members: `"customerProfileId":"7","address":{"firstName":"Bo","customerAddressId":"7"}`,
		needs:   map[string]string{"customers:write": denied},
	},
	{
		name: "delete address", method: "deleteCustomerShippingAddressRequest", unserved: true,
		members: `"customerProfileId":"7","customerAddressId":"7"`, needs: map[string]string{"customers:write": denied},
	},
	{name: "statistics", method: "getBatchStatisticsRequest", members: `"batchId":"7"`, needs: reading},
}

// reading is the need of the methods that read payments.
var reading = map[string]string{
	"transactions:read": "Access denied. You do not have permissions to call the Transaction Details API.",
}

const (
	transact       = "createTransactionRequest"
	storedTransact = "createCustomerProfileTransactionRequest"
	fullCard       = `"payment":{"creditCard":{"cardNumber":"4111111111111111","expirationDate":"2031-04"}}`
	denied         = "Access denied. You do not have the appropriate permissions."
	notPermitted   = "User authentication failed. You do not have the appropriate permissions."
)

// everyScope are all scopes of a secret key.
var everyScope = []string{
	"payments:authorize", "payments:capture", "refunds:create", "transactions:read", "customers:write", "customers:read",
	"tokens:create", "payments:confirm", "events:read", "webhooks:write", "keys:write", "mle:write", "compat:use",
}

// TestMissingScopes removes each scope from the login of each request. The request is refused with
// its code, and nothing is sent to v1 that moves money.
func TestMissingScopes(t *testing.T) {
	t.Parallel()
	for _, request := range requests {
		for _, missing := range append([]string{""}, everyScope...) {
			t.Run(request.name+" without "+missing, func(t *testing.T) {
				t.Parallel()
				want := request.needs[missing]
				switch {
				case missing == "compat:use":
					want = notPermitted
				case missing == "payments:authorize" && (request.method == transact || request.method == storedTransact):
					want = denied
				}
				f := &scopedV1{scopes: slices.DeleteFunc(slices.Clone(everyScope), func(s string) bool { return s == missing })}
				got := f.response(t, request.method, request.members)
				code := map[string]string{denied: "E00011", notPermitted: "E00010"}[want]
				if want != "" && code == "" {
					code = "E00011" // with a special text
				}
				refused := strings.Contains(got, `"code":"E00010"`) || strings.Contains(got, `"code":"E00011"`)
				switch {
				case want == "" && refused, want != "" && !strings.Contains(got, `{"code":"`+code+`","text":"`+want+`"}`):
					t.Errorf("got %s, want %s %q", got, code, want)
				case want == "" && !request.unserved && !strings.Contains(got, `"resultCode":"Ok"`):
					t.Errorf("got %s, want that it is served", got)
				case want != "" && len(f.posts) > 0:
					t.Errorf("v1 got %v", f.posts)
				}
			})
		}
	}
}

// scopedV1 has one payment, accepts everything, and records the changes that it gets.
type scopedV1 struct {
	scopes []string

	mu    sync.Mutex
	posts []string // guarded by mu
}

func (f *scopedV1) response(t *testing.T, method, members string) string {
	t.Helper()
	body := `{"` + method + `":{"merchantAuthentication":{"name":"me","transactionKey":"` + goldentest.APIKey + `"},` +
		members + `}}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader([]byte(body)))
	w := httptest.NewRecorder()
	mustHandler(t, goldentest.MustExecutor(t, f)).ServeHTTP(w, r)
	return w.Body.String()
}

func (f *scopedV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const payment = `"status":"captured","mode":"test","amount":100,"amount_authorized":100,"currency":"usd",` +
		`"settlement":"settled",` +
		`"card":{"brand":"visa","last4":"1111"}`
	reading := r.Method == http.MethodGet
	if !reading {
		f.mu.Lock()
		f.posts = append(f.posts, r.URL.Path)
		f.mu.Unlock()
	}
	switch path := r.URL.Path; {
	case reading && slices.Contains([]string{"/v1/transactions", "/v1/refunds", "/v1/settlement_days"}, path):
		_, _ = io.WriteString(w, `{"object":"list","data":[],"has_more":false}`)
	case reading && strings.HasSuffix(path, "/captures"):
		_, _ = io.WriteString(w, `{"object":"list","data":[{"settlement_day":"`+id.Format(id.SettlementDay, 7)+`"}],`+
			`"has_more":false}`)
	case strings.HasPrefix(path, "/v1/settlement_days/"):
		_, _ = io.WriteString(w, `{"id":"`+id.Format(id.SettlementDay, 7)+`","ended_at":"2026-11-21T00:00:00Z","totals":[]}`)
	case strings.HasSuffix(path, "/current"):
		_, _ = io.WriteString(w, `{"merchant":"mer_1","mode":"test","scopes":["`+strings.Join(f.scopes, `","`)+`"]}`)
	case strings.HasSuffix(path, "/captures"):
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"`+id.Format(id.Capture, 8)+`","transaction":"`+
			id.Format(id.Transaction, 7)+`","status":"succeeded","amount":100,"currency":"usd"}`)
	case strings.HasSuffix(path, "/void"):
		_, _ = io.WriteString(w, `{"id":"`+id.Format(id.Transaction, 7)+`",`+
			strings.Replace(payment, "captured", "voided", 1)+`}`)
	case path == "/v1/refunds":
		w.WriteHeader(http.StatusCreated)
		of := ""
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"transaction":`)) {
			of = `"transaction":"` + id.Format(id.Transaction, 7) + `",`
		}
		_, _ = io.WriteString(w, `{"id":"`+id.Format(id.Refund, 9)+`",`+of+`"status":"pending","amount":100,`+
			`"currency":"usd"}`)
	default:
		if !reading {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, `{"id":"`+id.Format(id.Transaction, 7)+`",`+payment+`}`)
	}
}

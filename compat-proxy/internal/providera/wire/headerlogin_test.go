package wire_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// TestLoginInHeader: with the option, a document without merchantAuthentication is valid, and
// everything else holds for it. The element is still allowed, once and in its place.
func TestLoginInHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, rest, inJSON string }{
		{
			"createTransactionRequest", "<transactionRequest><transactionType>a</transactionType></transactionRequest>",
			`"transactionRequest":{"transactionType":"a"}`,
		},
		{"getTransactionDetailsRequest", "<transId>7</transId>", `"transId":"7"`},
		{"createCustomerProfileRequest", "<profile><email>a</email></profile>", `"profile":{"email":"a"}`},
		{"authenticateTestRequest", "<refId>r</refId>", `"refId":"r"`},
		{"authenticateTestRequest", "", ""},
	} {
		for _, body := range []string{root(tt.method, tt.rest), `{"` + tt.method + `":{` + tt.inJSON + `}}`} {
			for _, lenient := range []bool{false, true} {
				req, fault := wire.Parse([]byte(body), wire.Options{LoginInHeader: true, LenientOrder: lenient})
				if fault != nil {
					t.Errorf("%s: got %s", body, fault.Text)
				} else if req.Root.Child("merchantAuthentication").Present() {
					t.Errorf("%s: got %v", body, req.Root)
				}
				if _, fault := wire.Parse([]byte(body), wire.Options{LenientOrder: lenient}); fault == nil {
					t.Errorf("%s is valid without the option", body)
				}
			}
		}
		if _, fault := wire.Parse([]byte(root(tt.method, auth+tt.rest)), wire.Options{LoginInHeader: true}); fault != nil {
			t.Errorf("%s with a login: got %s", tt.method, fault.Text)
		}
	}
	const method = "createTransactionRequest"
	for _, tt := range []struct{ children, want string }{
		{
			"", "The element " + in(method) + " has incomplete content." +
				expecting("merchantAuthentication, clientId, refId, transactionRequest"),
		},
		{
			"<refId>r</refId>" + auth, "The element " + in(method) + " has invalid child element " +
				in("merchantAuthentication") + "." + expecting("transactionRequest"),
		},
		{
			auth + auth, "The element " + in(method) + " has invalid child element " + in("merchantAuthentication") + "." +
				expecting("clientId, refId, transactionRequest"),
		},
	} {
		_, fault := wire.Parse([]byte(root(method, tt.children)), wire.Options{LoginInHeader: true})
		if fault == nil || fault.Code != wire.CodeSchema || fault.Text != tt.want {
			t.Errorf("%s: got %v, want %s", tt.children, fault, tt.want)
		}
	}
}

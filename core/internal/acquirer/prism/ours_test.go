package prism_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providera"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The credentials of both sides.
const (
	loginName, loginKey = "demoLogin1", "demoKey000000001"
	merchantID          = "demo_merchant_1"
	keyID, sharedSecret = "11112222-3333-4444-5555-666677778888", "c2hhcmVkIHNlY3JldA=="
)

// request is an HTTP request without its host.
type request struct {
	method, path string
	header       http.Header
	body         string
}

// host is a provider that keeps the first request that moves money. It sends the test's response.
type host struct {
	acquirer.Acquirer

	mu   sync.Mutex
	sent *request
	bank bool // a followed payment is of a bank account
	response
}

// start starts a provider, "a" or "b", and a connector to it.
func start(t *testing.T, provider string) *host {
	t.Helper()
	h := &host{}
	server := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(server.Close)
	client, err := upstream.New(upstream.Config{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if provider == "a" {
		h.Acquirer, err = providera.New(providera.Config{
			Name: loginName, TransactionKey: secret.New(loginKey), Upstream: client,
		})
	} else {
		h.Acquirer, err = providerb.New(providerb.Config{
			MerchantID: merchantID, KeyID: keyID, SharedSecret: secret.New(sharedSecret), Upstream: client,
			Missing: acquirertest.NewMissing(clock.System()),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case strings.Contains(string(body), "<getTransactionDetailsRequest"):
		_, _ = io.WriteString(w, detailsOf(h.bank)) // a lost response fails the test
	case h.sent != nil && strings.HasSuffix(r.URL.Path, "/reversals"):
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, reversed)
	case h.sent != nil:
		w.WriteHeader(http.StatusServiceUnavailable) // only the first request is compared
	default:
		h.sent = &request{r.Method, r.URL.Path, r.Header, string(body)}
		w.WriteHeader(max(h.Status, http.StatusOK))
		_, _ = io.WriteString(w, h.Body) // a lost response fails the test
	}
}

// reversed is provider-b's response to the reversal of a payment that its rules have rejected.
const reversed = `{"id":"1","status":"REVERSED","reversalAmountDetails":{"reversedAmount":"10.00","currency":"USD"}}`

// detailsOf returns provider-a's details of the followed payment.
func detailsOf(bank bool) string {
	source := "<creditCard><cardNumber>XXXX1111</cardNumber><expirationDate>XXXX</expirationDate></creditCard>"
	if bank {
		source = "<bankAccount><accountType>checking</accountType><routingNumber>XXXX3602</routingNumber>" +
			"<accountNumber>XXXX6789</accountNumber><nameOnAccount>Ana Ruiz</nameOnAccount></bankAccount>"
	}
	return `<getTransactionDetailsResponse xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><messages>` +
		`<resultCode>Ok</resultCode><message><code>I00001</code></message></messages><transaction><transId>` + original +
		`</transId><payment>` + source + `</payment></transaction></getTransactionDetailsResponse>`
}

// send executes a command by the connector, and returns its request, nil if it sent none, and its
// result.
func (h *host) send(ctx context.Context, p payment, r response) (*request, acquirer.Response, error) {
	h.mu.Lock()
	h.sent, h.bank, h.response = nil, p.bank, r
	h.mu.Unlock()
	var got acquirer.Response
	var err error
	switch p.command {
	case capture:
		got, err = h.Capture(ctx, p.follow)
	case void:
		got, err = h.Void(ctx, p.follow)
	case refund:
		got, err = h.Refund(ctx, p.follow)
	default:
		got, err = h.Authorize(ctx, p.authorize)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent, got, err
}

// options are the library's settings of an account at a provider.
func options(provider string) object {
	account := object{"authorizedotnet": object{
		"name": hidden(loginName), "transactionKey": hidden(loginKey),
		"baseUrl": "https://api.example.com/xml/v1/request.api",
	}}
	if provider == "b" {
		account = object{"cybersource": object{
			"apiKey": hidden(keyID), "merchantAccount": hidden(merchantID), "apiSecret": hidden(sharedSecret),
			"baseUrl": "https://api.example.com/",
		}}
	}
	return object{"environment": "$Environment.SANDBOX", "connectorConfig": account}
}

// hidden returns a secret string of the library.
func hidden(text string) object { return object{"value": text} }

package providerb_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// response is the provider's response to a payment, with the members of its documentation.
const response = `{"_links":{"authReversal":{"method":"POST","href":"/pts/v2/payments/ID/reversals"},` +
	`"self":{"method":"GET","href":"/pts/v2/payments/ID"},"capture":{"method":"POST",` +
	`"href":"/pts/v2/payments/ID/captures"}},"clientReferenceInformation":{"code":"order-1047"},"id":"ID",` +
	`"orderInformation":{"amountDetails":{"authorizedAmount":"19.99","currency":"USD"}},"paymentAccountInformation":` +
	`{"card":{"type":"001"}},"paymentInformation":{"tokenizedCard":{"type":"001"},"card":{"type":"001"}},` +
	`"pointOfSaleInformation":{"terminalId":"111111"},"processorInformation":{"approvalCode":"888888",` +
	`"networkTransactionId":"123456789619999","transactionId":"123456789619999","responseCode":"100",` +
	`"avs":{"code":"X","codeRaw":"I1"},"cardVerification":{"resultCode":"M"}},"reconciliationId":"60332034UHI9PRJ0",` +
	`"status":"AUTHORIZED","submitTimeUtc":"2026-03-02T15:00:00Z"}`

// BenchmarkAuthorize is P14 of the design.
func BenchmarkAuthorize(b *testing.B) {
	approval := acquirertest.Approval{
		Status: http.StatusCreated, Type: "application/hal+json;charset=utf-8",
		Body: strings.ReplaceAll(response, "ID", "7345678901236789404951"),
	}
	acquirertest.BenchmarkAuthorize(b, approval, func(c *upstream.Client) (acquirer.Acquirer, error) {
		return providerb.New(providerb.Config{
			MerchantID: "demo_merchant_1", KeyID: "11112222-3333-4444-5555-666677778888",
			SharedSecret: secret.New("c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"), Upstream: c,
			Missing: acquirertest.NewMissing(clock.System()),
		})
	})
}

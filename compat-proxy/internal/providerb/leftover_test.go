package providerb_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// leftover authorizes each payment, and ends captures and voids as it is set to.
type leftover struct {
	dialect.Executor

	capture, void command.Result
	ran           []string // the types of the commands
}

func (l *leftover) Identify(context.Context, secret.String) (v1.APIKey, command.Result) {
	return v1.APIKey{Merchant: "mer_1", Scopes: strings.Split(strings.Trim(goldentest.FullScopes, `[]"`), `","`)},
		command.Result{Outcome: command.Done}
}

func (l *leftover) Bind(context.Context, secret.String, command.Binding, []string) command.Result {
	return command.Result{Outcome: command.Done}
}

func (l *leftover) Execute(_ context.Context, _ secret.String, do command.Command) command.Result {
	if n, named := do.(command.Named); named {
		do = n.Command
	}
	l.ran = append(l.ran, fmt.Sprintf("%T", do))
	switch do.(type) {
	case command.Authorize:
		return command.Result{Outcome: command.Done, Transaction: &v1.Transaction{
			ID: "txn_0000000000zzz", Status: v1.TransactionStatusAuthorized, Amount: 100, AmountAuthorized: 100, Currency: "usd",
			Version: 1,
		}}
	case command.Capture:
		return l.capture
	}
	return l.void
}

// TestSaleWithoutANameLeavesNoAuthorization: the capture of a sale is not executed. A retry of a
// request without a name cannot find the authorization. So it is released, or the response has the
// number of the payment. With a name a retry captures it.
func TestSaleWithoutANameLeavesNoAuthorization(t *testing.T) {
	t.Parallel()
	const body = `{"processingInformation":{"capture":true},"paymentInformation":{"card":{"number":"4111111111111111",` +
		`"expirationMonth":"12","expirationYear":"2031","securityCode":"123"}},"orderInformation":{"amountDetails":` +
		`{"totalAmount":"1.00","currency":"USD"},"billTo":{"address1":"1 Main St","postalCode":"12345"}}}`
	unavailable := func(code string) command.Result {
		return command.Result{Outcome: command.Unavailable, Status: http.StatusServiceUnavailable, Code: code}
	}
	voided := command.Result{Outcome: command.Done, Transaction: &v1.Transaction{
		ID: "txn_0000000000zzz", Status: v1.TransactionStatusVoided, Amount: 100, AmountAuthorized: 100, Currency: "usd",
	}}
	uncertain := command.Result{Outcome: command.Uncertain, Status: http.StatusGatewayTimeout}
	parsed, err := id.Parse(id.Transaction, "txn_0000000000zzz")
	if err != nil {
		t.Fatal(err)
	}
	number := strconv.FormatInt(parsed, 10)
	sale, release := []string{"command.Authorize", "command.Capture"}, "command.Void"
	for name, tt := range map[string]struct {
		capture, void command.Result
		key           string
		want          []string
		status        int
		number        bool
	}{
		"not begun": {unavailable(command.CodeNotBegun), voided, "", append(sale, release), 503, false},
		"the acquirer is away": {
			unavailable(v1.CodeAcquirerUnavailable), voided, "", append(sale, release), 400, false,
		},
		"nor is the void begun": {
			unavailable(command.CodeNotBegun), unavailable(command.CodeNotBegun), "", append(sale, release), 502, true,
		},
		"the void is uncertain":    {unavailable(command.CodeNotBegun), uncertain, "", append(sale, release), 502, true},
		"the capture is uncertain": {uncertain, voided, "", sale, 502, true},
		"with a name":              {unavailable(command.CodeNotBegun), voided, "a-key", sale, 502, false},
	} {
		l := &leftover{capture: tt.capture, void: tt.void}
		h := mustHandler(t, l).At("/compat/provider-b")
		w := httptest.NewRecorder()
		const path = "/compat/provider-b/pts/v2/payments"
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
		if tt.key != "" {
			r.Header.Set("Idempotency-Key", tt.key)
		}
		h.ServeHTTP(w, r)
		numbered := strings.Contains(w.Body.String(), `"id":"`+number+`"`)
		if !slices.Equal(l.ran, tt.want) || w.Code != tt.status || numbered != tt.number {
			t.Errorf("%s: got %d %s after %v", name, w.Code, w.Body, l.ran)
		}
	}
}

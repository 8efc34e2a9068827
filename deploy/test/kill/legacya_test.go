//go:build unix

package kill_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func errorAs[T error](err error) (found T, ok bool) {
	ok = errors.As(err, &found)
	return found, ok
}

// kindsA are the sequences of clients of provider-a.
var kindsA = []func(*payment, context.Context) error{
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool {
			return x.Status == v1.TransactionStatusCaptured && x.AmountCaptured == 2000
		}
		return p.payA(ctx, "authCaptureTransaction")
	},
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool {
			return x.Status == v1.TransactionStatusCaptured && x.AmountCaptured == 500
		}
		return errors.Join(p.payA(ctx, "authOnlyTransaction"), p.stepA(ctx, "priorAuthCaptureTransaction", "5.00", "1/311"))
	},
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool { return x.Status == v1.TransactionStatusVoided }
		return errors.Join(p.payA(ctx, "authOnlyTransaction"), p.stepA(ctx, "voidTransaction", "", "1/310"))
	},
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool { return x.AmountCaptured == 2000 && x.AmountRefunded == 250 }
		return errors.Join(p.payA(ctx, "authCaptureTransaction"), p.settle(ctx),
			p.stepA(ctx, "refundTransaction", "2.50", "3/11"))
	},
}

// payA makes the payment under the provider's duplicate rule. If the response with its number was
// lost, payA looks the number up in v1.
func (p *payment) payA(ctx context.Context, kind string) error {
	result, lost, body, err := p.sendA(ctx,
		"<transactionType>"+kind+"</transactionType><amount>20.00</amount><payment><creditCard><cardNumber>4111111111111111"+
			"</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment><order><invoiceNumber>"+p.reference+
			"</invoiceNumber></order>")
	if err != nil || result != "1/1" && (!lost || result != "3/11") {
		return fmt.Errorf("result %s (a response was lost: %v, %w): %s", result, lost, err, body)
	}
	if p.number = element(body, "transId"); result == "1/1" {
		return nil
	}
	_, list, err := p.l.v1(ctx, http.MethodGet, "/v1/transactions?reference="+p.reference)
	if err != nil {
		return err
	}
	for _, part := range strings.Split(list, `"id":"txn_`)[1:] {
		if !strings.Contains(part, `"status":"failed"`) {
			p.number, err = id.ToDecimal(id.Transaction, "txn_"+part[:13])
		}
	}
	return err
}

// stepA captures, voids or refunds the payment.
func (p *payment) stepA(ctx context.Context, kind, amount, again string) error {
	inner := "<transactionType>" + kind + "</transactionType>"
	if amount != "" {
		inner += "<amount>" + amount + "</amount>"
	}
	if kind == "refundTransaction" {
		inner += "<payment><creditCard><cardNumber>1111</cardNumber><expirationDate>XXXX</expirationDate></creditCard>" +
			"</payment>"
	}
	result, lost, body, err := p.sendA(ctx, inner+"<refTransId>"+p.number+"</refTransId>")
	if err != nil || result != "1/1" && (!lost || result != again) {
		return fmt.Errorf("%s: result %s (a response was lost: %v), %w: %s", kind, result, lost, err, body)
	}
	return nil
}

// sendA repeats a document until its outcome is known. lost reports that an earlier attempt may
// have taken effect.
func (p *payment) sendA(ctx context.Context, inner string) (result string, lost bool, body string, err error) {
	login := p.l.f.ProviderA
	document :=
		`<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>` +
			login.Name +
			`</name><transactionKey>` + login.TransactionKey + `</transactionKey></merchantAuthentication><transactionRequest>` +
			inner +
			`</transactionRequest></createTransactionRequest>`
	for tries := 0; tries < 2000 && ctx.Err() == nil; tries++ {
		_, body, err = p.l.send(ctx, p.l.f.Proxies, func(base string) (*http.Request, error) {
			return http.NewRequest(http.MethodPost, base+"/xml/v1/request.api", //nolint:noctx // send gives it one
				strings.NewReader(document))
		})
		if result = resultA(body); err == nil && !slices.Contains([]string{"", "3/19", "E00001", "E00053"}, result) {
			return result, lost, body, nil
		}
		lost = true
		<-time.After(20 * time.Millisecond) // clients wait before a retry
	}
	return result, lost, body, errors.Join(err, errors.New("the outcome stays unknown"))
}

// resultA returns the result of a response: "response code/reason code", or the message code of a
// rejected request.
func resultA(body string) string {
	envelope, rest, _ := strings.Cut(body, "<transactionResponse>")
	code := element(rest, "responseCode")
	if code == "" {
		return element(envelope, "code")
	}
	reason := element(rest, "errorCode")
	if reason == "" {
		reason = element(rest, "code")
	}
	return code + "/" + reason
}

// element returns the text of the first element with the name.
func element(document, name string) string {
	_, rest, _ := strings.Cut(document, "<"+name+">")
	text, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return text
}

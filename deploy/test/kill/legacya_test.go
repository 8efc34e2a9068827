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

// kindsA are what clients of provider-a want.
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
		return errors.Join(p.payA(ctx, "authCaptureTransaction"), p.settle(ctx), p.stepA(ctx, "refundTransaction", "2.50", "3/11"))
	},
}

// payA makes the payment, by the provider's own rule against duplicates, and finds its number when the answer that told it was lost.
func (p *payment) payA(ctx context.Context, kind string) error {
	told, lost, body, err := p.askA(ctx, "<transactionType>"+kind+"</transactionType><amount>20.00</amount><payment><creditCard><cardNumber>4111111111111111"+
		"</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment><order><invoiceNumber>"+p.reference+"</invoiceNumber></order>")
	if err != nil || told != "1/1" && (!lost || told != "3/11") {
		return fmt.Errorf("told %s (an answer was lost: %v, %w): %s", told, lost, err, body)
	}
	if p.number = element(body, "transId"); told == "1/1" {
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

// stepA moves the money of the payment.
func (p *payment) stepA(ctx context.Context, kind, amount, again string) error {
	inner := "<transactionType>" + kind + "</transactionType>"
	if amount != "" {
		inner += "<amount>" + amount + "</amount>"
	}
	if kind == "refundTransaction" {
		inner += "<payment><creditCard><cardNumber>1111</cardNumber><expirationDate>XXXX</expirationDate></creditCard></payment>"
	}
	told, lost, body, err := p.askA(ctx, inner+"<refTransId>"+p.number+"</refTransId>")
	if err != nil || told != "1/1" && (!lost || told != again) {
		return fmt.Errorf("%s: told %s (an answer was lost: %v), %w: %s", kind, told, lost, err, body)
	}
	return nil
}

// askA sends a document until somebody knows what became of it. lost says that an earlier attempt may have been the one that had the effect.
func (p *payment) askA(ctx context.Context, inner string) (told string, lost bool, body string, err error) {
	login := p.l.f.ProviderA
	document := `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>` + login.Name +
		`</name><transactionKey>` + login.TransactionKey + `</transactionKey></merchantAuthentication><transactionRequest>` + inner +
		`</transactionRequest></createTransactionRequest>`
	for range 2000 {
		_, body, err = p.l.send(ctx, p.l.f.Proxies, func(base string) (*http.Request, error) {
			return http.NewRequest(http.MethodPost, base+"/xml/v1/request.api", strings.NewReader(document)) //nolint:noctx // send gives it one
		})
		if told = tellA(body); err == nil && !slices.Contains([]string{"", "3/19", "E00001", "E00053"}, told) {
			return told, lost, body, nil
		}
		lost = true
		<-time.After(20 * time.Millisecond) // as a client does that is told to come back
	}
	return told, lost, body, errors.Join(err, errors.New("nobody tells what became of it"))
}

// tellA is what an answer means to a merchant: the response code and the reason, or the code where it never came to that.
func tellA(body string) string {
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

// element is the text of the first element of a name.
func element(document, name string) string {
	_, rest, _ := strings.Cut(document, "<"+name+">")
	text, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return text
}

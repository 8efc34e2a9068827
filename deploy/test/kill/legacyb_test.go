//go:build unix

package kill_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/clock"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// kindsB are the sequences of clients of provider-b.
var kindsB = []func(*payment, context.Context) error{
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool {
			return x.Status == v1.TransactionStatusCaptured && x.AmountCaptured == 2000
		}
		return p.payB(ctx, true)
	},
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool { return x.AmountCaptured == 500 }
		return errors.Join(p.payB(ctx, false),
			p.stepB(ctx, "captures", `"orderInformation":{"amountDetails":{"totalAmount":"5.00"}}`, "PENDING"))
	},
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool { return x.Status == v1.TransactionStatusVoided }
		return errors.Join(p.payB(ctx, false),
			p.stepB(ctx, "reversals", `"reversalInformation":{"amountDetails":{"totalAmount":"20.00"}}`, "REVERSED"))
	},
	func(p *payment, ctx context.Context) error {
		p.wanted = func(x v1.Transaction) bool { return x.AmountCaptured == 2000 && x.AmountRefunded == 250 }
		return errors.Join(p.payB(ctx, true),
			p.stepB(ctx, "refunds", `"orderInformation":{"amountDetails":{"totalAmount":"2.50"}}`, "PENDING"))
	},
}

// payB makes the payment. The address makes the proxy split a sale into two v1 steps.
func (p *payment) payB(ctx context.Context, sale bool) error {
	got, err := p.sendB(ctx, "/pts/v2/payments",
		fmt.Sprintf(`"processingInformation":{"capture":%t},"paymentInformation":{"card":{"number":"4111111111111111",`+
			`"expirationMonth":"12","expirationYear":"2031"}},"orderInformation":{"amountDetails":{"totalAmount":"20.00",`+
			`"currency":"USD"},`+
			`"billTo":{"address1":"1 Main St","postalCode":"73301","country":"US"}}`, sale), "AUTHORIZED")
	p.number = got
	return err
}

func (p *payment) stepB(ctx context.Context, step, body, want string) error {
	_, err := p.sendB(ctx, "/pts/v2/payments/"+p.number+"/"+step, body, want)
	return err
}

// sendB repeats a request under the client's own transaction name until its outcome is known. It
// returns the number of the payment.
func (p *payment) sendB(ctx context.Context, path, inner, want string) (number string, err error) {
	body := fmt.Sprintf(`{"clientReferenceInformation":{"code":%q,"transactionId":%q},%s}`, p.reference,
		p.reference+path[strings.LastIndexByte(path, '/'):], inner)
	var status int
	var text string
	for tries := 0; tries < 2000 && ctx.Err() == nil; tries++ {
		status, text, err = p.l.send(ctx, p.l.f.Proxies, func(base string) (*http.Request, error) {
			return p.l.signed(base, path, body)
		})
		if err == nil && status < 500 {
			break
		}
		<-time.After(20 * time.Millisecond) // clients wait before a retry
	}
	var got struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	if err != nil || json.Unmarshal([]byte(text), &got) != nil || got.Status != want {
		return "", fmt.Errorf("%s: %d %s, %w, want %s", path, status, text, err, want)
	}
	return got.ID, nil
}

// signed returns a request with an HTTP signature by the merchant's login.
func (l *legacy) signed(base, path, body string) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodPost, base+path, strings.NewReader(body)) //nolint:noctx // send gives it one
	if err != nil {
		return nil, err
	}
	login := l.f.ProviderB
	key, err := base64.StdEncoding.DecodeString(login.SharedSecret)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(body))
	digest, date := "SHA-256="+base64.StdEncoding.EncodeToString(sum[:]),
		clock.System().Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, key)
	// a hash never fails
	_, _ = fmt.Fprintf(mac, "host: %s\ndate: %s\nrequest-target: post %s\ndigest: %s\nv-c-merchant-id: %s",
		r.URL.Host, date, path, digest, login.MerchantID)
	for name, value := range map[string]string{
		"Date": date, "Digest": digest, "V-C-Merchant-Id": login.MerchantID, "Content-Type": "application/json",
		"Signature": fmt.Sprintf(
			`keyid="%s", algorithm="HmacSHA256", headers="host date request-target digest v-c-merchant-id", signature="%s"`,
			login.KeyID, base64.StdEncoding.EncodeToString(mac.Sum(nil))),
	} {
		r.Header.Set(name, value)
	}
	return r, nil
}

//go:build unix

package upgrade_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// shownFailures is the number of failures that are reported singly.
const shownFailures = 20

// traffic is a set of clients that pay through every endpoint and never repeat a request.
type traffic struct {
	fleet         *fleet.Fleet
	plain, sealed *http.Client
	pause         time.Duration // of each client, between two requests

	requests, made, failed atomic.Int64 // requests, acknowledged payments, and failed requests

	mu     sync.Mutex
	kinds  map[string]int // successful requests by kind; guarded by mu
	faults []string       // guarded by mu
	slow   time.Duration  // longest response time; guarded by mu
}

func newTraffic(t *testing.T, f *fleet.Fleet, fr *front, pause time.Duration) *traffic {
	t.Helper()
	sealed := fr.client(t)
	sealed.Transport = mle.New(mle.Config{Next: sealed.Transport})
	return &traffic{fleet: f, plain: fr.client(t), sealed: sealed, pause: pause, kinds: map[string]int{}}
}

// run lets clients pay until ctx ends, and returns after the last response.
func (tr *traffic) run(ctx context.Context, clients int) {
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			scenarios := []func(context.Context, string){
				tr.captured, tr.voided, tr.declined, tr.providerA, tr.providerB,
				tr.encrypted,
			}
			for i := n; ctx.Err() == nil; i++ {
				scenarios[i%len(scenarios)](context.WithoutCancel(ctx), fmt.Sprintf("%d-%d", n, i))
			}
		})
	}
	all.Wait()
}

// call is one request.
type call struct {
	kind, method, path, body string
	status                   int
	want                     string // part of the response body
	mime                     string // "" for JSON
	makes                    bool   // creates a payment
	by                       *http.Client
}

// id is the common part of all responses with an object.
type id struct {
	ID string `json:"id"`
}

// send sends a request once. It returns the id in the response, or "" if the request failed.
func (tr *traffic) send(ctx context.Context, c call) string {
	if tr.pause > 0 {
		rest := time.NewTimer(tr.pause)
		<-rest.C
	}
	tr.requests.Add(1)
	begun := time.Now() //nolint:forbidigo // the test measures real time
	status, text, err := tr.sendOnce(ctx, c)
	took := time.Since(begun)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.slow = max(tr.slow, took)
	if err != nil || status != c.status || !strings.Contains(text, c.want) {
		tr.failed.Add(1)
		if len(tr.faults) < shownFailures {
			tr.faults = append(tr.faults, fmt.Sprintf("%s after %s: %d %v %.300s", c.kind, took, status, err, text))
		}
		return ""
	}
	tr.kinds[c.kind]++
	if c.makes {
		tr.made.Add(1)
	}
	var one id
	if json.Unmarshal([]byte(text), &one) != nil {
		return "" // XML has no id here
	}
	return one.ID
}

func (tr *traffic) sendOnce(ctx context.Context, c call) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, c.method, "https://"+host+c.path, strings.NewReader(c.body))
	if err != nil {
		return 0, "", err
	}
	if c.body == "" {
		r.Body = http.NoBody
	}
	r.GetBody = nil // prevents a repetition by net/http
	r.Header.Set("Authorization", "Bearer "+tr.fleet.Secret)
	r.Header.Set("Content-Type", "application/json")
	if c.mime != "" {
		r.Header.Set("Content-Type", c.mime)
	}
	if c.by == nil {
		c.by = tr.plain
	}
	response, err := c.by.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

const transactions = "/v1/transactions"

// captured authorizes, reads, partly captures, lists and refunds a payment.
func (tr *traffic) captured(ctx context.Context, _ string) {
	txn := tr.send(ctx, call{
		kind: "authorize", method: http.MethodPost, path: transactions, status: 201, want: `"status":"authorized"`,
		makes: true,
		body:  `{"amount":2000,"currency":"usd","payment_method":"card","capture":"manual"}`,
	})
	if txn == "" {
		return
	}
	at := transactions + "/" + txn
	tr.send(ctx, call{kind: "read", method: http.MethodGet, path: at, status: 200, want: txn})
	tr.send(ctx, call{
		kind: "capture", method: http.MethodPost, path: at + "/captures", body: `{"amount":1500,"final":true}`, status: 201,
		want: `"succeeded"`,
	})
	tr.send(ctx, call{
		kind: "list", method: http.MethodGet, path: transactions + "?limit=2", status: 200, want: `"object":"list"`,
	})
	tr.send(ctx, call{
		kind: "refund", method: http.MethodPost, path: "/v1/refunds", body: `{"transaction":"` + txn + `","amount":500}`,
		status: 201, want: `"succeeded"`,
	})
}

func (tr *traffic) voided(ctx context.Context, _ string) {
	txn := tr.send(ctx, call{
		kind: "authorize", method: http.MethodPost, path: transactions, status: 201, want: `"status":"authorized"`,
		makes: true,
		body:  `{"amount":300,"currency":"jpy","payment_method":"card","capture":"manual"}`,
	})
	if txn != "" {
		tr.send(ctx, call{
			kind: "void", method: http.MethodPost, path: transactions + "/" + txn + "/void", status: 200, want: `"voided"`,
		})
	}
}

// declined makes a payment that the acquirer declines.
func (tr *traffic) declined(ctx context.Context, _ string) {
	tr.send(ctx, call{
		kind: "decline", method: http.MethodPost, path: transactions, status: 402, want: `"declined"`, makes: true,
		body: `{"amount":300,"currency":"usd","payment_method":"pm_card_declined"}`,
	})
	tr.send(ctx, call{
		kind: "events", method: http.MethodGet, path: "/v1/events?limit=1", status: 200, want: `"object":"list"`,
	})
}

func (tr *traffic) providerA(ctx context.Context, name string) {
	tr.send(ctx, call{
		kind: "provider-a", method: http.MethodPost, path: "/xml/v1/request.api", status: 200,
		want: "<responseCode>1</responseCode>", makes: true, mime: "text/xml",
		body: `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>` +
			tr.fleet.ProviderA.Name +
			`</name><transactionKey>` + tr.fleet.ProviderA.TransactionKey + `</transactionKey></merchantAuthentication><refId>` +
			name + `</refId><transactionRequest>` +
			`<transactionType>authCaptureTransaction</transactionType><amount>12.50</amount><payment><creditCard><cardNumber>` +
			`4111111111111111</cardNumber>` +
			`<expirationDate>2031-04</expirationDate></creditCard></payment><order><invoiceNumber>` + name +
			`</invoiceNumber></order></transactionRequest></createTransactionRequest>`,
	})
}

func (tr *traffic) providerB(ctx context.Context, name string) {
	paid := tr.send(ctx, call{
		kind: "provider-b", method: http.MethodPost, path: "/pts/v2/payments", status: 201, want: `"status":"AUTHORIZED"`,
		makes: true,
		body: `{"clientReferenceInformation":{"code":"` + name +
			`"},"processingInformation":{"capture":true},"paymentInformation":{"card":{"number":"4111111111111111",
			"expirationMonth":"04","expirationYear":"2031"}},
			"orderInformation":{"amountDetails":{"totalAmount":"12.50","currency":"USD"}}}`,
	})
	if paid != "" {
		tr.send(ctx, call{
			kind: "provider-b refund", method: http.MethodPost, path: "/pts/v2/payments/" + paid + "/refunds", status: 201,
			want: `"status":"PENDING"`,
			body: `{"orderInformation":{"amountDetails":{"totalAmount":"2.50","currency":"USD"}}}`,
		})
	}
}

// encrypted makes a payment with an encrypted body.
func (tr *traffic) encrypted(ctx context.Context, _ string) {
	tr.send(ctx, call{
		kind: "encrypted", method: http.MethodPost, path: transactions, status: 201, want: `"status":"captured"`, makes: true,
		by:   tr.sealed,
		body: `{"amount":700,"currency":"usd","payment_method":"card"}`,
	})
}

// String returns the counts of requests.
func (tr *traffic) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(tr.kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, tr.kinds[kind]))
	}
	return fmt.Sprintf("%d requests, %d failed, the slowest %s (%s)", tr.requests.Load(), tr.failed.Load(), tr.slow,
		strings.Join(parts, ", "))
}

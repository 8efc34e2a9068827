package standalone_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// restAnswer is what a client of the REST dialect looks at. The zero value is an answer that was lost.
type restAnswer struct {
	HTTP   int    `json:"-"`
	Body   string `json:"-"`
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// told is what the answer means to a merchant: the status, or the reason for which there is none.
func (a restAnswer) told() string {
	if a.Reason != "" {
		return a.Reason
	}
	return a.Status
}

// restDoor is the REST dialect's door of one base, as a client with a key sees it.
type restDoor struct {
	base, key string
	http      *http.Client
}

// do sends a request. The error says that there was no whole answer.
func (d *restDoor) do(ctx context.Context, method, path, body string) (restAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, method, d.base+path, strings.NewReader(body))
	if err != nil {
		return restAnswer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+d.key)
	r.Header.Set("Content-Type", "application/json;charset=utf-8")
	got, err := d.http.Do(r)
	if err != nil {
		return restAnswer{}, err
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err != nil {
		return restAnswer{}, err
	}
	a := restAnswer{HTTP: got.StatusCode, Body: string(data)}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("read %q: %w", data, err)
	}
	return a, nil
}

// must is do with an answer that tells what is wanted.
func (d *restDoor) must(tb testing.TB, path, body, want string) restAnswer {
	tb.Helper()
	a, err := d.do(tb.Context(), http.MethodPost, path, body)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	if a.told() != want {
		tb.Errorf("%s = %s, want %s: %s", path, a.told(), want, a.Body)
	}
	return a
}

func restDoorOf(tb testing.TB, p *process) *restDoor {
	tb.Helper()
	return &restDoor{base: p.HTTP, key: p.Keys.SKTest, http: patientClient(tb)}
}

// restPayment is a card payment; name is the client's transactionId, "" for none.
func restPayment(amount, currency string, sale bool, name string) string {
	return fmt.Sprintf(`{"clientReferenceInformation":{"code":"follow","transactionId":%q},"processingInformation":{"capture":%t},`+
		`"paymentInformation":{"card":{"number":"4111111111111111","expirationMonth":"12","expirationYear":"2031"}},`+
		`"orderInformation":{"amountDetails":{"totalAmount":%q,"currency":%q}}}`, name, sale, amount, currency)
}

// withAddress gives a payment's billing address, which an issuer checks: a sale then takes two steps.
func withAddress(payment string) string {
	return strings.Replace(payment, `"orderInformation":{`, `"orderInformation":{"billTo":{"address1":"1 Main St","postalCode":"73301","country":"US"},`, 1)
}

// restAmount is a capture or refund of an amount.
func restAmount(amount, name string) string {
	return fmt.Sprintf(`{"clientReferenceInformation":{"transactionId":%q},"orderInformation":{"amountDetails":{"totalAmount":%q}}}`, name, amount)
}

// restReversal is a reversal of an amount.
func restReversal(amount, name string) string {
	return fmt.Sprintf(`{"clientReferenceInformation":{"transactionId":%q},"reversalInformation":{"amountDetails":{"totalAmount":%q}}}`, name, amount)
}

const restPayments = "/pts/v2/payments"

// manyAtOnce sends equal requests at the same moment and counts what was told.
func (d *restDoor) manyAtOnce(tb testing.TB, n int, path, body string) map[string]int {
	tb.Helper()
	var mu sync.Mutex
	told := map[string]int{} // guarded by mu
	var all sync.WaitGroup
	begin := make(chan struct{})
	for range n {
		all.Go(func() {
			<-begin
			a, err := d.do(tb.Context(), http.MethodPost, path, body)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				tb.Error(err)
				return
			}
			told[a.told()]++
		})
	}
	close(begin)
	all.Wait()
	return told
}

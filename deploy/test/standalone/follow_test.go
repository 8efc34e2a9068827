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

// restResponse has the fields of a response that a client of the REST dialect reads. The zero value
// is a lost response.
type restResponse struct {
	HTTP   int    `json:"-"`
	Body   string `json:"-"`
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// result returns the result for a merchant: the status, or the reason without one.
func (a restResponse) result() string {
	if a.Reason != "" {
		return a.Reason
	}
	return a.Status
}

// restClient is a client of the REST dialect with an API key, at one base address.
type restClient struct {
	base, key string
	http      *http.Client
}

// do sends a request. The error reports an incomplete response.
func (d *restClient) do(ctx context.Context, method, path, body string) (restResponse, error) {
	r, err := http.NewRequestWithContext(ctx, method, d.base+path, strings.NewReader(body))
	if err != nil {
		return restResponse{}, err
	}
	r.Header.Set("Authorization", "Bearer "+d.key)
	r.Header.Set("Content-Type", "application/json;charset=utf-8")
	got, err := d.http.Do(r)
	if err != nil {
		return restResponse{}, err
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err != nil {
		return restResponse{}, err
	}
	a := restResponse{HTTP: got.StatusCode, Body: string(data)}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("read %q: %w", data, err)
	}
	return a, nil
}

// must calls do, and checks the result.
func (d *restClient) must(tb testing.TB, path, body, want string) restResponse {
	tb.Helper()
	a, err := d.do(tb.Context(), http.MethodPost, path, body)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	if a.result() != want {
		tb.Errorf("%s = %s, want %s: %s", path, a.result(), want, a.Body)
	}
	return a
}

func restClientOf(tb testing.TB, p *process) *restClient {
	tb.Helper()
	return &restClient{base: p.HTTP, key: p.Keys.SKTest, http: patientClient(tb)}
}

// restPayment returns a card payment; name is the client's transactionId, "" for none.
func restPayment(amount, currency string, sale bool, name string) string {
	return fmt.Sprintf(`{"clientReferenceInformation":{"code":"follow","transactionId":%q},`+
		`"processingInformation":{"capture":%t},`+
		`"paymentInformation":{"card":{"number":"4111111111111111","expirationMonth":"12","expirationYear":"2031"}},`+
		`"orderInformation":{"amountDetails":{"totalAmount":%q,"currency":%q}}}`, name, sale, amount, currency)
}

// withAddress adds a billing address to a payment. The issuer checks it, so a sale takes two steps.
func withAddress(payment string) string {
	return strings.Replace(payment, `"orderInformation":{`,
		`"orderInformation":{"billTo":{"address1":"1 Main St","postalCode":"73301","country":"US"},`, 1)
}

// restAmount returns a capture or refund of an amount.
func restAmount(amount, name string) string {
	return fmt.Sprintf(`{"clientReferenceInformation":{"transactionId":%q},`+
		`"orderInformation":{"amountDetails":{"totalAmount":%q}}}`, name, amount)
}

// restReversal returns a reversal of an amount.
func restReversal(amount, name string) string {
	return fmt.Sprintf(`{"clientReferenceInformation":{"transactionId":%q},`+
		`"reversalInformation":{"amountDetails":{"totalAmount":%q}}}`, name, amount)
}

const restPayments = "/pts/v2/payments"

// manyAtOnce sends equal requests at the same time and counts the results.
func (d *restClient) manyAtOnce(tb testing.TB, n int, path, body string) map[string]int {
	tb.Helper()
	var mu sync.Mutex
	results := map[string]int{} // guarded by mu
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
			results[a.result()]++
		})
	}
	close(begin)
	all.Wait()
	return results
}

package standalone_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// called returns a JSON-RPC request of a provider-b method; id is the id in the path of its HTTP
// form.
func called(method, id, body string) string {
	if id != "" {
		body = strings.Replace(body, "{", `{"id":"`+id+`",`, 1)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"compat.provider-b.%s","params":%s}`, method, body)
}

// result returns the REST response inside an RPC response.
func result(t *testing.T, text string) restResponse {
	t.Helper()
	whole := mustDecode[struct {
		Result jsontext.Value `json:"result"`
	}](t, response{body: text})
	a := mustDecode[restResponse](t, response{body: string(whole.Result)})
	a.Body = text
	return a
}

// TestRPCRunsProviderB runs all four methods at the RPC endpoint, with a key and with a signature.
func TestRPCRunsProviderB(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client := patientClient(t)
	at := time.Now() //nolint:forbidigo // the process under test has the machine's clock
	for name, send := range map[string]func(body string) string{
		"a key": func(body string) string { return bearerRPC(t, p, client, body) },
		"a signature": func(body string) string {
			return p.signed(t, client, p.HTTP, "/compat/rpc", body, at)
		},
	} {
		step := func(method, id, body, want string) string {
			a := result(t, send(called(method, id, body)))
			if a.result() != want {
				t.Errorf("with %s: %s = %s, want %s: %s", name, method, a.result(), want, a.Body)
			}
			return a.ID
		}
		held := step("createPayment", "", restPayment("20.00", "USD", false, ""), "AUTHORIZED")
		taken := step("capturePayment", held, restAmount("5.00", ""), "PENDING")
		step("refundPayment", taken, restAmount("2.50", ""), "PENDING")
		tooMuch := "INVALID_AMOUNT"
		if name == "a signature" {
			tooMuch = "PENDING" // as in the sandbox, for a development login; v1 makes no refund
		}
		step("refundPayment", taken, restAmount("2.51", ""), tooMuch)
		other := step("createPayment", "", restPayment("30.00", "USD", false, ""), "AUTHORIZED")
		step("reversePayment", other, restReversal("30.00", ""), "REVERSED")
		step("reversePayment", "", restReversal("30.00", ""), "MISSING_FIELD")
		step("capturePayment", "12", restAmount("5.00", ""), "INVALID_DATA")
	}
	both := "[" + called("createPayment", "", restPayment("7.00", "USD", false, "")) + "," +
		called("createPayment", "", restPayment("7.00", "USD", false, "")) + "]"
	text := p.signed(t, client, p.HTTP, "/compat/rpc", both, at)
	if strings.Count(text, `"AUTHORIZED"`) != 2 || p.signed(t, client, p.HTTP, "/compat/rpc", both, at) != text {
		t.Errorf("a signed batch, and again: got %s", text)
	}
	numbers := map[string]bool{}
	for _, x := range merchantOf(t, p).transactions(t) {
		if x.Amount == 700 {
			numbers[x.ID] = true
		}
	}
	if len(numbers) != 2 {
		t.Errorf("payments of a signed batch that came twice: got %d, want 2", len(numbers))
	}
}

func bearerRPC(t *testing.T, p *process, client *http.Client, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, p.HTTP+"/compat/rpc",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Keys.SKTest)
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

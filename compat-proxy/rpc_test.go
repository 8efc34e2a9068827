package compatproxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
)

const (
	rpcPath = "/compat/rpc"
	method  = "compat.provider-a.createTransactionRequest"
	login   = `"merchantAuthentication":{"name":"shop","transactionKey":"` + apiKey + `"}`
	payment = `"transactionRequest":{"transactionType":"authCaptureTransaction","amount":"24.50","payment":` +
		`{"creditCard":` +
		`{"cardNumber":"` + pan + `","expirationDate":"2031-04","cardCode":"987"}}}`
)

func callRPC(t *testing.T, url, bearer, body string) (status int, response string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+rpcPath, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func call(id, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

func TestRPC(t *testing.T) {
	t.Parallel()
	const (
		approved = `"messages":[{"code":"1","description":"This transaction has been approved."}]`
		notAPI   = `"code":"E00007"`
	)
	notification := strings.Replace(call("1", login+","+payment), `"id":1,`, "", 1)
	tests := []struct {
		name, bearer, body string
		want               []string
		payments           int64
	}{
		{"OK", "", call("7", login+","+payment), []string{`{"jsonrpc":"2.0","result":{"transactionResponse":` +
			`{"responseCode":"1"`, approved, `"id":7}`}, 1},
		{"after a byte order mark", "", "\xef\xbb\xbf \r\n" + call("7", login+","+payment), []string{approved, `"id":7`}, 1},
		{"after two", "", "\xef\xbb\xbf\xef\xbb\xbf" + call("7", login+","+payment), []string{`"code":-32700`}, 0},
		{"nothing but one", "", "\xef\xbb\xbf", []string{`"code":-32700`}, 0},
		{"an id that is text", "", call(`"a-1"`, login+","+payment), []string{approved, `"id":"a-1"`}, 1},
		{"a bearer key instead of a login", apiKey, call("1", payment), []string{approved}, 1},
		{
			"a bearer key that is none", "nonsense", call("1", payment),
			[]string{`"result":{`, `"messages":{"resultCode":"Error"`},
			0,
		},
		{"a wrong login is refused by the method", "", call("1", `"merchantAuthentication":{"name":"shop",`+
			`"transactionKey":"x"},`+payment), []string{`"result":{`, notAPI}, 0},
		{"no login", "", call("1", payment), []string{`"code":-32602`, `"data":{"code":"E00003"`, `"id":1`}, 0},
		{"nothing in params", "", call("1", ""), []string{`"code":-32602`, `"code":"E00003"`}, 0},
		{"nothing but a bearer key", apiKey, call("1", ""), []string{`"code":-32602`, `refId, transactionRequest'`}, 0},
		{"out of order", "", call("1", payment+","+login), []string{`"code":-32602`, `has invalid child element`}, 0},
		{
			"a method of no dialect", "", strings.Replace(call("1", login), "Request", "Requests", 1),
			[]string{`"code":-32601`, `"id":1`},
			0,
		},
		{
			"another dialect's method with this one's login", "",
			strings.Replace(call("1", login), "a.createTransactionRequest", "b.capturePayment", 1),
			[]string{`"result":{"response":{"rmsg":"Authentication Failed"}}`},
			0,
		},
		{
			"params that are an array", "", `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":[1]}`,
			[]string{`"code":-32602`},
			0,
		},
		{"no params", "", `{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`, []string{`"code":-32602`}, 0},
		{
			"another version", "", strings.Replace(call("1", login+","+payment), "2.0", "1.0", 1),
			[]string{`"code":-32600`, `"id":null`},
			0,
		},
		{"an id that is an object", "", call("{}", login+","+payment), []string{`"code":-32600`, `"id":null`}, 0},
		{
			"an unknown member", "", strings.Replace(call("1", login+","+payment), "{", `{"extra":1,`, 1),
			[]string{`"code":-32600`},
			0,
		},
		{
			"a repeated member", "", strings.Replace(call("1", login+","+payment), "{", `{"id":2,`, 1),
			[]string{`"code":-32700`, `"id":null`},
			0,
		},
		{"no JSON", "", "<xml/>", []string{`"code":-32700`}, 0},
		{"nothing", "", "", []string{`"code":-32700`}, 0},
		{"a number", "", "1", []string{`"code":-32600`}, 0},
		{"an empty batch", "", "[]", []string{`{"jsonrpc":"2.0","error":{"code":-32600`}, 0},
		{
			"a batch", "", "[" + call("1", login+","+payment) + "," + notification + ",1," + call("3", login+","+payment) + "]",
			[]string{
				`[{"jsonrpc":"2.0","result"`, `"id":1},{"jsonrpc":"2.0","error":{"code":-32600`, `"id":3}]`,
			},
			2,
		},
		{
			"a batch that is too long", "", "[" + strings.Repeat("1,", 16) + "1]",
			[]string{`{"jsonrpc":"2.0","error":{"code":-32600`},
			0,
		},
		{"too long", "", call("1", `"refId":"`+strings.Repeat("x", 300<<10)+`"`), []string{`"code":-32600`}, 0},
		{
			"deeply nested", "", call("1", login+`,"refId":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)),
			[]string{`"error":{`},
			0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &v1{}
			server := mustProxy(t, s, func(*compatproxy.Config) {})
			status, response := callRPC(t, server.URL, tt.bearer, tt.body)
			if status != http.StatusOK {
				t.Errorf("status: got %d, want 200", status)
			}
			for _, want := range tt.want {
				if !strings.Contains(response, want) {
					t.Errorf("got %s, want %s in it", response, want)
				}
			}
			if strings.Contains(response, pan) {
				t.Errorf("the response repeats the card number: %s", response)
			}
			if got := s.creates.Load(); got != tt.payments {
				t.Errorf("payments: got %d, want %d", got, tt.payments)
			}
		})
	}
}

// A notification has no response, so it must not move money.
func TestRPC_notification(t *testing.T) {
	t.Parallel()
	s := &v1{}
	server := mustProxy(t, s, func(*compatproxy.Config) {})
	one := strings.Replace(call("1", login+","+payment), `"id":1,`, "", 1)
	for _, body := range []string{one, "[" + one + "]"} {
		if status, response := callRPC(t, server.URL, "", body); status != http.StatusNoContent || response != "" {
			t.Errorf("got %d and %q, want 204 and nothing", status, response)
		}
	}
	if got := s.creates.Load(); got != 0 {
		t.Errorf("payments: got %d, want none", got)
	}
}

// TestRPC_batchThatTakesTooLong: the first call of a batch takes the request's whole time. The
// response still arrives in time, and marks the other calls as not executed.
func TestRPC_batchThatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := &v1{hold: make(chan struct{}), arrived: make(chan struct{}, 64)}
	server := mustProxy(t, s, func(cfg *compatproxy.Config) {
		cfg.TotalTimeout = 10 * time.Second // a busy machine takes some of it before the first call begins
	})
	t.Cleanup(func() { close(s.hold) })
	one := call("1", login+","+payment)
	status, response := callRPC(t, server.URL, "", "["+one+strings.Repeat(","+one, 15)+"]")
	if got := strings.Count(response, `"code":-32002`); status != http.StatusOK || got != 15 {
		t.Errorf("got %d with %d busy calls, want 15: %s", status, got, response)
	}
	if !strings.HasPrefix(response, `[{"jsonrpc":"2.0","result":`) || !strings.Contains(response, "Nothing was executed") {
		t.Errorf("got %s, want the first call's result and 15 refusals without an effect", response)
	}
	if got := len(s.arrived); got != 1 {
		t.Errorf("v1 got %d requests of the calls, want 1", got)
	}
}

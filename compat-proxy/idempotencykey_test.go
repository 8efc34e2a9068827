package compatproxy_test

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
	v1api "github.com/causeway-pay/causeway/shared/v1"
)

// keeping is a v1 that stores the responses to requests under their Idempotency-Keys.
type keeping struct {
	lost int // this many responses to payments are lost

	mu        sync.Mutex
	kept      map[string]keptResponse   // guarded by mu
	effects   []string                  // the paths of executed requests; guarded by mu
	customers map[string]map[string]any // guarded by mu
}

type keptResponse struct{ request, response, purpose string }

func (f *keeping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	merchant := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer sk_test_")
	if r.URL.Path == "/v1/api_keys/current" {
		_, _ = io.WriteString(w, `{"merchant":"mer_`+merchant+`","mode":"test","scopes":`+goldentest.FullScopes+`}`)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if key, look := strings.CutPrefix(r.URL.Path, "/v1/idempotency_keys/"); look {
		f.lookUp(w, merchant, key)
		return
	}
	if txn, read := strings.CutPrefix(r.URL.Path, "/v1/transactions/"); read && r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"id":"`+txn+`","status":"captured","capture":"automatic","settlement":"settled",`+
			`"currency":"usd","amount":2450,"amount_authorized":2450,"amount_captured":2450,"version":1,`+
			`"card":{"brand":"visa","last4":"1111"}}`)
		return
	}
	if r.Method == http.MethodGet {
		f.customer(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	key, request := merchant+"/"+r.Header.Get("Idempotency-Key"), r.Method+r.URL.Path+string(body)
	u, used := f.kept[key]
	switch {
	case used && u.request != request:
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"error":{"code":"idempotency_key_reused"}}`)
		return
	case used:
		w.Header().Set("Idempotent-Replayed", "true")
	case r.Method == http.MethodPatch:
		u = f.change(r.URL.Path, body)
		u.request = request
		f.kept[key] = u
	default:
		u = f.execute(r.URL.Path, body)
		u.request = request
		f.kept[key] = u
	}
	if u.purpose == "" && f.lost > 0 {
		f.lost--
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, u.response)
}

// lookUp sends the record of a key. The caller holds mu.
func (f *keeping) lookUp(w http.ResponseWriter, merchant, key string) {
	u, used := f.kept[merchant+"/"+key]
	var made struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal([]byte(u.response), &made)
	record := v1api.IdempotencyKeyRecord{Key: key, HTTPStatus: new(http.StatusCreated), Resource: &made.ID}
	if u.purpose != "" {
		record.Purpose = &u.purpose
	}
	if !used {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"not_found"}}`)
		return
	}
	text, _ := json.Marshal(record)
	_, _ = w.Write(text)
}

// customer sends a customer, or lists all. The caller holds mu.
func (f *keeping) customer(w http.ResponseWriter, r *http.Request) {
	c := f.customers[strings.TrimPrefix(r.URL.Path, "/v1/customers/")]
	switch {
	case r.URL.Path == "/v1/customers":
		text, _ := json.Marshal(map[string]any{"data": slices.Collect(maps.Values(f.customers))})
		_, _ = w.Write(text)
		return
	case c == nil:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"not_found"}}`)
		return
	}
	text, _ := json.Marshal(c)
	_, _ = w.Write(text)
}

// change changes a customer. The caller holds mu.
func (f *keeping) change(path string, body []byte) keptResponse {
	c := f.customers[strings.TrimPrefix(path, "/v1/customers/")]
	var in map[string]any
	_ = json.Unmarshal(body, &in)
	maps.Copy(c, in)
	text, _ := json.Marshal(c)
	return keptResponse{response: string(text)}
}

// execute executes a request. The caller holds mu.
func (f *keeping) execute(path string, body []byte) keptResponse {
	var in struct {
		Amount      int64   `json:"amount"`
		Transaction string  `json:"transaction"`
		Reference   *string `json:"reference"`
		Capture     string  `json:"capture"`
		Purpose     string  `json:"purpose"`
		Card        struct {
			Number string `json:"number"`
		} `json:"card"`
	}
	_ = json.Unmarshal(body, &in)
	if path == "/v1/idempotency_keys" {
		return keptResponse{purpose: in.Purpose, response: "{}"}
	}
	f.effects = append(f.effects, path)
	n := 60410000000 + int64(len(f.effects))
	last4 := cmp.Or(in.Card.Number, pan)
	made := map[string]any{
		"id": id.Format(id.Transaction, n), "status": "captured", "currency": "usd", "amount": in.Amount,
		"amount_authorized": in.Amount, "reference": in.Reference, "version": 1,
		"card": map[string]string{"brand": "visa", "last4": last4[len(last4)-4:]},
	}
	parts := strings.Split(strings.TrimPrefix(path, "/v1/"), "/")
	switch {
	case in.Capture == "manual":
		made["status"] = "authorized"
	case len(parts) == 3 && parts[2] == "void":
		made["id"], made["status"] = parts[1], "voided"
	case parts[0] == "tokens":
		made["id"], made["value"] = id.Format(id.Token, n), "tok"+strconv.FormatInt(n, 10)
	case len(parts) == 3 && parts[2] == "payment_methods":
		made["id"], made["customer"] = id.Format(id.PaymentMethod, n), parts[1]
	case parts[0] == "customers":
		made = map[string]any{}
		_ = json.Unmarshal(body, &made)
		made["id"], made["version"] = id.Format(id.Customer, n), 1
		f.customers[id.Format(id.Customer, n)] = made
	case len(parts) == 3:
		made["id"], made["transaction"], made["status"] = id.Format(id.Capture, n), parts[1], "succeeded"
	case parts[0] == "refunds":
		made["id"], made["transaction"], made["status"] = id.Format(id.Refund, n), in.Transaction, "succeeded"
	}
	text, _ := json.Marshal(made)
	return keptResponse{response: string(text)}
}

// done returns how many requests v1 executed, besides tokens.
func (f *keeping) done() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(f.effects), func(path string) bool { return path == "/v1/tokens" }))
}

const (
	followUpA = `{"createTransactionRequest":{"merchantAuthentication":{"name":"shop","transactionKey":"` + apiKey +
		`"},"refId":"F-1","transactionRequest":{"transactionType":"TYPE","amount":"24.50",PAYMENT` +
		`"refTransId":"60410000123"}}}`
	profileA = `{"createCustomerProfileRequest":{"merchantAuthentication":{"name":"shop","transactionKey":"` + apiKey +
		`"},"profile":{"description":"Ana","email":"24.50@example.org","paymentProfiles":[{"payment":{"creditCard":` +
		`{"cardNumber":"` + pan + `","expirationDate":"2031-04"}}},{"payment":{"creditCard":` +
		`{"cardNumber":"5424000000000015","expirationDate":"2031-04"}}}]},"validationMode":"oldLiveMode"}}`
	followUpB = `{"orderInformation":{"amountDetails":{"totalAmount":"24.50","currency":"USD"}}}`
)

// keyedCase is a request that has an effect.
type keyedCase struct {
	path, body string
	effects    int    // of one request
	other      string // the body of another request
	refused    string // in the response to another request under the key
}

func keyedCases() map[string]keyedCase {
	const refusedA, refusedB = `E00013`, `"field":"Idempotency-Key"`
	refundA := strings.NewReplacer("TYPE", "refundTransaction", "PAYMENT",
		`"payment":{"creditCard":{"cardNumber":"XXXX1111","expirationDate":"XXXX"}},`).Replace(followUpA)
	typed := func(name string) string {
		return strings.NewReplacer("TYPE", name, "PAYMENT", "", `"amount":"24.50",`, "").Replace(followUpA)
	}
	call := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"compat.` + method + `","params":` + params + `}`
	}
	inside := strings.TrimSuffix(strings.TrimPrefix(sale, `{"createTransactionRequest":`), "}")
	all := map[string]keyedCase{
		"a, JSON": {path, sale, 1, "", refusedA},
		"a, XML":  {path, saleXML, 1, "", refusedA},
		"a, window 0": {
			path, strings.Replace(sale, `"cardCode":"987"}}`, `"cardCode":"987"}},"transactionSettings":{"setting":[`+
				`{"settingName":"duplicateWindow","settingValue":"0"}]}`, 1), 1, "", refusedA,
		},
		"a, refund":  {path, refundA, 1, strings.Replace(refundA, "24.50", "9.00", 1), refusedA},
		"a, capture": {path, typed("priorAuthCaptureTransaction"), 1, sale, refusedA},
		"a, void":    {path, typed("voidTransaction"), 1, typed("priorAuthCaptureTransaction"), refusedA},
		// A verification and its void for each card, then the customer and a payment method for each.
		"a, profile": {path, profileA, 7, "", refusedA},
		"a, createProfile": {
			path, strings.Replace(sale, `"cardCode":"987"}}`, `"cardCode":"987"}},"profile":{"createProfile":true},`+
				`"customer":{"email":"ana@example.org"}`, 1), 3, "", refusedA,
		},
		"a, RPC": {rpcPath, call("provider-a.createTransactionRequest", inside), 1, "", refusedA},
		"b":      {pathB, saleB, 1, "", refusedB},
		"b, two steps": {
			pathB, strings.Replace(saleB, `"expirationMonth"`, `"securityCode":"987","expirationMonth"`, 1), 2, "",
			refusedB,
		},
		"b, transactionId": {
			pathB, strings.Replace(saleB, `"code":"ORD-1"`, `"code":"ORD-1","transactionId":"t-1"`, 1), 1,
			strings.Replace(saleB, `"code":"ORD-1"`, `"code":"ORD-1","transactionId":"t-2"`, 1), refusedB,
		},
		"b, capture": {pathB + "/60410000123/captures", followUpB, 1, "", refusedB},
		"b, refund":  {pathB + "/60410000123/refunds", followUpB, 1, "", refusedB},
		"b, credit": {
			"/compat/provider-b/pts/v2/credits",
			strings.Replace(saleB, `"processingInformation":{"capture":true},`, "", 1), 1, "", refusedB,
		},
		"b, void": {pathB + "/60410000123/voids", "{}", 1, `{"clientReferenceInformation":{"code":"9"}}`, refusedB},
		"b, RPC":  {rpcPath, call("provider-b.createPayment", saleB), 1, "", refusedB},
	}
	maps.Copy(all, storedCases())
	return all
}

// storedCases are transactions by a stored profile.
func storedCases() map[string]keyedCase {
	const refused = `E00013`
	const ids = `"customerProfileId":"905512340","customerPaymentProfileId":"906650021"`
	byProfile := func(kind, members string) string {
		return `{"createCustomerProfileTransactionRequest":{"merchantAuthentication":{"name":"shop","transactionKey":"` +
			apiKey + `"},"refId":"F-1","transaction":{"` + kind + `":{` + members + `}}}}`
	}
	refund := byProfile("profileTransRefund",
		`"amount":"24.50","creditCardNumberMasked":"XXXX1111","transId":"60410000123"`)
	return map[string]keyedCase{
		"a, stored sale": {path, byProfile("profileTransAuthCapture", `"amount":"24.50",`+ids), 1, "", refused},
		"a, stored capture": {
			path, byProfile("profileTransPriorAuthCapture", `"amount":"24.50","transId":"60410000123"`), 1, "", refused,
		},
		"a, stored refund": {path, refund, 1, "", refused},
		"a, stored void":   {path, byProfile("profileTransVoid", `"transId":"60410000123"`), 1, sale, refused},
	}
}

// keyed sets the Idempotency-Key and the login of a request.
func keyed(key string) func(*http.Request) {
	return func(r *http.Request) {
		asB(r)
		r.Header.Set("Idempotency-Key", key)
	}
}

func setupKeeping(t *testing.T, lost int) (*keeping, []*httptest.Server) {
	t.Helper()
	f := &keeping{kept: map[string]keptResponse{}, customers: map[string]map[string]any{}, lost: lost}
	upstream := goldentest.Serve(t, f)
	at := func(c *compatproxy.Config) { c.V1 = upstream.URL }
	return f, []*httptest.Server{mustProxyOf(t, f, at), mustProxyOf(t, f, at)}
}

// TestIdempotencyKey: on each endpoint, a request with the same key and body as before gets the
// first response and has no effect, at any proxy. Another body under the key is refused. Another
// key, or another merchant's, is another request.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	for name, c := range keyedCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, proxies := setupKeeping(t, 0)
			post := func(i int, body, key string) string {
				_, response := send(t, http.MethodPost, proxies[i%2].URL+c.path, strings.NewReader(body), keyed(key))
				return response
			}
			first := post(0, c.body, "k")
			if f.done() != c.effects {
				t.Fatalf("got %d effects and %s, want %d", f.done(), first, c.effects)
			}
			for i, key := range []string{"k", `"k"`} {
				if again := post(i, c.body, key); again != first || f.done() != c.effects {
					t.Errorf("the key %s again: got %d effects and %s, want %s", key, f.done(), again, first)
				}
			}
			other := c.other
			if other == "" {
				other = strings.Replace(c.body, "24.50", "9.00", 1)
			}
			if got := post(1, other, "k"); !strings.Contains(got, c.refused) || f.done() != c.effects {
				t.Errorf("another body: got %d effects and %s, want %s", f.done(), got, c.refused)
			}
			if c.effects < 3 && !strings.Contains(name, "transactionId") {
				if got := post(1, c.body, "l"); f.done() != 2*c.effects {
					t.Errorf("another key: got %d effects and %s", f.done(), got)
				}
			}
			elsewhere := strings.ReplaceAll(c.body, apiKey, apiKey+"1")
			_, got := send(t, http.MethodPost, proxies[0].URL+c.path, strings.NewReader(elsewhere), func(r *http.Request) {
				keyed("k")(r)
				r.Header.Set("Authorization", "Bearer "+apiKey+"1")
			})
			if want := 3 * c.effects; c.effects < 3 && f.done() != want && !strings.Contains(name, "transactionId") {
				t.Errorf("another merchant: got %d effects and %s, want %d", f.done(), got, want)
			}
		})
	}
}

// refIDs matches the refId of a request, in both formats.
var refIDs = regexp.MustCompile(`("refId":"|<refId>)[^"<]*("|</refId>)`)

// TestIdempotencyKey_refID: a retry may have another refId. Many clients make a new one for each
// attempt.
func TestIdempotencyKey_refID(t *testing.T) {
	t.Parallel()
	for name, c := range keyedCases() {
		if !strings.HasPrefix(name, "a, ") || strings.Contains(name, "profile") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, proxies := setupKeeping(t, 0)
			post := func(ref string) string {
				body := refIDs.ReplaceAllString(c.body, "${1}"+ref+"${2}")
				_, response := send(t, http.MethodPost, proxies[0].URL+c.path, strings.NewReader(body), keyed("k"))
				return strings.Replace(response, ref, "REF", 1)
			}
			first := post("r-1")
			if got := post("r-2"); got != first || f.done() != c.effects || !strings.Contains(got, "REF") {
				t.Errorf("got %d effects and %s, want %d and %s", f.done(), got, c.effects, first)
			}
		})
	}
}

// TestIdempotencyKey_atOnce: concurrent requests with one key have one effect, at two proxies,
// although v1's first responses are lost.
func TestIdempotencyKey_atOnce(t *testing.T) {
	t.Parallel()
	for name, c := range keyedCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, proxies := setupKeeping(t, 2)
			responses := make([]string, 4)
			var all sync.WaitGroup
			for i := range responses {
				all.Go(func() {
					_, responses[i] = send(t, http.MethodPost, proxies[i%2].URL+c.path, strings.NewReader(c.body), keyed("k"))
				})
			}
			all.Wait()
			for _, r := range responses {
				if r != responses[0] {
					t.Errorf("got %s and %s", r, responses[0])
				}
			}
			if f.done() != c.effects {
				t.Errorf("got %d effects, want %d", f.done(), c.effects)
			}
		})
	}
}

// TestIdempotencyKey_operation: a key belongs to one operation, on any object.
func TestIdempotencyKey_operation(t *testing.T) {
	t.Parallel()
	cases := keyedCases()
	for _, pair := range [][2]string{
		{"a, JSON", "a, void"},
		{"a, capture", "a, refund"},
		{"b", "b, refund"},
		{"b, capture", "b, void"},
		{"b, transactionId", "b, capture"},
		{"a, RPC", "a, capture"},
		{"a, stored sale", "a, stored void"},
		{"a, stored capture", "a, stored refund"},
	} {
		f, proxies := setupKeeping(t, 0)
		first, second := cases[pair[0]], cases[pair[1]]
		send(t, http.MethodPost, proxies[0].URL+first.path, strings.NewReader(first.body), keyed("k"))
		_, got := send(t, http.MethodPost, proxies[1].URL+second.path, strings.NewReader(second.body), keyed("k"))
		if f.done() != first.effects || !strings.Contains(got, first.refused) {
			t.Errorf("%v: got %d effects and %s", pair, f.done(), got)
		}
		elsewhere := strings.NewReplacer("60410000123", "60410000124").Replace
		if second.path == elsewhere(second.path) && second.body == elsewhere(second.body) {
			t.Fatal("the second operation has no object")
		}
		send(t, http.MethodPost, proxies[1].URL+second.path, strings.NewReader(second.body), keyed("l"))
		_, got = send(t, http.MethodPost, proxies[1].URL+elsewhere(second.path),
			strings.NewReader(elsewhere(second.body)), keyed("l"))
		if f.done() != first.effects+1 || !strings.Contains(got, first.refused) {
			t.Errorf("%s on another object: got %d effects and %s", pair[1], f.done(), got)
		}
	}
}

// TestIdempotencyKey_batch: the calls of a batch are separate requests, and the batch is repeated
// as a whole.
func TestIdempotencyKey_batch(t *testing.T) {
	t.Parallel()
	cases := keyedCases()
	batch := "[" + cases["a, RPC"].body + "," + cases["a, RPC"].body + "," + cases["b, RPC"].body + "," +
		cases["b, RPC"].body + "]"
	f, proxies := setupKeeping(t, 0)
	_, first := send(t, http.MethodPost, proxies[0].URL+rpcPath, strings.NewReader(batch), keyed("k"))
	_, again := send(t, http.MethodPost, proxies[1].URL+rpcPath, strings.NewReader(batch), keyed("k"))
	if first != again || f.done() != 4 {
		t.Errorf("got %d effects, %s, then %s", f.done(), first, again)
	}
}

// TestIdempotencyKey_invalid: a header that names no key is refused, and nothing is executed. A
// request that only reads ignores it.
func TestIdempotencyKey_invalid(t *testing.T) {
	t.Parallel()
	for name, c := range keyedCases() {
		for _, lines := range [][]string{{""}, {strings.Repeat("k", 256)}, {"é"}, {"a", "b"}} {
			f, proxies := setupKeeping(t, 0)
			_, got := send(t, http.MethodPost, proxies[0].URL+c.path, strings.NewReader(c.body), func(r *http.Request) {
				asB(r)
				r.Header["Idempotency-Key"] = lines
			})
			if f.done() != 0 || !strings.Contains(got, "Idempotency-Key") {
				t.Errorf("%s, %q: got %d effects and %s", name, lines, f.done(), got)
			}
		}
	}
	_, proxies := setupKeeping(t, 0)
	url := proxies[0].URL + "/compat/provider-b/tss/v2/transactions/60410000123"
	resp, body := send(t, http.MethodGet, url, nil, keyed(""))
	if resp.status != http.StatusOK {
		t.Errorf("a read: got %d %s", resp.status, body)
	}
}

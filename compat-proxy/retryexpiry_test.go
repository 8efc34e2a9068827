package compatproxy_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
)

// monthlyV1 looks an Idempotency-Key up before it rejects an expired card, as v1 does. It stores
// that refusal under the key. It counts the payments and refunds that it made.
type monthlyV1 struct {
	clock *clock.Fake

	mu   sync.Mutex
	uses map[string]monthlyUse // guarded by mu
	made int                   // guarded by mu
}

type monthlyUse struct {
	sent, body, resource, purpose string
	status                        int
	at                            time.Time
}

const timestampForm = "2006-01-02T15:04:05.000Z"

func (f *monthlyV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
	if r.URL.Path == "/v1/api_keys/current" {
		_, _ = io.WriteString(w, `{"merchant":"mer_1","mode":"test","scopes":`+goldentest.FullScopes+`}`)
		return
	}
	if key, one := strings.CutPrefix(r.URL.Path, "/v1/idempotency_keys/"); one {
		f.lookUp(w, key)
		return
	}
	body, _ := io.ReadAll(r.Body)
	key := r.Header.Get("Idempotency-Key")
	use, used := f.uses[key]
	switch {
	case used && use.sent != string(body):
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"error":{"code":"idempotency_key_reused","status":422}}`)
		return
	case used:
		w.Header().Set("Idempotent-Replayed", "true")
	default:
		use = f.run(r.URL.Path, body)
		f.uses[key] = use
	}
	w.WriteHeader(use.status)
	_, _ = io.WriteString(w, use.body)
}

// run executes a new request. The caller holds mu.
func (f *monthlyV1) run(path string, body []byte) monthlyUse {
	type expiring struct {
		Month int `json:"exp_month"`
		Year  int `json:"exp_year"`
	}
	var sent struct {
		Purpose  string    `json:"purpose"`
		Amount   int64     `json:"amount"`
		Currency string    `json:"currency"`
		Capture  string    `json:"capture"`
		Card     *expiring `json:"card"`
		Token    *expiring `json:"network_token"`
	}
	use := monthlyUse{sent: string(body), at: f.clock.Now(), status: http.StatusBadRequest}
	if err := json.Unmarshal(body, &sent); err != nil {
		use.body = `{"error":{"code":"invalid_json","status":400}}`
		return use
	}
	if path == "/v1/idempotency_keys" { // a reservation, which makes nothing
		use.status, use.body, use.purpose = http.StatusCreated, "{}", sent.Purpose
		return use
	}
	for method, e := range map[string]*expiring{"card": sent.Card, "network_token": sent.Token} {
		if e != nil && !use.at.Before(time.Date(e.Year, time.Month(e.Month)+1, 1, 0, 0, 0, 0, time.UTC)) {
			use.body = `{"error":{"code":"expired_card","status":400,"param":"` + method + `.exp_year"}}`
			return use
		}
	}
	f.made++
	use.status, use.resource = http.StatusCreated, id.Format(id.Transaction, int64(60410000000+f.made))
	status := map[string]string{"manual": "authorized", "automatic": "captured"}[sent.Capture]
	if path == "/v1/refunds" {
		use.resource, status = id.Format(id.Refund, int64(60410000000+f.made)), "pending"
	}
	use.body = fmt.Sprintf(`{"id":%q,"status":%q,"mode":"test","currency":%q,"amount":%[4]d,"amount_authorized":%[4]d,`+
		`"created_at":%[5]q}`, use.resource, status, sent.Currency, sent.Amount, use.at.UTC().Format(timestampForm))
	return use
}

// lookUp sends the record of a key. The caller holds mu.
func (f *monthlyV1) lookUp(w http.ResponseWriter, key string) {
	use, used := f.uses[key]
	if !used {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"not_found","status":404}}`)
		return
	}
	purpose := ""
	if use.purpose != "" {
		purpose = fmt.Sprintf(`"purpose":%q,`, use.purpose)
	}
	_, _ = fmt.Fprintf(w, `{"object":"idempotency_key","key":%q,"status":"completed","http_status":%d,"resource":%q,`+
		`%s"created_at":%[5]q,"expires_at":%[5]q}`,
		key, use.status, use.resource, purpose, use.at.UTC().Format(timestampForm))
}

// payments returns the number of payments and refunds.
func (f *monthlyV1) payments() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made
}

// expiring is a request with a card that expires at the end of November 2026.
type expiring struct {
	path, body string
	change     func(*http.Request)
	done       string // in the response to an executed request
	retried    string // in the response to its retry; "" is the same response
	expired    string // in the response to a request with an expired card
}

const (
	expiringCardA = `"creditCard":{"cardNumber":"` + pan + `","expirationDate":"2026-11"}`
	expiringA     = `{"createTransactionRequest":{` +
		`"merchantAuthentication":{"name":"shop","transactionKey":"demoKey000000001"},` +
		`"transactionRequest":{"transactionType":"authCaptureTransaction","amount":"24.50",` +
		`"payment":{` + expiringCardA + `}}}}`
	expiringB = `{"clientReferenceInformation":{"transactionId":"T-1"},"paymentInformation":{"card":` +
		`{"number":"` + pan + `","expirationMonth":"11","expirationYear":"2026"}},` +
		`"orderInformation":{"amountDetails":{"totalAmount":"24.50","currency":"USD"}}}`
)

// expiringRequests has a request for each form of a card with an expiry, in both dialects.
func expiringRequests() map[string]expiring {
	a := func(old, replacement string) expiring {
		body := strings.Replace(expiringA, old, replacement, 1)
		return expiring{path, body, nil, approvedJSON, `"errorCode":"11"`, `"errorCode":"8"`}
	}
	b := func(path, old, replacement, done string) expiring {
		body := strings.Replace(expiringB, old, replacement, 1)
		return expiring{"/compat/provider-b" + path, body, asB, done, "", `"reason":"EXPIRED_CARD"`}
	}
	named := b("/pts/v2/payments", `"transactionId":"T-1"`, "", authorizedB)
	named.change = func(r *http.Request) { asB(r); r.Header.Set("V-C-Idempotency-Id", "K-1") }
	return map[string]expiring{
		"provider-a, card":  a("", ""),
		"provider-a, track": a(expiringCardA, `"trackData":{"track2":";`+pan+`=26111010000000000?"}`),
		"provider-a, network token": a(`"expirationDate":"2026-11"`,
			`"expirationDate":"2026-11","isPaymentToken":true,"cryptogram":"AAAAAAAAAAAAAAAAAAAAAAAAAAA="`),
		"provider-a, credit": a("authCaptureTransaction", "refundTransaction"),
		"provider-b, card":   b("/pts/v2/payments", "", "", authorizedB),
		"provider-b, header": named,
		"provider-b, network token": b("/pts/v2/payments", `"card":{`,
			`"tokenizedCard":{"cryptogram":"AAAAAAAAAAAAAAAAAAAAAAAAAAA=","transactionType":"1",`, authorizedB),
		"provider-b, credit": b("/pts/v2/credits", "", "", `"status":"PENDING"`),
	}
}

// TestRetryOverTheEndOfAMonth sends a request with a card in its last month, whose response is
// lost. The clocks pass the end of the month. A retry finds the first request, so nothing is paid
// twice. A further request with the card is then rejected, as is its retry.
func TestRetryOverTheEndOfAMonth(t *testing.T) {
	t.Parallel()
	for name, c := range expiringRequests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := clock.NewFake(time.Date(2026, 11, 30, 23, 59, 30, 0, time.UTC))
			s := &monthlyV1{clock: now, uses: map[string]monthlyUse{}}
			proxy := mustProxyOf(t, s, func(cfg *compatproxy.Config) {
				cfg.Clock, cfg.Credentials = now, mustLogins(t)
			})
			request := func(amount string) string {
				body := strings.NewReplacer("24.50", amount, "T-1", "T-"+amount).Replace(c.body)
				_, got := send(t, http.MethodPost, proxy.URL+c.path, strings.NewReader(body), func(r *http.Request) {
					if c.change != nil {
						c.change(r)
						r.Header.Set("V-C-Idempotency-Id", "K-"+amount)
					}
				})
				return got
			}
			first := request("24.50")
			if !strings.Contains(first, c.done) || s.payments() != 1 {
				t.Fatalf("first: got %s with %d payments, want %s", first, s.payments(), c.done)
			}
			now.Advance(time.Minute)
			again := request("24.50")
			if c.retried == "" && again != first || !strings.Contains(again, c.retried) {
				t.Errorf("again: got %s, want %s%s", again, first, c.retried)
			}
			for range 2 {
				if got := request("25.00"); !strings.Contains(got, c.expired) {
					t.Errorf("another: got %s, want %s", got, c.expired)
				}
			}
			if got := s.payments(); got != 1 {
				t.Errorf("payments: got %d, want 1", got)
			}
		})
	}
}

// mustLogins returns a file with a login of each dialect that may make unlinked refunds.
func mustLogins(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	logins := "provider_a:\n" +
		"  - {name: shop, transaction_key: demoKey000000001, api_key: " + apiKey + ", unlinked_refunds: true}\n" +
		"provider_b:\n  - {merchant_id: shop, api_key: " + apiKey + ", unlinked_credits: true}\n"
	if err := os.WriteFile(file, []byte(logins), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

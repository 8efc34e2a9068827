package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (b *bundle) publicKey(t *testing.T) string {
	t.Helper()
	return coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "publishable"})
}

// TestUnfinishedBodiesStopNoPayment: more requests with unfinished bodies than are served at the
// same time stop neither the payments of others nor health. When a body ends, its request is
// served.
func TestUnfinishedBodiesStopNoPayment(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, atOnce: 2, bodyGrace: time.Hour})
	at := strings.TrimPrefix(b.server.URL, "http://")
	login := "Authorization: Bearer " + b.publicKey(t)
	var held []*programtest.Unfinished
	for i := range 20 {
		from := fmt.Sprintf("127.0.1.%d", i+1)
		held = append(held, programtest.MustSendUnfinished(t, from, at, "/v1/tokens", login, "Content-Type: application/json"))
	}
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, "")), 201)
	b.MustHealth(t)
	const card = `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2031}}`
	held[0].MustSend(t, card+strings.Repeat(" ", 100-len(card)))
	if status, body := held[0].MustRespond(t); status != 201 {
		t.Errorf("the whole body: got %d %s", status, body)
	}
}

// TestSlowBody: a request whose body does not arrive gets 408.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, bodyGrace: time.Millisecond})
	u := programtest.MustSendUnfinished(t, "", strings.TrimPrefix(b.server.URL, "http://"), "/v1/transactions",
		"Authorization: Bearer "+b.key, "Content-Type: application/json", "Idempotency-Key: slow")
	if status, body := u.MustEnd(t); status != http.StatusRequestTimeout || !strings.Contains(body, `"body_too_slow"`) {
		t.Errorf("got %d %s", status, body)
	}
	if got := b.number(t, "SELECT COUNT(*) FROM transactions") + b.number(t, "SELECT COUNT(*) FROM idempotency_keys"); got != 0 {
		t.Errorf("it left %d rows", got)
	}
}

// TestShareOfUnfinishedBodies: the addresses of one site may have 68 unfinished bodies with a
// public key, and no more. Another site is served.
func TestShareOfUnfinishedBodies(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, bodyGrace: time.Hour, hop: hopSecret})
	at, pk := strings.TrimPrefix(b.server.URL, "http://"), b.publicKey(t)
	login := "Authorization: Bearer " + pk
	for i := range 68 {
		from := fmt.Sprintf("127.0.1.%d", i%2+1)
		programtest.MustSendUnfinished(t, from, at, "/v1/tokens", login, "Content-Type: application/json")
	}
	status, body := programtest.MustSendHead(t, "127.0.1.3", at, "/v1/tokens", login).MustEnd(t)
	if status != 429 || !strings.Contains(body, `"too_many_unfinished_bodies"`) {
		t.Errorf("one more: got %d %s", status, body)
	}
	b.mustMakeToken(t, pk)
}

// TestAnnouncedBodiesStopNoPayer: a client announces long bodies with a public key and sends none
// of them. It has two addresses, or the networks of one site. The merchant's other payers are
// served.
func TestAnnouncedBodiesStopNoPayer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bodies int // nearly as many as the server accepts
		from   func(i int) (string, string)
	}{
		"two addresses": {100, func(i int) (string, string) { return fmt.Sprintf("127.0.%d.1", i%2+1), "X-None: 1" }},
		"one IPv6 site": {60, func(i int) (string, string) {
			return "", fmt.Sprintf("X-Svc-Int-Client-Address: 2001:db8:1:%x::1\r\nX-Svc-Int-Hop: %s", i, hopSecret)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openBundle(t, &bundle{rateLimit: -1, bodyGrace: time.Hour, hop: hopSecret})
			at, pk := strings.TrimPrefix(b.server.URL, "http://"), b.publicKey(t)
			for i := range tt.bodies {
				address, field := tt.from(i)
				programtest.MustSendUnfinished(t, address, at, "/v1/tokens", field,
					"Authorization: Bearer "+pk, "Content-Type: application/json", "Content-Length: 16383")
			}
			b.mustMakeToken(t, pk)
		})
	}
}

// hopSecret makes each address of loopback the address of a client.
var hopSecret = strings.Repeat("h", 43)

func (b *bundle) mustMakeToken(t *testing.T, key string) {
	t.Helper()
	const card = `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2031}}`
	MustDecode[v1.Token](t, b.post(t, "/v1/tokens", card, as(key)), 201)
}

// TestMerchantRateLimit: all keys of a merchant have one budget. Another merchant has its own.
func TestMerchantRateLimit(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: 1})
	var keys []string
	for range 5 {
		keys = append(keys, coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"}))
	}
	for i := range 8 { // twice the merchant's limit, which is four times the limit of a key
		a := b.get(t, "/v1/transactions", as(keys[i/2]))
		MustDecode[page](t, a, 200)
		if got := a.header.Get("RateLimit-Policy"); got != `"key";q=2;w=2` {
			t.Errorf("got %s", got)
		}
	}
	a := b.get(t, "/v1/transactions", as(keys[4]))
	wantRefusal(t, a, refusal{429, v1.ErrorTypeRateLimitError, "rate_limited", ""})
	if a.header.Get("RateLimit") != `"merchant";r=0;t=2` || a.header.Get("RateLimit-Policy") != `"merchant";q=8;w=2` ||
		a.header.Get("Retry-After") != "1" {
		t.Errorf("got %v", a.header)
	}
	other := coretest.MustCreateMerchant(t, b.core.Admin())
	key := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: other, Mode: "test", Kind: "secret"})
	MustDecode[page](t, b.get(t, "/v1/transactions", as(key)), 200)
}

// TestKeysAreBounded: a merchant has at most 100 active keys in a mode. At the bound a key can be
// rolled, and after a revocation one can be made.
func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const another = `{"kind":"secret"}`
	var last v1.APIKey
	for range 99 { // the bundle has one
		last = MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", another), 201)
	}
	limit := refusal{409, v1.ErrorTypeInvalidRequestError, "api_key_limit", ""}
	wantRefusal(t, b.post(t, "/v1/api_keys", another, keyed("k")), limit)
	if _, err := b.core.Admin().CreateKey(t.Context(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"}); err == nil {
		t.Error("the command line made one more key")
	}
	coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	rolled := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+last.ID+"/roll", ""), 201)
	wantRefusal(t, b.post(t, "/v1/api_keys", another), limit)
	if a := b.do(t, "DELETE", "/v1/api_keys/"+rolled.ID, ""); a.status != 200 {
		t.Fatalf("revoke: got %d %s", a.status, a.body)
	}
	MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", another), 201)
	wantRefusal(t, b.post(t, "/v1/api_keys", another, keyed("k")), limit) // the stored response
}

// TestClientsThatHangUp: if the client disconnects at any point of a request, that is not an error
// of the service.
func TestClientsThatHangUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, "").ID
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/transactions", ""},
		{"GET", "/v1/transactions?reference=none", ""},
		{"GET", "/v1/transactions/" + txn, ""},
		{"GET", "/v1/events", ""},
		{"GET", "/v1/api_keys/current", ""},
		{"GET", "/v1/idempotency_keys/none", ""},
		{"GET", "/v1/health", ""},
		{"POST", "/v1/transactions", paid("tok_0000000000001", "")},
		{"POST", "/v1/refunds", `{"transaction":"` + txn + `"}`},
		{"PATCH", "/v1/customers/cus_0000000000001", `{"phone":"1"}`},
	} {
		r := httptest.NewRequestWithContext(ended, c.method, c.path, strings.NewReader(c.body))
		r.Header = http.Header{"Authorization": {"Bearer " + b.key}, "Content-Type": {"application/json"}, "Idempotency-Key": {c.path}}
		b.core.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	for line := range strings.Lines(b.logs.String()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			t.Errorf("got an error line: %s", line)
		}
	}
	if !strings.Contains(b.logs.String(), `"status":499`) {
		t.Error("no request is logged with status 499")
	}
	b.wantSeries(t, `request_seconds_count{route="POST /v1/transactions",status="499"} 1`)
}

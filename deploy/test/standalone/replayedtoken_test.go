package standalone_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/clock"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// pathlessToken returns an Authorization header for the body that covers no path, like tokens of
// older clients. nonce is its jti, "" for none.
func pathlessToken(tb testing.TB, p *process, body, nonce string) string {
	tb.Helper()
	key, err := base64.StdEncoding.DecodeString(p.ProviderB.SharedSecret)
	if err != nil {
		tb.Fatal(err)
	}
	now := clock.System().Now().Unix()
	claims := map[string]any{"iat": now, "exp": now + 120, "iss": p.ProviderB.MerchantID}
	if body != "" {
		sum := sha256.Sum256([]byte(body))
		claims["digest"] = base64.StdEncoding.EncodeToString(sum[:])
	}
	if nonce != "" {
		claims["jti"] = nonce
	}
	part := func(v any) string {
		text, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			tb.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]string{"alg": "HS256", "kid": p.ProviderB.KeyID}) + "." + part(claims)
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, signed) // a hash never fails
	return "Bearer " + signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// recordedToken is a request that is sent to several paths with the same token and bytes.
type recordedToken struct {
	p            *process
	token, body  string
	header, base string // v-c-idempotency-id, and the proxy's address
}

// at sends it to a path and checks the result.
func (r recordedToken) at(tb testing.TB, path, want string) restResponse {
	tb.Helper()
	sent, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, r.base+path, strings.NewReader(r.body))
	if err != nil {
		tb.Fatal(err)
	}
	sent.Header.Set("Authorization", r.token)
	sent.Header.Set("V-C-Merchant-Id", r.p.ProviderB.MerchantID)
	if r.header != "" {
		sent.Header.Set("v-c-idempotency-id", r.header)
	}
	return sendSigned(tb, patientClient(tb), sent, want)
}

// TestRecordedTokenAtAnotherPath repeats a recorded token that covers no path, at other paths. It
// authenticates no other operation, under any name and at any proxy. The same bytes at the same
// path are its retry. Without a nonce, an equal token also captures another payment: old clients
// sign equal captures of one second so.
func TestRecordedTokenAtAnotherPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	other := startReplica(t, p.HTTP, logins(dir))
	for name, tt := range map[string]struct{ nonce, transaction, header, second string }{
		"neither": {second: "PENDING"}, "jti": {"n-1", "", "", "INVALID_DATA"},
		"transactionId": {"", "T", "", "DUPLICATE_REQUEST"}, "jti and transactionId": {"n-2", "T-2", "", "INVALID_DATA"},
		"header": {"", "", "K-1", "PENDING"}, "jti and header": {"n-3", "", "K-2", "INVALID_DATA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			record := func(body, suffix string) recordedToken {
				body = strings.Replace(body, `{"clientReferenceInformation":{`,
					`{"clientReferenceInformation":{"comments":"`+name+suffix+`",`, 1)
				if tt.nonce != "" {
					suffix = tt.nonce + suffix
				} else {
					suffix = ""
				}
				return recordedToken{p, pathlessToken(t, p, body, suffix), body, tt.header, p.HTTP}
			}
			id := func(suffix string) string {
				if tt.transaction == "" {
					return ""
				}
				return tt.transaction + suffix
			}
			sale := record(restPayment("12.50", "USD", true, id("s")), "s")
			first := sale.at(t, restPayments, "AUTHORIZED")
			sale.base = other.base
			sale.at(t, "/pts/v2/credits", "INVALID_DATA")
			sale.at(t, restPayments+"/"+first.ID+"/voids", "INVALID_DATA")
			if again := sale.at(t, restPayments, "AUTHORIZED"); again.ID != first.ID {
				t.Errorf("the retry made another payment: %s and %s", first.ID, again.ID)
			}
			one := d.must(t, restPayments, restPayment("12.50", "USD", false, ""), "AUTHORIZED")
			two := d.must(t, restPayments, restPayment("12.50", "USD", false, ""), "AUTHORIZED")
			captures := restPayments + "/" + one.ID + "/captures"
			capture := record(restAmount("5.00", id("c")), "c")
			taken := capture.at(t, captures, "PENDING")
			capture.base = other.base
			capture.at(t, restPayments+"/"+one.ID+"/refunds", "INVALID_DATA")
			capture.at(t, restPayments+"/"+one.ID+"/voids", "INVALID_DATA")
			for range 2 {
				capture.at(t, restPayments+"/"+two.ID+"/captures", tt.second)
			}
			capture.at(t, restPayments+"/"+two.ID+"/refunds", "INVALID_DATA")
			capture.at(t, restPayments+"/"+two.ID+"/voids", "INVALID_DATA")
			if again := capture.at(t, captures, "PENDING"); again.ID != taken.ID {
				t.Errorf("the retry made another capture: %s and %s", taken.ID, again.ID)
			}
			if got := stored(t, m, one.ID); got.AmountCaptured != 500 || got.AmountRefunded != 0 {
				t.Errorf("payment 1: got %d captured, %d refunded, want 500 and 0", got.AmountCaptured, got.AmountRefunded)
			}
			captured := int64(0)
			if tt.second == "PENDING" {
				captured = 500
			}
			if got := stored(t, m, two.ID); got.AmountCaptured != captured || got.AmountRefunded != 0 {
				t.Errorf("payment 2: got %d captured, %d refunded, want %d and 0", got.AmountCaptured, got.AmountRefunded,
					captured)
			}
			if got := stored(t, m, first.ID).Status; got != v1.TransactionStatusCaptured {
				t.Errorf("the sale: got %s, want it captured", got)
			}
		})
	}
}

// TestRecordedTokenOfARefusal checks that a token that covers no path authenticates no second
// operation. That also holds after a refusal, before or by v1, and after a lookup.
func TestRecordedTokenOfARefusal(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	held := d.must(t, restPayments, restPayment("12.50", "USD", true, ""), "AUTHORIZED")
	at := restPayments + "/" + held.ID
	for _, refused := range []struct{ path, body, want string }{
		{at + "/captures", restAmount("x", ""), "INVALID_DATA"},
		{at + "/reversals", restAmount("5.00", ""), "MISSING_FIELD"},
		{restPayments + "/1/refunds", restAmount("4.00", ""), "INVALID_DATA"},
		{"/pts/v2/refunds/" + held.ID + "/voids", restAmount("3.00", ""), "INVALID_DATA"},
		{"/pts/v2/nothing", restAmount("2.00", ""), ""},
	} {
		r := recordedToken{p, pathlessToken(t, p, refused.body, ""), refused.body, "", p.HTTP}
		r.at(t, refused.path, refused.want)
		r.at(t, at+"/voids", "INVALID_DATA")
	}
	lookup := recordedToken{p, pathlessToken(t, p, "", ""), "", "", p.HTTP}
	if got := lookup.at(t, at+"/voids", ""); got.HTTP != http.StatusUnauthorized {
		t.Errorf("a token of a lookup: got %d, want 401", got.HTTP)
	}
	if got := stored(t, m, held.ID).Status; got != v1.TransactionStatusCaptured {
		t.Errorf("got %s, want it captured", got)
	}
}

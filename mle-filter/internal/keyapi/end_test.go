package keyapi_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyapi"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestEndKey checks that a merchant ends its own previous key, once or repeatedly. It cannot end
// its current key, or a key of another merchant.
func TestEndKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := MustDecode[key](t, b.do(t, "sk", "GET", current, ""), 200).Kid
	wantRefusal(t, b.do(t, "sk", "DELETE", all+"/"+first, ""), 409, "mle_key_in_use", "kid")
	second := MustDecode[key](t, b.do(t, "sk", "POST", rotate, ""), 200).Kid
	wantRefusal(t, b.do(t, "test", "DELETE", all+"/"+first, ""), 404, "not_found", "kid")
	wantRefusal(t, b.do(t, "reader", "DELETE", all+"/"+first, ""), 403, "insufficient_scope", "")
	wantRefusal(t, b.do(t, "pk", "DELETE", all+"/"+first, ""), 403, "publishable_key_not_allowed", "")
	wantRefusal(t, b.do(t, "sk", "DELETE", all+"/"+first+"?now=1", ""), 400, "unknown_parameter", "")
	wantRefusal(t, b.do(t, "sk", "DELETE", all+"/nothing", ""), 404, "not_found", "kid")
	wantRefusal(t, b.do(t, "sk", "DELETE", current, ""), 405, "method_not_allowed", "")
	wantRefusal(t, b.do(t, "sk", "GET", all+"/"+first, ""), 405, "method_not_allowed", "")
	if _, _, err := b.keys.Private(t.Context(), tenant, first); err != nil {
		t.Errorf("before: %v", err)
	}
	for range 2 {
		r := b.do(t, "sk", "DELETE", all+"/"+first, "")
		if got := MustDecode[v1.MLEKeyDeleted](t, r, 200); got.Kid != first || got.Object != "mle_key" || !got.Deleted ||
			r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %s", r.body)
		}
		wantContract[v1.MLEKeyDeleted](t, r)
	}
	if _, _, err := b.keys.Private(t.Context(), tenant, first); err == nil {
		t.Error("after: it decrypts")
	}
	if got := MustDecode[key](t, b.do(t, "sk", "GET", current, ""), 200).Kid; got != second {
		t.Errorf("current: got %s, want %s", got, second)
	}
	if r := b.do(t, "sk", "HEAD", current, ""); r.status != 200 {
		t.Errorf("HEAD: got %d", r.status)
	}
}

// TestRotationLimits checks that a rotation beyond a limit has no effect and gets Retry-After. Its
// response is not stored for the Idempotency-Key.
func TestRotationLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t, "sk", "GET", current, "")
	for i := range keyring.MaxLive - 1 {
		MustDecode[key](t, b.do(t, "sk", "POST", rotate, "", "Idempotency-Key", fmt.Sprint(i)), 200)
	}
	many := b.do(t, "sk", "POST", rotate, "", "Idempotency-Key", "k")
	wantRefusal(t, many, 409, "mle_key_limit", "")
	if got := many.header.Get("Retry-After"); got != "2592000" {
		t.Errorf("Retry-After: got %s", got)
	}
	MustDecode[key](t, b.do(t, "sk", "POST", rotate, `{"expires_in":0}`), 200)
	often := b.do(t, "sk", "POST", rotate, `{"expires_in":0}`, "Idempotency-Key", "k")
	wantRefusal(t, often, 429, "rate_limited", "")
	if got := often.header.Get("Retry-After"); got != "86400" {
		t.Errorf("Retry-After: got %s", got)
	}
	if again := MustDecode[key](t, b.do(t, "sk", "POST", rotate, "", "Idempotency-Key", "0"), 200); again.Kid == "" {
		t.Error("a stored response is not replayed")
	}
	b.clock.Advance(24 * time.Hour)
	MustDecode[key](t, b.do(t, "sk", "POST", rotate, `{"expires_in":0}`, "Idempotency-Key", "k"), 200)
}

// TestCodesAreDocumented checks that /docs lists each code: core proves it of v1.FrontCodes.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	for _, code := range keyapi.Codes() {
		if !slices.Contains(v1.FrontCodes(), code) {
			t.Errorf("%s is not documented", code)
		}
	}
}

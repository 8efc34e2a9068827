package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (b *bundle) lookUp(t *testing.T, key string, options ...option) response {
	t.Helper()
	return b.get(t, "/v1/idempotency_keys/"+url.PathEscape(key), options...)
}

func TestIdempotencyKeyLookUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unknown := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "key"}
	for _, key := range []string{"k", "a/b//c", "50%25 off? #1", ".", "..", strings.Repeat("~", 255), "x/roll"} {
		wantRefusal(t, b.lookUp(t, key), unknown)
		txn := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, manual), keyed(key)), 201)
		got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, key), 200)
		if got.Key != key || got.Status != v1.IdempotencyKeyRecordStatusCompleted || *got.HTTPStatus != 201 || *got.Resource != txn.ID ||
			!got.CreatedAt.Equal(birth) || !got.ExpiresAt.Equal(birth.Add(24*time.Hour)) {
			t.Errorf("%q: got %+v", key, got)
		}
	}
	declined := b.post(t, "/v1/transactions", `{"amount":5,"currency":"usd","payment_method":"pm_card_declined"}`, keyed("declined"))
	txn := MustDecode[v1.ErrorBody](t, declined, 402).Error.Transaction
	if got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, "declined"), 200); *got.HTTPStatus != 402 || *got.Resource != txn.ID {
		t.Errorf("a decline: got %+v", got)
	}
	wantRefusal(t, b.post(t, "/v1/transactions", create(0, ""), keyed("refused")), invalid("invalid_amount", "amount"))
	wantRefusal(t, b.lookUp(t, "refused"), unknown) // it was not kept
	others := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"})
	wantRefusal(t, b.lookUp(t, "k", as(others)), unknown)
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	wantRefusal(t, b.lookUp(t, "k", as(live)), unknown)

	b.clock.Set(birth.Add(24*time.Hour - time.Millisecond))
	MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, "k"), 200)
	b.clock.Set(birth.Add(24 * time.Hour))
	wantRefusal(t, b.lookUp(t, "k"), unknown)
}

// TestIdempotencyKeyLookUpWhileItRuns: a key without an outcome is in progress, at any age, until
// the outcome is recorded.
func TestIdempotencyKeyLookUpWhileItRuns(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, time.Millisecond))
	var lost string
	lose := func(key string) {
		a := b.post(t, "/v1/transactions", `{"amount":5,"currency":"usd","payment_method":"pm_card_timeout_after_effect"}`, keyed(key))
		lost = wantRefusal(t, a, refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""}).Transaction.ID
		got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, key), 200)
		if got.Status != v1.IdempotencyKeyRecordStatusInProgress || got.HTTPStatus != nil || got.Resource != nil {
			t.Errorf("got %+v", got)
		}
	}
	for try := 0; ; try++ { // until the lookup precedes the recovery of the operation
		key := fmt.Sprint("old", try)
		lose(key)
		b.clock.Advance(25 * time.Hour)
		a := b.lookUp(t, key)
		if b.transaction(t, lost).Status == v1.TransactionStatusUnknown {
			got := MustDecode[v1.IdempotencyKeyRecord](t, a, 200)
			if got.Status != v1.IdempotencyKeyRecordStatusInProgress || got.HTTPStatus != nil || got.Resource != nil {
				t.Errorf("a day later: got %+v", got)
			}
			break
		}
	}
	lose("k")
	b.restart(t) // which recovers unfinished steps
	b.resolved(t, lost)
	if got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, "k"), 200); *got.HTTPStatus != 201 || got.Resource == nil {
		t.Errorf("after it is known: got %+v", got)
	}
}

// TestRetention: a service that starts removes exactly the expired keys.
func TestRetention(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, key := range []string{"a", "b", "c"} {
		MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, ""), keyed(key)), 201)
	}
	b.clock.Advance(time.Hour)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, ""), keyed("d")), 201)
	b.clock.Advance(23 * time.Hour)
	b.restart(t)
	programtest.WaitFor(t, "the expired keys are removed", func() bool {
		return b.number(t, "SELECT COUNT(*) FROM idempotency_keys") == 1
	})
	if got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, "d"), 200); *got.HTTPStatus != 201 {
		t.Errorf("got %+v", got)
	}
}

// Any client can read a publishable key. So its idempotency keys must not collide with the
// merchant's own.
func TestPublishableKeysHaveIdempotencyKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const card = `{"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030}}`
	pk := b.publishable(t)
	first := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", card, pk, keyed("order-7")), 201)
	if got := b.lookUp(t, "order-7").status; got != 404 {
		t.Errorf("the merchant's own key before its use: got %d, want 404", got)
	}
	made := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paid("card", ""), keyed("order-7")), 201)
	again := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", card, pk, keyed("order-7")), 201)
	if again.ID != first.ID || again.Value.Reveal() != first.Value.Reveal() {
		t.Errorf("the browser's request again: got %s, want %s", again.ID, first.ID)
	}
	known := MustDecode[v1.IdempotencyKeyRecord](t, b.get(t, "/v1/idempotency_keys/order-7"), 200)
	if known.Resource == nil || *known.Resource != made.ID {
		t.Errorf("got %v, want the payment %s", known.Resource, made.ID)
	}
}

// TestIdempotencyKeyWithACardNumber: the store holds no key in the clear, including a card number
// between other digits. A retry and a lookup find the key. v1 and the operator's API are alike.
func TestIdempotencyKeyWithACardNumber(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	const number = "4242424242424242"
	for _, form := range []string{"%s", "%s-1", "%s-12", "7-%s", "attempt 2 %s", "%s 2", "k%s", "1-%s-1", "%s.1"} {
		key := fmt.Sprintf(form, number)
		made := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paid("card", ""), keyed(key)), 201)
		known := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, key), 200)
		if known.Key != key || known.Resource == nil || *known.Resource != made.ID {
			t.Errorf("%s: got %+v, want the payment under its key", key, known)
		}
		again := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paid("card", ""), keyed(key)), 201)
		if again.ID != made.ID {
			t.Errorf("%s: retry: got %s, want %s", key, again.ID, made.ID)
		}
		first := p.post(t, merchants, `{"name":"a"}`, keyed(key))
		MustDecode[operator.Merchant](t, first, 201)
		wantReplay(t, p.post(t, merchants, `{"name":"a"}`, keyed(key)), first)
	}
	MustDecode[v1.Customer](t, b.post(t, "/v1/customers", "{}", keyed("order-1042")), 201)
	places := b.database.Files(t, b.dir)
	places["the log"] = []byte(b.logs.String())
	b.stop(t)
	maps.Copy(places, b.database.Files(t, b.dir))
	for path, text := range places {
		for _, part := range []string{number, "order-1042"} {
			if i := bytes.Index(text, []byte(part)); i >= 0 {
				t.Errorf("%s: in the clear: %q", path, text[max(0, i-40):min(len(text), i+40)])
			}
		}
	}
	b.start(t)
}

// A key in the quotes of a structured-field string and the bare key are one key, for requests and
// for the lookup.
func TestQuotedIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/transactions", create(5, ""), keyed(`"order \"7\""`))
	txn := MustDecode[v1.Transaction](t, first, 201)
	for _, same := range []string{`order "7"`, `"order \"7\""`} {
		wantReplay(t, b.post(t, "/v1/transactions", create(5, ""), keyed(same)), first)
		got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, same), 200)
		if got.Key != `order "7"` || got.Resource == nil || *got.Resource != txn.ID {
			t.Errorf("%s: got %+v, want the payment under the unquoted key", same, got)
		}
	}
	other := b.post(t, "/v1/transactions", create(5, ""), keyed(`"order`)) // no string: taken as it is
	if got := MustDecode[v1.Transaction](t, other, 201).ID; got == txn.ID {
		t.Error("a value that is not a string counts as the key inside of it")
	}
	refused := invalid("invalid_idempotency_key", "Idempotency-Key")
	wantRefusal(t, b.post(t, "/v1/transactions", create(5, ""), keyed(`""`)), refused)
}

// A reserved key has one purpose for 24 hours: the same request is replayed, and every other
// request is refused, also a payment.
func TestReserveIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path = "/v1/idempotency_keys"
	reused := refusal{422, v1.ErrorTypeIdempotencyError, "idempotency_key_reused", ""}
	weak := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret", Scopes: []string{"payments:authorize"}})
	first := b.post(t, path, `{"purpose":"a"}`, keyed("nonce"), as(weak)) // no scope is needed
	got := MustDecode[v1.IdempotencyKeyReservation](t, first, 201)
	if got.Purpose != "a" || !got.CreatedAt.Equal(birth) || !got.ExpiresAt.Equal(birth.Add(24*time.Hour)) {
		t.Errorf("got %+v", got)
	}
	b.clock.Set(birth.Add(24*time.Hour - time.Millisecond))
	if again := b.post(t, path, `{"purpose":"a"}`, keyed("nonce")); string(again.body) != string(first.body) || again.status != 201 {
		t.Errorf("again: got %d %s, want the first response", again.status, again.body)
	}
	wantRefusal(t, b.post(t, path, `{"purpose":"b"}`, keyed("nonce")), reused)
	wantRefusal(t, b.post(t, "/v1/transactions", create(5, manual), keyed("nonce")), reused)
	record := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, "nonce"), 200)
	if *record.HTTPStatus != 201 || record.Resource != nil || record.Purpose == nil || *record.Purpose != "a" {
		t.Errorf("looked up: got %+v, want the purpose", record)
	}
	b.clock.Set(birth.Add(24 * time.Hour))
	MustDecode[v1.IdempotencyKeyReservation](t, b.post(t, path, `{"purpose":"b"}`, keyed("nonce")), 201)

	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, manual), keyed("paid")), 201)
	if record := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, "paid"), 200); record.Purpose != nil {
		t.Errorf("a payment's key: got the purpose %q", *record.Purpose)
	}
	wantRefusal(t, b.post(t, path, `{"purpose":"a"}`, keyed("paid")), reused)
	wantRefusal(t, b.post(t, path, `{"purpose":"a"}`), invalid("invalid_idempotency_key", ""))
	wantRefusal(t, b.post(t, path, `{}`, keyed("k")), invalid("missing_field", "purpose"))
	wantRefusal(t, b.post(t, path, `{"purpose":"`+strings.Repeat("x", 256)+`"}`, keyed("k")), invalid("invalid_value", "purpose"))
}

// Of many concurrent requests that reserve one key, one gets it.
func TestReserveIdempotencyKey_atOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var had atomic.Int32
	var group sync.WaitGroup
	for _, purpose := range strings.Split("abcdefgh", "") {
		group.Go(func() {
			if b.post(t, "/v1/idempotency_keys", `{"purpose":"`+purpose+`"}`, keyed("nonce")).status == 201 {
				had.Add(1)
			}
		})
	}
	group.Wait()
	if got := had.Load(); got != 1 {
		t.Errorf("got %d reservations, want 1", got)
	}
}

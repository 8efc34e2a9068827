package core_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// A reserved key has one purpose for 24 hours: the same request is replayed, and every other one is
// refused, a payment among them.
func TestReserveIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const path = "/v1/idempotency_keys"
	reused := refusal{422, v1.ErrorTypeIdempotencyError, "idempotency_key_reused", ""}
	weak := MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret", Scopes: []string{"payments:authorize"}})
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

package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// verifies checks a signature by the rules of the standard, without the product's code.
func verifies(t *testing.T, s secret.String, m message) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), "whsec_"))
	if err != nil || len(key) != 32 || !strings.HasPrefix(s.Reveal(), "whsec_") {
		t.Fatalf("the secret is %d bytes, %v", len(key), err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(m.id + "." + m.timestamp + "." + m.body))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for one := range strings.SplitSeq(m.signature, " ") {
		if one == want {
			return true
		}
	}
	return false
}

func TestSecretsDiffer(t *testing.T) {
	t.Parallel()
	s := webhook.NewSecrets([]byte("one"))
	seen := map[string]string{}
	for name, one := range map[string]secret.String{
		"first": s.Of(1, 1), "rolled": s.Of(1, 2), "other endpoint": s.Of(2, 1), "run together": s.Of(11, 1), "other root": webhook.NewSecrets([]byte("two")).Of(1, 1),
	} {
		if was, ok := seen[one.Reveal()]; ok {
			t.Errorf("%s and %s are the same", name, was)
		}
		seen[one.Reveal()] = name
	}
	if s.Of(1, 1).Reveal() != webhook.NewSecrets([]byte("one")).Of(1, 1).Reveal() {
		t.Error("the same secret is not derived again")
	}
	if got := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(got, "one") {
		t.Errorf("the key prints: %s", got)
	}
}

func TestSignatureVector(t *testing.T) {
	t.Parallel()
	s := webhook.NewSecrets([]byte("k"))
	e := &payment.Endpoint{ID: 5, Generation: 2, OverlapUntil: time.Unix(1000, 0)}
	m := message{id: "evt_1", timestamp: "999", body: `{"a":1}`, signature: s.Sign(e, "evt_1", 999, []byte(`{"a":1}`))}
	if !verifies(t, s.Of(5, 2), m) || !verifies(t, s.Of(5, 1), m) || strings.Count(m.signature, " ") != 1 {
		t.Errorf("in the overlap: %s", m.signature)
	}
	m.timestamp, m.signature = "1000", s.Sign(e, "evt_1", 1000, []byte(`{"a":1}`))
	if !verifies(t, s.Of(5, 2), m) || verifies(t, s.Of(5, 1), m) || strings.Contains(m.signature, " ") {
		t.Errorf("after it: %s", m.signature)
	}
	for _, changed := range []message{
		{m.id + "x", m.timestamp, m.signature, "", m.body}, {m.id, "1001", m.signature, "", m.body}, {m.id, m.timestamp, m.signature, "", m.body + " "},
	} {
		if verifies(t, s.Of(5, 2), changed) {
			t.Errorf("a changed message verifies: %+v", changed)
		}
	}
}

func TestRollOverlap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	r := newReceiver(t, status(http.StatusOK))
	e := b.MustEndpoint(t, r.URL)
	roll := func(overlap time.Duration) {
		t.Helper()
		if _, err := b.Engine.RollSecret(t.Context(), engine.Request{Tenant: b.Tenant}, e.ID, overlap); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	next := func() message {
		t.Helper()
		b.MustPay(t)
		n++
		programtest.WaitFor(t, "the delivery is over", func() bool { return b.deliveries(t, e)[n-1].Status == payment.DeliverySucceeded })
		return r.messages()[n-1]
	}
	want := func(when string, signatures int, valid ...int64) {
		t.Helper()
		m := next()
		if got := len(strings.Fields(m.signature)); got != signatures {
			t.Errorf("%s: %d signatures, want %d", when, got, signatures)
		}
		for generation := int64(1); generation <= 4; generation++ {
			expected := false
			for _, v := range valid {
				expected = expected || v == generation
			}
			if got := verifies(t, b.secrets.Of(e.ID, generation), m); got != expected {
				t.Errorf("%s: secret %d verifies: got %t, want %t", when, generation, got, expected)
			}
		}
	}
	want("before", 1, 1)
	roll(24 * time.Hour)
	want("at the roll", 2, 1, 2)
	b.Clock.Advance(24*time.Hour - time.Second)
	want("at 23:59:59", 2, 1, 2)
	b.Clock.Advance(2 * time.Second)
	want("at 24:00:01", 1, 2)
	roll(0)
	want("rolled without overlap", 1, 3)
	roll(time.Minute)
	want("rolled again", 2, 3, 4)
	b.Clock.Advance(time.Minute)
	want("a minute later", 1, 4)
}

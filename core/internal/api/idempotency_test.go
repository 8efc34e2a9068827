package api_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// wantReplay checks that a response repeats an earlier one, byte by byte.
func wantReplay(t *testing.T, got, first response) {
	t.Helper()
	if first.header.Get("Idempotent-Replayed") != "" {
		t.Error("the first response is marked as replayed")
	}
	if got.header.Get("Idempotent-Replayed") != "true" {
		t.Error("the response is not marked as replayed")
	}
	if got.status != first.status || !bytes.Equal(got.body, first.body) {
		t.Errorf("got %d %s\nwant %d %s", got.status, got.body, first.status, first.body)
	}
}

// wantKeyReused checks the response to another request under a known key.
func wantKeyReused(t *testing.T, a response) {
	t.Helper()
	wantRefusal(t, a, refusal{422, v1.ErrorTypeIdempotencyError, "idempotency_key_reused", ""})
}

func TestReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	held := b.MustCreate(t, 100, manual).ID
	taken := b.MustCreate(t, 100, "").ID
	voided := b.MustCreate(t, 100, manual).ID
	post := func(path, body string) func(string) response {
		return func(key string) response { return b.post(t, path, body, keyed(key)) }
	}
	calls := []struct {
		name string
		send func(key string) response
		want int
	}{
		{"create", post("/v1/transactions", create(5, "")), 201},
		{"decline", post("/v1/transactions", `{"amount":5,"currency":"usd","payment_method":"pm_card_declined"}`), 402},
		{"capture", post("/v1/transactions/"+held+"/captures", `{"amount":40}`), 201},
		{"refused capture", post("/v1/transactions/"+held+"/captures", `{"amount":61}`), 400},
		{"refused capture by state", post("/v1/transactions/"+taken+"/captures", `{}`), 409},
		{"void", post("/v1/transactions/"+voided+"/void", ""), 200},
		{"settle", post("/v1/test_helpers/transactions/"+taken+"/settle", ""), 200},
		{"refused void", post("/v1/transactions/"+taken+"/void", ""), 409},
		{"refund", post("/v1/refunds", `{"transaction":"`+taken+`","amount":60}`), 201},
		{"refund of the rest", post("/v1/refunds", `{"transaction":"`+taken+`"}`), 201},
		{"refused refund", post("/v1/refunds", `{"transaction":"`+taken+`","amount":1}`), 409},
	}
	firsts := map[string]response{}
	for _, c := range calls {
		first := c.send(c.name)
		if first.status != c.want {
			t.Fatalf("%s: got %d %s, want %d", c.name, first.status, first.body, c.want)
		}
		firsts[c.name] = first
	}
	before := b.rows(t)
	replayAll := func() {
		for _, c := range calls {
			wantReplay(t, c.send(c.name), firsts[c.name])
		}
		if got, want := b.rows(t), before; got != want {
			t.Errorf("rows: got %s, want %s", got, want)
		}
	}
	replayAll()
	b.restart(t)
	replayAll()
}

func TestReplayRecognizesTheSameRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/transactions", `{"amount":5,"currency":"usd","payment_method":"card","metadata":{"a":"1","b":"é"}}`, keyed("k"))
	for _, body := range []string{
		`{"currency":"usd","metadata":{"b":"é","a":"1"},"payment_method":"card","amount":5}`,
		"\n{ \"amount\" : 5, \"currency\":\"usd\",\"payment_method\":\"card\",\"metadata\":{\"a\":\"1\",\"b\":\"\\u00e9\"}}\n",
	} {
		wantReplay(t, b.post(t, "/v1/transactions", body, keyed("k")), first)
	}
	before := b.rows(t)
	for _, body := range []string{create(5, ""), `{"amount":6,"currency":"usd","payment_method":"card","metadata":{"a":"1","b":"é"}}`} {
		wantKeyReused(t, b.post(t, "/v1/transactions", body, keyed("k")))
	}
	one, two := b.MustCreate(t, 5, manual).ID, b.MustCreate(t, 5, manual).ID
	MustDecode[v1.Transaction](t, b.void(t, one, keyed("v")), 200)
	wantKeyReused(t, b.void(t, two, keyed("v")))
	wantKeyReused(t, b.capture(t, two, "", keyed("v")))
	b.wantTransaction(t, two, v1.TransactionStatusAuthorized, amounts{5, 0, 0, 5, 0})
	if got, want := b.number(t, "SELECT COUNT(*) FROM idempotency_keys"), int64(2); got != want {
		t.Errorf("keys: got %d, want %d; rows before: %s", got, want, before)
	}
}

func TestWhatIsNotKeptUnderAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret", Scopes: []string{"transactions:read"}})
	for name, refused := range map[string]func(key string) response{
		"a fault of validation": func(k string) response { return b.post(t, "/v1/transactions", create(0, ""), keyed(k)) },
		"no such object":        func(k string) response { return b.void(t, "txn_0000000000001", keyed(k)) },
		"no such id":            func(k string) response { return b.void(t, "x", keyed(k)) },
		"no such route":         func(k string) response { return b.post(t, "/v1/nothing", "{}", keyed(k)) },
		"a scope that lacks":    func(k string) response { return b.post(t, "/v1/transactions", create(5, ""), keyed(k), as(live)) },
		"a wrong key":           func(k string) response { return b.post(t, "/v1/transactions", create(5, ""), keyed(k), as("x")) },
		"an unavailable acquirer": func(k string) response {
			return b.post(t, "/v1/transactions", `{"amount":5,"currency":"usd","payment_method":"pm_card_unavailable"}`, keyed(k))
		},
	} {
		before := b.rows(t)
		if a := refused(name); a.status < 400 || a.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
		if got, want := b.rows(t), before; got != want {
			t.Errorf("%s: rows: got %s, want %s", name, got, want)
		}
		a := b.post(t, "/v1/transactions", create(5, ""), keyed(name))
		MustDecode[v1.Transaction](t, a, 201)
		if a.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s: the key was kept", name)
		}
	}
}

func TestAcquirerUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.post(t, "/v1/transactions", `{"amount":5,"currency":"usd","payment_method":"pm_card_unavailable"}`)
	wantRefusal(t, a, refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestLostResponses(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	for method, final := range map[string]int{"pm_card_timeout_after_effect": 201, "pm_card_timeout_before_effect": 0} {
		body := `{"amount":5,"currency":"usd","payment_method":"` + method + `"}`
		a := b.post(t, "/v1/transactions", body, keyed(method))
		e := wantRefusal(t, a, refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
		if a.header.Get("Retry-After") == "" || e.Transaction == nil {
			t.Fatalf("got %v, transaction %v", a.header, e.Transaction)
		}
		b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusUnknown, amounts{})
		again := b.post(t, "/v1/transactions", body, keyed(method))
		wantRefusal(t, again, refusal{409, v1.ErrorTypeIdempotencyError, "idempotency_key_in_use", ""})
		if again.header.Get("Retry-After") == "" {
			t.Error("no Retry-After while the key is in use")
		}
		wantKeyReused(t, b.post(t, "/v1/transactions", create(9, ""), keyed(method)))
		b.restart(t) // which recovers unfinished steps
		b.resolved(t, e.Transaction.ID)
		if final == 0 {
			b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusFailed, amounts{})
			continue
		}
		b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusCaptured, amounts{5, 5, 0, 0, 5})
		done := b.post(t, "/v1/transactions", body, keyed(method))
		if got := MustDecode[v1.Transaction](t, done, final); got.ID != e.Transaction.ID || done.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("the replay after recovery: got %d %s", done.status, done.body)
		}
	}
}

func TestKeyInUse(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 10*time.Second)) // time for the other requests
	const body = `{"amount":5,"currency":"usd","payment_method":"pm_card_slow"}`
	var first response
	var wg sync.WaitGroup
	wg.Go(func() {
		var err error
		if first, err = b.try(t, "POST", "/v1/transactions", body, keyed("k")); err != nil {
			t.Error(err)
		}
	})
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	for b.number(t, "SELECT COUNT(*) FROM idempotency_keys") == 0 { // until the first has claimed the key
		select {
		case <-ended:
			t.Fatalf("the first request ended before: %d %s", first.status, first.body)
		default:
		}
	}
	a := b.post(t, "/v1/transactions", body, keyed("k"))
	wantRefusal(t, a, refusal{409, v1.ErrorTypeIdempotencyError, "idempotency_key_in_use", ""})
	if got, want := a.header.Get("Retry-After"), "1"; got != want {
		t.Errorf("retry-after: got %q, want %q", got, want)
	}
	wantKeyReused(t, b.post(t, "/v1/transactions", create(1, ""), keyed("k")))
	wg.Wait()
	wantReplay(t, b.post(t, "/v1/transactions", body, keyed("k")), first)
}

// insist sends a request under its path as the key, and retries while an equal request runs. Core
// waits only a second for the equal request, which is too short on a busy machine.
func (b *bundle) insist(t *testing.T, path, body string) (a response, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programtest.Patience)
	defer cancel()
	programtest.Poll(ctx, func() bool {
		a, err = b.try(t, "POST", path, body, keyed(path))
		return err != nil || a.status != 409 || !bytes.Contains(a.body, []byte(`"idempotency_key_in_use"`))
	})
	return a, err
}

func TestSixtyFourAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 1000, manual).ID
	for _, r := range []request{
		{path: "/v1/transactions", body: create(7, "")},
		{path: "/v1/transactions/" + txn + "/captures", body: `{"amount":900}`},
		{path: "/v1/refunds", body: `{"transaction":"` + txn + `","amount":500}`},
	} {
		path := r.path
		responses := make([]response, 64)
		var wg sync.WaitGroup
		for i := range responses {
			wg.Go(func() {
				var err error
				if responses[i], err = b.insist(t, path, r.body); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		firsts := 0
		for _, a := range responses {
			if a.header.Get("Idempotent-Replayed") == "" {
				firsts++
			}
			if a.status != 201 || !bytes.Equal(a.body, responses[0].body) {
				t.Errorf("%s: got %d %s, want 201 %s", path, a.status, a.body, responses[0].body)
			}
		}
		if firsts != 1 {
			t.Errorf("%s: %d responses are not replayed, want 1", path, firsts)
		}
	}
	b.wantTransaction(t, txn, v1.TransactionStatusPartiallyCaptured, amounts{1000, 900, 500, 100, 400})
	if got, want := b.number(t, "SELECT COUNT(*) FROM transactions WHERE amount = 7"), int64(1); got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

func TestKeysLiveForADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	b.clock.Set(birth.Add(24*time.Hour - time.Second))
	wantReplay(t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), first)
	wantKeyReused(t, b.post(t, "/v1/transactions", create(6, ""), keyed("k")))
	b.clock.Set(birth.Add(24*time.Hour + time.Second))
	second := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	if got, old := MustDecode[v1.Transaction](t, second, 201).ID, MustDecode[v1.Transaction](t, first, 201).ID; got == old {
		t.Error("the key outlived its day")
	}
	wantReplay(t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), second)
	b.clock.Set(birth.Add(49 * time.Hour))
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(6, ""), keyed("k")), 201)
}

func TestKeysAreATenantsOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	seen := map[string]bool{}
	keys := []string{b.key}
	for range 2 {
		keys = append(keys, coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"}))
	}
	for i, key := range keys {
		got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(int64(i+1), ""), keyed("k"), as(key)), 201)
		seen[got.ID] = true
	}
	if got, want := len(seen), 3; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
	sibling := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"}))
	a := b.post(t, "/v1/transactions", create(1, ""), keyed("k"), sibling)
	if a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("another key of the same tenant does not replay: got %d", a.status)
	}
}

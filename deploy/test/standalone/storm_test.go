package standalone_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// storm sends one request n times at the same time, each until its key is no longer in use.
func storm(tb testing.TB, m *merchant, n int, path, key, body string) []response {
	tb.Helper()
	responses := make([]response, n)
	errs := make([]error, n)
	gate := make(chan struct{})
	var ready, done sync.WaitGroup
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			responses[i], errs[i] = m.persist(tb.Context(), path, key, body)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
	for _, err := range errs {
		if err != nil {
			tb.Fatal(err)
		}
	}
	return responses
}

// persist repeats a POST while its key is in use, with the pause of Retry-After.
func (m *merchant) persist(ctx context.Context, path, key, body string) (response, error) {
	for {
		got, err := m.do(ctx, http.MethodPost, path, key, body)
		if err != nil || got.status != http.StatusConflict || !strings.Contains(got.body, `"idempotency_key_in_use"`) {
			return got, err
		}
		seconds, err := strconv.Atoi(got.retry)
		if err != nil {
			return got, fmt.Errorf("want seconds in Retry-After: %w", err)
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}

func TestEqualKeysAtOnceHaveOneEffect(t *testing.T) {
	t.Parallel()
	const many, key, path = 64, "the-one-key", "/v1/transactions"
	const body = `{"amount":4321,"currency":"usd","payment_method":"card","reference":"storm"}`
	dir := t.TempDir()
	p := start(t, dir)

	first := storm(t, merchantOf(t, p), many, path, key, body)
	fresh := 0
	for i, a := range first {
		if a.status != http.StatusCreated || a.body != first[0].body {
			t.Fatalf("response %d = %d %s, want 201 %s", i, a.status, a.body, first[0].body)
		}
		if !a.replayed {
			fresh++
		}
	}
	if got, want := fresh, 1; got != want {
		t.Errorf("responses not marked as replayed = %d, want %d", got, want)
	}
	p.Kill()

	p = start(t, dir)
	m := merchantOf(t, p)
	for i, a := range storm(t, m, many, path, key, body) {
		if a.status != http.StatusCreated || a.body != first[0].body || !a.replayed {
			t.Fatalf("after the restart, response %d = %d replayed=%v %s, want 201 true %s", i, a.status, a.replayed, a.body,
				first[0].body)
		}
	}
	if got, want := len(m.transactions(t)), 1; got != want {
		t.Errorf("transactions = %d, want %d", got, want)
	}
	other := m.must(t, http.MethodPost, path, key,
		`{"amount":4322,"currency":"usd","payment_method":"card","reference":"storm"}`)
	if got, want := other.status, http.StatusUnprocessableEntity; got != want {
		t.Errorf("status of another body = %d, want %d", got, want)
	}
}

func TestEqualKeysAtOnceOnEveryPost(t *testing.T) {
	t.Parallel()
	m := merchantOf(t, start(t, t.TempDir()))
	held := mustDecode[v1.Transaction](t, m.must(t, http.MethodPost, "/v1/transactions", "held",
		`{"amount":5000,"currency":"usd","payment_method":"card","capture":"manual"}`))
	base := "/v1/transactions/" + held.ID
	for _, step := range []struct {
		name, path, body string
		status           int
	}{
		{"capture", base + "/captures", `{"amount":2000}`, http.StatusCreated},
		{"second capture", base + "/captures", `{"amount":1000,"final":true}`, http.StatusCreated},
		{"settle", "/v1/test_helpers/transactions/" + held.ID + "/settle", "", http.StatusOK},
		{"refund", "/v1/refunds", `{"transaction":"` + held.ID + `","amount":700}`, http.StatusCreated},
	} {
		responses := storm(t, m, 32, step.path, "storm-"+step.name, step.body)
		for i, a := range responses {
			if a.status != step.status || a.body != responses[0].body {
				t.Fatalf("%s: response %d = %d %s, want %d %s", step.name, i, a.status, a.body, step.status, responses[0].body)
			}
		}
	}
	got := mustDecode[v1.Transaction](t, m.must(t, http.MethodGet, base, "", ""))
	if got.AmountCaptured != 3000 || got.AmountRefunded != 700 || got.Settlement != v1.SettlementSettled {
		t.Errorf("captured, refunded, settlement = %d, %d, %s, want 3000, 700, settled", got.AmountCaptured,
			got.AmountRefunded, got.Settlement)
	}
}

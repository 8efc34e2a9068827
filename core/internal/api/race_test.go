package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keyRounds is the number of repetitions of races that only tests over HTTP can see. Repetitions
// share a service, and some run concurrently.
var keyRounds = coretest.Races(200)

// repeat runs a repetition keyRounds times, and counts its results.
func repeat(t *testing.T, once func(i int) (string, error)) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var next atomic.Int64
	outcomes := map[string]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(keyRounds) && !t.Failed(); i = next.Add(1) {
				outcome, err := once(int(i))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				outcomes[outcome]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Log(outcomes)
	return outcomes
}

// both starts two steps concurrently, in the given order or in reverse, and returns their
// responses.
func both(backwards bool, one, two func() (response, error)) (a, b response, err error) {
	var errOne, errTwo error
	steps := []func(){func() { a, errOne = one() }, func() { b, errTwo = two() }}
	if backwards {
		steps[0], steps[1] = steps[1], steps[0]
	}
	var wg sync.WaitGroup
	wg.Go(steps[0])
	steps[1]()
	wg.Wait()
	if errOne != nil {
		return a, b, errOne
	}
	return a, b, errTwo
}

// made decodes the response to a create.
func made[T any](a response, err error) (out T, _ error) {
	if err == nil && a.status != http.StatusCreated {
		err = fmt.Errorf("got %d %s", a.status, a.body)
	}
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(a.body, &out)
}

// keyAgainstUse pays by a key again and again while it ends. Payments are accepted until one is
// refused. After the response to the end, the key is dead.
func (b *bundle) keyAgainstUse(t *testing.T, end func(key string) (response, error)) {
	t.Helper()
	var taken atomic.Int64
	got := repeat(t, func(i int) (string, error) {
		k, err := made[v1.APIKey](b.try(t, "POST", "/v1/api_keys", `{"kind":"secret","scopes":["payments:authorize"]}`))
		if err != nil {
			return "", err
		}
		key := as(k.Secret.Reveal())
		var successor v1.APIKey
		used, ended, err := both(i%2 == 0,
			func() (response, error) {
				paid, last, err := b.payUntilRefused(t, key)
				taken.Add(paid)
				return last, err
			},
			func() (response, error) {
				ended, err := end(k.ID)
				if ended.status == http.StatusCreated {
					err = errors.Join(err, json.Unmarshal(ended.body, &successor))
				}
				if err == nil {
					ended.body, err = b.whoIs(t, key)
				}
				return ended, err
			})
		if err == nil && successor.ID != "" { // a merchant has a bounded number of active keys
			_, err = b.try(t, "DELETE", "/v1/api_keys/"+successor.ID, "")
		}
		return fmt.Sprintf("%d %d, then %s", used.status, ended.status/100, ended.body), err
	})
	if got["401 2, then 401"] != keyRounds || taken.Load() == 0 {
		t.Errorf("got %v and %d payments, want some, and each key dead once it was ended", got, taken.Load())
	}
	if paid := b.number(t, "SELECT COUNT(*) FROM transactions"); paid != taken.Load() {
		t.Errorf("payments: got %d, want %d", paid, taken.Load())
	}
}

// payUntilRefused pays by a key until it is refused. It returns the number of accepted payments,
// and the last response.
func (b *bundle) payUntilRefused(t *testing.T, key option) (taken int64, last response, err error) {
	t.Helper()
	for range 10_000 { // a key that is never refused must not block the test
		last, err = b.try(t, "POST", "/v1/transactions", create(5, ""), key)
		if err != nil || last.status != http.StatusCreated {
			break
		}
		taken++
	}
	return taken, last, err
}

// whoIs reads the current key, and returns the response.
func (b *bundle) whoIs(t *testing.T, key option) ([]byte, error) {
	t.Helper()
	a, err := b.try(t, "GET", "/v1/api_keys/current", "", key)
	return fmt.Append(nil, a.status), err
}

// TestRollAgainstUse: a key rolls without overlap during a payment. The payment is accepted or
// refused, and none is accepted after the response to the roll.
func TestRollAgainstUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.keyAgainstUse(t, func(key string) (response, error) {
		return b.try(t, "POST", "/v1/api_keys/"+key+"/roll", `{"expires_in":0}`)
	})
}

// TestRevokeAgainstUse is TestRollAgainstUse with a revocation.
func TestRevokeAgainstUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.keyAgainstUse(t, func(key string) (response, error) { return b.try(t, "DELETE", "/v1/api_keys/"+key, "") })
}

// TestPayersConfirmAtOnce: a payer who clicks twice pays once.
func TestPayersConfirmAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	got := repeat(t, func(i int) (string, error) {
		txn, err := made[v1.Transaction](b.try(t, "POST", "/v1/transactions", waiting("")))
		if err != nil {
			return "", err
		}
		u := unconfirmed{txn.ID, txn.ClientSecret.Reveal()}
		confirm := func() (response, error) {
			return b.try(t, "POST", "/v1/transactions/"+u.id+"/confirm", u.proven(typedCard), pk)
		}
		one, two, err := both(i%2 == 0, confirm, confirm)
		return fmt.Sprint(one.status, two.status), err
	})
	if got["200 409"] == 0 || got["409 200"] == 0 || got["200 409"]+got["409 200"] != keyRounds {
		t.Errorf("got %v, want one of two to win, now this, now that", got)
	}
	for what, query := range map[string]string{
		"captured": "SELECT COUNT(*) FROM transactions WHERE status = 'captured' AND amount_captured = 500 AND version = 1",
		"events":   "SELECT COUNT(*) FROM events WHERE type = 'transaction.captured'",
	} {
		if n := b.number(t, query); n != int64(keyRounds) {
			t.Errorf("%s: got %d, want %d", what, n, keyRounds)
		}
	}
}

// rounds is how often each race runs over HTTP.
var rounds = coretest.Races(20)

// race sends concurrent requests and returns their responses in the order given.
func (b *bundle) race(t *testing.T, requests ...request) []response {
	t.Helper()
	responses := make([]response, len(requests))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, r := range requests {
		wg.Go(func() {
			<-start
			var err error
			if responses[i], err = b.try(t, "POST", r.path, r.body); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	return responses
}

// statuses returns the statuses of the responses, sorted.
func statuses(responses []response) []int {
	var out []int
	for _, a := range responses {
		out = append(out, a.status)
	}
	slices.Sort(out)
	return out
}

func TestCapturesAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range rounds {
		txn := b.MustCreate(t, 100, manual).ID
		capture := request{path: "/v1/transactions/" + txn + "/captures", body: `{"amount":60}`}
		won := 0
		for _, a := range b.race(t, capture, capture, capture) {
			switch a.status {
			case 201:
				won++
			case 400, 409: // it exceeds the rest, or another step is at the acquirer
			default:
				t.Fatalf("got %d %s", a.status, a.body)
			}
		}
		if won != 1 {
			t.Fatalf("%d captures of 60 %% won, want 1", won)
		}
		b.wantTransaction(t, txn, v1.TransactionStatusPartiallyCaptured, amounts{100, 60, 0, 40, 60})
	}
}

func TestSettleAgainstVoid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range rounds {
		txn := b.MustCreate(t, 100, "").ID
		got := b.race(t, request{path: "/v1/transactions/" + txn + "/void"}, request{path: "/v1/test_helpers/transactions/" + txn + "/settle"})
		switch s := fmt.Sprint(got[0].status, got[1].status); s {
		case "200 409":
			b.wantTransaction(t, txn, v1.TransactionStatusVoided, amounts{100, 0, 0, 0, 0})
		case "409 200":
			if got := b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 0, 0, 100}); got.Settlement != v1.SettlementSettled {
				t.Fatalf("settlement: got %s", got.Settlement)
			}
		default:
			t.Fatalf("got %s: %s %s", s, got[0].body, got[1].body)
		}
	}
}

package core_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// rounds is how often each race runs over HTTP.
var rounds = coretest.Races(20)

// race sends concurrent requests and returns their responses in the order given.
func (b *bundle) race(t *testing.T, requests ...request) []answer {
	t.Helper()
	answers := make([]answer, len(requests))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, r := range requests {
		wg.Go(func() {
			<-start
			var err error
			if answers[i], err = b.try(t, "POST", r.path, r.body); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// statuses are the statuses of the responses, sorted.
func statuses(answers []answer) []int {
	var out []int
	for _, a := range answers {
		out = append(out, a.status)
	}
	slices.Sort(out)
	return out
}

func TestRefundsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range rounds {
		txn := b.MustCreate(t, 100, "").ID
		refund := request{path: "/v1/refunds", body: `{"transaction":"` + txn + `","amount":60}`}
		got := b.race(t, refund, refund, refund, refund)
		if got, want := statuses(got), []int{201, 400, 400, 400}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 60, 0, 40})
	}
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
			case 400, 409: // too much, or another one is with the acquirer
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

func TestCaptureAgainstVoid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range rounds {
		txn := b.MustCreate(t, 100, manual).ID
		got := b.race(t, request{path: "/v1/transactions/" + txn + "/captures"}, request{path: "/v1/transactions/" + txn + "/void"})
		switch s := fmt.Sprint(got[0].status, got[1].status); s {
		case "201 409": // the void came while the capture was with the acquirer
			b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 0, 0, 100})
		case "409 200", "201 200": // the void came first, or once the capture was through
			b.wantTransaction(t, txn, v1.TransactionStatusVoided, amounts{100, 0, 0, 0, 0})
		default:
			t.Fatalf("got %s: %s %s", s, got[0].body, got[1].body)
		}
	}
}

func TestVoidAgainstRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range rounds {
		txn := b.MustCreate(t, 100, "").ID
		got := b.race(t, request{path: "/v1/transactions/" + txn + "/void"}, request{path: "/v1/refunds", body: `{"transaction":"` + txn + `","amount":100}`})
		switch s := fmt.Sprint(got[0].status, got[1].status); s {
		case "200 409":
			b.wantTransaction(t, txn, v1.TransactionStatusVoided, amounts{100, 0, 0, 0, 0})
		case "409 201":
			b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{100, 100, 100, 0, 0})
		default: // never both, never none
			t.Fatalf("got %s: %s %s", s, got[0].body, got[1].body)
		}
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

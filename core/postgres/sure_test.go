package postgres_test

import (
	"net/url"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestCancelledWaitPostgreSQL: a commit whose wait for the standby an operator has cancelled returns as if it were done, with a warning. Nobody is told that
// it is: the standby that takes over may not have it.
func TestCancelledWaitPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	n := open(t, with(t, server.URL(nil), url.Values{"patience": {"20s"}}))
	server.Standby(t, "nobody")
	db := inspect(t, server.URL(nil))
	told := make(chan int, 1)
	go func() {
		a, err := n.ask(t.Context(), "POST", "/v1/transactions", payment(1000, "card", ""), "k")
		if err != nil {
			t.Error(err)
		}
		told <- a.status
	}()
	status, cancelled := 0, int64(0)
	programtest.WaitFor(t, "the client is told something", func() bool {
		cancelled += number(t, db, "SELECT COUNT(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		select {
		case status = <-told:
			return true
		default:
			return false
		}
	})
	if status == 201 || cancelled == 0 {
		t.Errorf("got %d, with %d waits cancelled", status, cancelled)
	}
	server.Standby(t, "")
	programtest.WaitFor(t, "the payment is acknowledged", func() bool {
		a, err := n.ask(t.Context(), "POST", "/v1/transactions", payment(1000, "card", ""), "k")
		return err == nil && a.status == 201
	})
	if got := n.books(t, db); got != [3]int64{1, 1, 1} {
		t.Errorf("got %d payments, events and authorizations, want one of each", got)
	}
}

// TestAnsweredAgainPostgreSQL: a stored answer is told again, by the request or by its key, only while the server can make sure that its standby has it. Else
// what a commit left whose client gave up would be told, though it is on this server alone.
func TestAnsweredAgainPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	n := open(t, server.URL(nil))
	n.until(t, 201, "POST", "/v1/transactions", payment(1000, "card", ""), "k")
	server.Standby(t, "nobody")
	n.must(t, 503, "POST", "/v1/transactions", payment(1000, "card", ""), "k")
	n.must(t, 503, "GET", "/v1/idempotency_keys/k", "", "")
	server.Standby(t, "")
	n.until(t, 201, "POST", "/v1/transactions", payment(1000, "card", ""), "k")
	n.until(t, 200, "GET", "/v1/idempotency_keys/k", "", "")
}

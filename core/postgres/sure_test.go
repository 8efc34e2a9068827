package postgres_test

import (
	"net/url"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestCancelledWaitPostgreSQL: an operator cancels a commit's wait for the standby. The server
// returns success with a warning then. Core does not acknowledge the payment: the standby may not
// have it.
func TestCancelledWaitPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	n := open(t, with(t, server.URL(nil), url.Values{"patience": {"20s"}}))
	server.Standby(t, "nobody")
	db := inspect(t, server.URL(nil))
	first := make(chan int, 1)
	go func() {
		a, err := n.send(t.Context(), "POST", "/v1/transactions", payment(1000, "card", ""), "k")
		if err != nil {
			t.Error(err)
		}
		first <- a.status
	}()
	status, cancelled := 0, int64(0)
	programtest.WaitFor(t, "the client has a response", func() bool {
		cancelled += number(t, db, "SELECT COUNT(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		select {
		case status = <-first:
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
		a, err := n.send(t.Context(), "POST", "/v1/transactions", payment(1000, "card", ""), "k")
		return err == nil && a.status == 201
	})
	if got := n.effects(t, db); got != [3]int64{1, 1, 1} {
		t.Errorf("got %d payments, events and authorizations, want one of each", got)
	}
}

// TestReplayedResponsePostgreSQL: core replays a stored response, to a retry or to a read of its
// key, only if the standby confirms its commit. The commit of a cancelled request may exist only on
// the primary.
func TestReplayedResponsePostgreSQL(t *testing.T) {
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

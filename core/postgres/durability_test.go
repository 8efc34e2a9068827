package postgres_test

import (
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestFlushTurnedOffPostgreSQL: an operator turns fsync off by a reload while core serves. Payments
// are refused and health is 503 until it is on again: payments acknowledged meanwhile could be lost
// with the machine.
func TestFlushTurnedOffPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	n := open(t, server.URL(nil))
	status := func() int {
		a, err := n.send(t.Context(), "POST", "/v1/transactions", payment(1000, "card", ""), "")
		if err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	programtest.WaitFor(t, "payments are accepted", func() bool { return status() == 201 })
	server.Set(t, "fsync", "off")
	programtest.WaitFor(t, "payments are refused", func() bool { return status() == 503 })
	programtest.WaitFor(t, "health is 503", func() bool { return !n.healthy(t)() })
	server.Set(t, "fsync", "on")
	programtest.WaitFor(t, "payments are accepted again", func() bool { return status() == 201 })
	programtest.WaitFor(t, "health is 200", n.healthy(t))
}

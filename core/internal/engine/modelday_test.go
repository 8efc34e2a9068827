package engine_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// endDay lets a day pass: exactly the captured transactions settle.
func (m *machine) endDay(rt *rapid.T) {
	m.s.Clock.Advance(24 * time.Hour)
	if _, err := m.s.Engine.SettleDue(m.t.Context()); err != nil {
		rt.Fatal(err)
	}
	for _, txn := range m.order {
		if now := m.txns[txn]; now.captured > now.settled {
			now.settled = now.captured
			now.version++
		}
	}
	m.checkAll(rt)
}

// lapse lets the time of an authorization pass, and runs the pass that ends it. The pass also ends
// all other authorizations older than seven days, and all transactions that waited too long for a
// confirmation.
func (m *machine) lapse(rt *rapid.T) {
	chosen, _ := m.pick(rt)
	now := m.s.Clock.Now()
	if err := m.s.DB.Update(m.t.Context(), func(tx *store.Tx) error { return tx.SetExpiry(m.s.Tenant, chosen, now) }); err != nil {
		rt.Fatal(err)
	}
	if _, err := m.s.Engine.ExpireDue(m.t.Context()); err != nil {
		rt.Fatal(err)
	}
	week := !now.Before(coretest.Birth.Add(7 * 24 * time.Hour))
	for _, txn := range m.order {
		t := m.txns[txn]
		waited := t.status == "requires_confirmation" && (txn == chosen || !now.Before(m.waiting[txn].lapses))
		if waited || t.capturable() > 0 && (week || txn == chosen) {
			t.end()
		}
	}
	m.checkAll(rt)
}

// end is the end of an authorization: the captured amount stays.
func (m *model) end() {
	switch {
	case m.status == "requires_confirmation":
		m.status = "canceled"
	case m.captured > 0:
		m.status = "captured"
	default:
		m.status = "expired"
	}
	m.version++
}

func (m *machine) checkAll(rt *rapid.T) {
	for txn := range m.txns {
		m.check(rt, txn)
	}
}

package webhook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// deliveryRow holds the columns of a delivery that a test writes directly to the database. The
// times are counted from now.
type deliveryRow struct {
	status       string
	leased       int
	attempts     int
	due, written time.Duration
	core         int64
}

// mustSet writes a delivery directly to the database.
func (b *bundle) mustSet(t *testing.T, delivery int64, r deliveryRow) {
	t.Helper()
	now := b.Clock.Now()
	b.MustExec(t, "UPDATE webhook_deliveries SET status = ?, leased = ?, attempts = ?, due_at = ?, updated_at = ?, core_id = ? WHERE id = ?",
		r.status, r.leased, r.attempts, now.Add(r.due).UnixMilli(), now.Add(r.written).UnixMilli(), r.core, delivery)
}

// mustHave makes an endpoint of a new merchant with the given deliveries, and returns both.
func (b *bundle) mustHave(t *testing.T, rows ...deliveryRow) (*payment.Endpoint, []int64) {
	t.Helper()
	b.mustEndpoints(t, "https://shop.example", 1)
	e := b.only(t)
	b.mustEvents(t, b.Tenant, len(rows))
	var ids []int64
	for i, d := range b.deliveries(t, e) {
		b.mustSet(t, d.ID, rows[i])
		ids = append(ids, d.ID)
	}
	return e, ids
}

// TestHasteChangesNoOtherDelivery: a search has found deliveries that a clock wrote while it was
// ahead. Before they are made due, one has ended, one is due in time, and the right clock has
// written one. These three do not change.
func TestHasteChangesNoOtherDelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e, ids := b.mustHave(t,
		deliveryRow{status: "succeeded", attempts: 1, due: aDay, written: aDay},
		deliveryRow{status: "pending", attempts: 1, due: time.Minute, written: aDay},
		deliveryRow{status: "pending", attempts: 1, due: aDay, written: time.Minute},
		deliveryRow{status: "pending", leased: 1, attempts: 1, due: time.Minute + time.Millisecond, written: time.Minute + time.Millisecond},
	)
	err := b.DB.Update(t.Context(), func(tx *store.Tx) error {
		for _, one := range ids {
			if err := tx.HastenDelivery(one, b.Clock.Now().Add(time.Minute)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{aDay, time.Minute, aDay, 0} {
		if got := b.deliveries(t, e)[i]; got.DueAt.Sub(b.Clock.Now()) != want || got.Leased {
			t.Errorf("delivery %d: got %+v, want it due in %s without a lease", i, got, want)
		}
	}
}

// TestOnlyDueDeliveriesAreLeased: deliveries to an endpoint have ended, are due later, or are under
// a lease. None of them is leased, together or one by one, nor is a delivery to another endpoint.
func TestOnlyDueDeliveriesAreLeased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rows := []deliveryRow{
		{status: "succeeded", attempts: 1},
		{status: "failed", attempts: 1},
		{status: "pending", attempts: 1, due: time.Millisecond},
		{status: "pending", leased: 1, attempts: 1, due: time.Minute},
		{status: "pending", leased: 1, attempts: 1}, // this lease has ended
	}
	const due = 4
	e, ids := b.mustHave(t, rows...)
	b.mustEndpoints(t, "https://other.example", 1)
	b.mustEvents(t, b.Tenant, 1)
	undo := errors.New("undo")
	for name, lease := range map[string]func(tx *store.Tx) ([]store.Lease, error){
		"together": func(tx *store.Tx) ([]store.Lease, error) {
			return tx.LeaseDeliveries(e.ID, store.Due{}, 10, tx.Now.Add(time.Minute))
		},
		"alone": func(tx *store.Tx) (all []store.Lease, err error) {
			for _, one := range ids {
				leases, failed := tx.LeaseDelivery(one, tx.Now.Add(time.Minute))
				all, err = append(all, leases...), errors.Join(err, failed)
			}
			return all, err
		},
	} {
		var got []store.Lease
		err := b.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
			if got, err = lease(tx); err == nil {
				err = undo
			}
			return err
		})
		if !errors.Is(err, undo) || len(got) != 1 || got[0].Delivery != ids[due] || got[0].Attempt != 2 {
			t.Errorf("%s: got %+v, %v, want delivery %d", name, got, err, ids[due])
		}
	}
}

// TestOnlyALeaseEndsAnAttempt: a lease has ended, because another attempt began, the lease was
// dropped, or the delivery has ended. Its attempt can write no result, and cannot return the lease.
func TestOnlyALeaseEndsAnAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  deliveryRow
		want error
	}{
		"its lease":         {deliveryRow{status: "pending", leased: 1, attempts: 2}, nil},
		"a later attempt":   {deliveryRow{status: "pending", leased: 1, attempts: 3}, store.ErrConflict},
		"an earlier one":    {deliveryRow{status: "pending", leased: 1, attempts: 1}, store.ErrConflict},
		"a dropped lease":   {deliveryRow{status: "pending", attempts: 2}, store.ErrConflict},
		"an ended delivery": {deliveryRow{status: "failed", leased: 1, attempts: 2}, store.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			e, ids := b.mustHave(t, c.row, deliveryRow{status: "pending", leased: 1, attempts: 2})
			l := store.Lease{Delivery: ids[0], Attempt: 2}
			for i, end := range []func(tx *store.Tx) error{
				func(tx *store.Tx) error { return tx.ReleaseAttempt(l) },
				func(tx *store.Tx) error {
					return tx.EndAttempt(l, payment.DeliveryAttempt{At: tx.Now, Status: 200}, payment.DeliverySucceeded, tx.Now)
				},
			} {
				b.mustSet(t, ids[0], c.row)
				if err := b.DB.Update(t.Context(), end); !errors.Is(err, c.want) {
					t.Errorf("end %d: got %v, want %v", i, err, c.want)
				}
				if got := b.deliveries(t, e)[1]; !got.Leased || got.Attempts != 2 || got.Status != payment.DeliveryPending {
					t.Errorf("end %d: the other delivery: got %+v, want it as it was", i, got)
				}
			}
		})
	}
}

// TestOnlyLeasesOfADeadCoreAreDropped: the leases of a dead core end. Retries that wait, and leases
// of another core, stay.
func TestOnlyLeasesOfADeadCoreAreDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const dead, other = 7, 8
	e, _ := b.mustHave(t,
		deliveryRow{status: "pending", leased: 1, attempts: 1, due: time.Minute, core: dead},
		deliveryRow{status: "pending", leased: 1, attempts: 1, due: time.Minute, core: other},
		deliveryRow{status: "pending", attempts: 1, due: time.Hour, core: dead},
		deliveryRow{status: "failed", attempts: 1, due: time.Hour, core: dead},
	)
	var n int64
	err := b.DB.Update(t.Context(), func(tx *store.Tx) (err error) { n, err = tx.DropLeasesOf(dead); return err })
	if err != nil || n != 1 {
		t.Errorf("got %d leases dropped, %v, want 1", n, err)
	}
	for i, want := range []time.Duration{0, time.Minute, time.Hour, time.Hour} {
		if got := b.deliveries(t, e)[i]; got.DueAt.Sub(b.Clock.Now()) != want || got.Leased != (i == 1) {
			t.Errorf("delivery %d: got %+v, want it due in %s", i, got, want)
		}
	}
}

// TestTakeOverLeavesRetriesSQLite: a new process ends the leases of the previous process, but not
// the pauses of retries.
func TestTakeOverLeavesRetriesSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e, _ := b.mustHave(t,
		deliveryRow{status: "pending", leased: 1, attempts: 1, due: time.Minute},
		deliveryRow{status: "pending", attempts: 1, due: time.Hour},
	)
	if err := b.deliverer().TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{0, time.Hour} {
		if got := b.deliveries(t, e)[i]; got.DueAt.Sub(b.Clock.Now()) != want || got.Leased {
			t.Errorf("delivery %d: got %+v, want it due in %s without a lease", i, got, want)
		}
	}
}

// TestAFullQueueEndsNoOtherDelivery: among the oldest deliveries of a queue that is too long, one
// has succeeded, and one is to another endpoint. Both do not change.
func TestAFullQueueEndsNoOtherDelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pending := deliveryRow{status: "pending"}
	long, ids := b.mustHave(t, pending, pending, pending, pending, pending)
	b.mustEndpoints(t, "https://other.example", 1)
	other := b.only(t)
	b.MustExec(t, "UPDATE webhook_deliveries SET endpoint_id = ? WHERE id = ?", other.ID, ids[1])
	b.mustSet(t, ids[2], deliveryRow{status: "succeeded", attempts: 1})
	n, err := b.DB.BoundOutbox(t.Context(), 1, 100, "queue_full")
	if err != nil || n != 2 {
		t.Errorf("got %d failed, %v, want 2", n, err)
	}
	const statusOf = "SELECT COUNT(*) FROM webhook_deliveries WHERE id = ? AND endpoint_id = ? AND status = ?"
	for i, want := range []string{"failed", "pending", "succeeded", "failed", "pending"} {
		e := long
		if i == 1 {
			e = other
		}
		if b.Number(t, statusOf, ids[i], e.ID, want) != 1 {
			t.Errorf("delivery %d: want it %s", i, want)
		}
	}
}

// TestLeasesBeginAfterADelivery: three deliveries are due at the same time, and one earlier. After
// the second of the three, a lease and a list have only the third.
func TestLeasesBeginAfterADelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	due := deliveryRow{status: "pending"}
	e, ids := b.mustHave(t, due, due, due, deliveryRow{status: "pending", due: -time.Second})
	after := store.Due{At: b.Clock.Now().UnixMilli(), ID: ids[1]}
	found, err := b.DB.DueDeliveries(t.Context(), e.ID, after, b.Clock.Now(), 10)
	if err != nil || len(found) != 1 || found[0].ID != ids[2] {
		t.Errorf("the list: got %v, %v, want %d", found, err, ids[2])
	}
	var leases []store.Lease
	err = b.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
		leases, err = tx.LeaseDeliveries(e.ID, after, 10, tx.Now.Add(time.Minute))
		return err
	})
	if err != nil || len(leases) != 1 || leases[0].Delivery != ids[2] {
		t.Errorf("the leases: got %v, %v, want %d", leases, err, ids[2])
	}
}

package webhook_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// cores are two services on one server, of which the second leads.
func cores(t *testing.T) (first, second *bundle) {
	t.Helper()
	s := coretest.OpenShared(t)
	secrets := webhook.NewSecrets([]byte("the webhook key of the tests: 32"))
	first, second = &bundle{s, secrets}, &bundle{s.Beside(t), secrets}
	heartbeat(t, second, first)
	return first, second
}

func heartbeat(t *testing.T, cores ...*bundle) {
	t.Helper()
	for _, c := range cores {
		if err := c.Cluster.Heartbeat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// mustLease begins an attempt of the one delivery to an endpoint.
func (b *bundle) mustLease(t *testing.T, e *payment.Endpoint) store.Lease {
	t.Helper()
	var leases []store.Lease
	err := b.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
		leases, err = tx.LeaseDeliveries(e.ID, store.Due{}, 10, tx.Now.Add(time.Minute))
		return err
	})
	if err != nil || len(leases) != 1 {
		t.Fatalf("got %d leases, %v", len(leases), err)
	}
	return leases[0]
}

// TestLeasesOfADeadCorePostgreSQL: a core died during an attempt. Another core makes the delivery
// once the first core counts as dead, although the lease has almost a minute left. The leases of a
// slow core stay.
func TestLeasesOfADeadCorePostgreSQL(t *testing.T) {
	t.Parallel()
	first, second := cores(t)
	r := newReceiver(t, nil)
	e := first.MustEndpoint(t, r.URL)
	first.MustPay(t)
	lease := first.mustLease(t, e)
	leased := func() int64 {
		return first.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE leased = 1 AND core_id = ?", first.Cluster.ID)
	}
	for range 3 { // slow: one heartbeat for four heartbeats of the other core
		heartbeat(t, second, second, second, second, first)
		if leased() != 1 {
			t.Fatal("a slow core's lease was taken")
		}
	}
	heartbeat(t, second, second, second, second, second)
	if leased() != 1 {
		t.Fatal("a lease was taken after four heartbeats in a row without one of its core")
	}
	heartbeat(t, second)
	if leased() != 0 {
		t.Fatal("the dead core's lease stands")
	}
	late := func(tx *store.Tx) error {
		return tx.EndAttempt(lease, payment.DeliveryAttempt{At: tx.Now}, payment.DeliverySucceeded, tx.Now)
	}
	if err := first.DB.Update(t.Context(), late); err != store.ErrConflict { //nolint:errorlint // exactly this one
		t.Errorf("it comes back and tells of its attempt: got %v, want a conflict", err)
	}
	run(t, second.deliverer())
	programtest.WaitFor(t, "it is delivered", func() bool { return second.deliveries(t, e)[0].Status == payment.DeliverySucceeded })
	if got := len(r.messages()); got != 1 {
		t.Errorf("%d messages, want one", got)
	}
	if err := first.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.ReleaseAttempt(lease) }); err != store.ErrConflict { //nolint:errorlint // as above
		t.Errorf("it gives its lease back: got %v, want a conflict", err)
	}
	if got := second.deliveries(t, e)[0]; got.Attempts != 2 || got.Status != payment.DeliverySucceeded {
		t.Errorf("got %+v", got)
	}
}

// TestLeasesByAWrongClockPostgreSQL: a core whose clock is ahead treats no lease as ended, and
// begins no attempt until its clock is right.
func TestLeasesByAWrongClockPostgreSQL(t *testing.T) {
	t.Parallel()
	first, second := cores(t)
	r := newReceiver(t, nil)
	e := first.MustEndpoint(t, r.URL)
	first.MustPay(t)
	first.mustLease(t, e)
	second.Clock.Advance(2 * time.Minute) // which is the wrong time
	var right atomic.Bool
	var asked atomic.Int64
	run(t, second.deliverer(func(c *webhook.Config) {
		c.Poll = 10 * time.Millisecond
		c.Agrees = func() bool { asked.Add(1); return right.Load() }
	}))
	programtest.WaitFor(t, "it has looked for work", func() bool { return asked.Load() > 20 })
	if got := len(r.messages()); got != 0 {
		t.Errorf("%d messages of a delivery that another core is at", got)
	}
	right.Store(true)
	programtest.WaitFor(t, "it is delivered", func() bool { return len(r.messages()) == 1 })
}

// TestAStaleLease: a process that was paused between its lease and its request does not send the
// request, because another process may have sent it.
func TestAStaleLease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	var shown atomic.Int64
	stop := run(t, b.deliverer(func(c *webhook.Config) {
		body := c.Body
		c.Body = func(e *payment.Event) []byte {
			if shown.Add(1) == 1 {
				b.Clock.Advance(3*time.Second + time.Millisecond)
			}
			return body(e)
		}
	}))
	programtest.WaitFor(t, "it is delivered", func() bool { return b.deliveries(t, e)[0].Status == payment.DeliverySucceeded })
	stop()
	if got := b.deliveries(t, e)[0]; got.Attempts != 1 || len(r.messages()) != 1 || shown.Load() != 2 {
		t.Errorf("got %+v, %d messages and %d attempts begun, want the first as if it had not been", got, len(r.messages()), shown.Load())
	}
}

package webhook_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestResultsAreBackgroundWorkPostgreSQL: results of deliveries are written on the connections of
// background work. The commit that they share has no context of a deliverer.
func TestResultsAreBackgroundWorkPostgreSQL(t *testing.T) {
	t.Parallel()
	b := &bundle{coretest.OpenShared(t), webhook.NewSecrets([]byte("the webhook key of the tests: 32"))}
	e := b.MustEndpoint(t, newReceiver(t, nil).URL)
	run(t, b.deliverer()) // the deliverer itself does not mark its commands as background work
	b.MustPay(t)
	programtest.WaitFor(t, "the event is delivered", func() bool {
		all := b.deliveries(t, e)
		return len(all) == 1 && all[0].Status == payment.DeliverySucceeded
	})
	for _, p := range b.DB.Stats().Pools {
		if p.Name == "background_write" && p.InUse+p.Idle == 0 {
			t.Error("no connection of background work was used")
		}
	}
}

package webhook_test

import (
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestFailureDuringASuccessPostgreSQL: an attempt at an endpoint fails at one core, while a success
// at another core ends its time of failure. The failure then changes nothing, because the begin of
// that time is no longer known.
func TestFailureDuringASuccessPostgreSQL(t *testing.T) {
	t.Parallel()
	b := &bundle{coretest.OpenOnce(t), webhook.NewSecrets([]byte("the webhook key of the tests: 32"))}
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	e := b.MustEndpoint(t, r.URL)
	b.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ? WHERE id = ?", b.Clock.Now().UnixMilli()-1, e.ID)
	success, err := b.Inspect.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = success.Rollback() }) // unless it was committed
	if _, err := success.ExecContext(t.Context(), "UPDATE webhook_endpoints SET failing_since = 0 WHERE id = $1", e.ID); err != nil {
		t.Fatal(err)
	}
	b.MustPay(t)
	run(t, b.deliverer())
	programtest.WaitFor(t, "the failure waits for the success", func() bool {
		var waiting int
		err := success.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid").Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		return waiting > 0
	})
	if err := success.Commit(); err != nil {
		t.Fatal(err)
	}
	programtest.WaitFor(t, "the failure is written down", func() bool {
		return b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE leased = 0 AND response_status = 500") == 1
	})
	if got := b.endpoint(t, e); got.Status != payment.EndpointEnabled || got.FailingSince.IsZero() {
		t.Errorf("the endpoint is %s (%s), failing since %v: want it enabled and failing", got.Status, got.Reason, got.FailingSince)
	}
}

package webhook_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestDeliveriesOfADeletedCustomer: a customer is deleted while the deliveries of its many events
// wait, and one event is delivered again after that. No delivery shows personal data.
func TestDeliveriesOfADeletedCustomer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	receiver := newReceiver(t, nil)
	b.MustEndpoint(t, receiver.URL)
	r := b.Request("")
	if _, err := b.Engine.CreateCustomer(t.Context(), r, []byte(`{"email":"erika@example.com"}`)); err != nil {
		t.Fatal(err)
	}
	customer := b.Number(t, "SELECT MAX(id) FROM customers")
	const changes = 150
	for i := range changes {
		_, err := b.Engine.UpdateCustomer(t.Context(), r, customer, nil, func([]byte) ([]byte, error) {
			return fmt.Appendf(nil, `{"email":"erika%d@example.com"}`, i), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Engine.DeleteCustomer(t.Context(), r, customer, nil); err != nil {
		t.Fatal(err)
	}
	const unerased = "FROM events WHERE data LIKE '%erika%'"
	if got := b.Number(t, "SELECT COUNT(*) "+unerased); got < changes/4 {
		t.Fatalf("events that are not erased: got %d, want at least %d", got, changes/4)
	}
	if _, err := b.Engine.Redeliver(t.Context(), r, b.Number(t, "SELECT MAX(id) "+unerased), 0); err != nil {
		t.Fatal(err)
	}
	run(t, b.deliverer())
	for _, m := range receiver.wait(t, changes+3) { // the creation, the deletion and the redelivery
		if strings.Contains(m.body, "erika") || !strings.Contains(m.body, `"object":"customer"`) {
			t.Errorf("got %s", m.body)
		}
	}
}

package extproc_test

import (
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestEventHasTheIDsOfCore checks that the request's event has the API key and the objects from
// core's response.
func TestEventHasTheIDsOfCore(t *testing.T) {
	t.Parallel()
	key, addressed, object := id.Format(id.APIKey, 7), id.Format(id.Transaction, 8), id.Format(id.Refund, 9)
	reply := enginetest.Response{Status: 200, Body: cleartext, Fields: []enginetest.Field{
		{Name: "X-Svc-Int-Api-Key", Value: key},
		{Name: "X-Svc-Int-Addressed", Value: addressed},
		{Name: "X-Svc-Int-Object", Value: object},
	}}
	seen := watch(t, enginetest.NewWorld(t).Engine(t), admission.Config{Slots: 9}, byField)
	respond := func(*message) *message { return messageOf(reply) }
	if _, err := seen.envoy.exchange(
		withLevels(t, "optional"), plain("POST", enginetest.Path, ciphertext), respond,
	); err != nil {
		t.Fatal(err)
	}
	wantEvent(t, seen.event(t), map[string]any{"api_key": key, "addressed": addressed, "object": object})
}

package edge_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/hook"
)

// receive starts a receiver of webhooks, and registers it at v1.
func (r *deployment) receive(t *testing.T) *hook.Receiver {
	t.Helper()
	h := hook.Start(t)
	made := r.api(t, r.client(t, nil), "POST", "/v1/webhook_endpoints", `{"url":"`+h.URL+`","enabled_events":["*"]}`)
	var endpoint struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(made.body), &endpoint); err != nil || endpoint.Secret == "" {
		t.Fatalf("webhook endpoint: %d %s", made.status, made.body)
	}
	h.Trust(t, endpoint.Secret)
	return h
}

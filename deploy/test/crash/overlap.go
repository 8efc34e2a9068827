package crash

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Overlap rolls the main endpoint's secret, requests a redelivery of its newest event, and
// requires signatures by the new secret and the previous one.
func (h *Harness) Overlap(ctx context.Context, round int) ([]string, error) {
	events, err := listOf[v1.Event](ctx, h.api, "/v1/events?type=customer.created", h.before.event)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	event := events[0].ID
	if !h.comes(ctx, mainPath, event) {
		return []string{"event " + event + " did not come"}, nil
	}
	roll, err := h.api.insist(ctx, &Call{
		Method: http.MethodPost, Path: "/v1/webhook_endpoints/" + h.main + "/roll_secret",
		Key: fmt.Sprintf("roll-%d", round), Body: `{"expires_in":3600}`,
	})
	if err != nil {
		return nil, err
	}
	e := read[v1.WebhookEndpoint](roll)
	if e.Secret == nil {
		return []string{"roll: " + roll.Body}, nil
	}
	h.hook.trust(mainPath, e.Secret.Reveal())
	n := h.hook.generations(mainPath)
	again, err := h.api.insist(ctx, &Call{
		Method: http.MethodPost, Path: "/v1/events/" + event + "/redeliver",
		Key: fmt.Sprintf("redeliver-%d", round), Body: fmt.Sprintf(`{"endpoint":%q}`, h.main),
	})
	if err != nil {
		return nil, err
	}
	if !again.ok() {
		return []string{"redeliver: " + again.Body}, nil
	}
	if by := []int{n - 1, n - 2}; !h.signed(ctx, event, by) {
		got, _ := h.hook.receipt(mainPath, event)
		return []string{fmt.Sprintf("event %s came signed by the secrets %v, want %v", event, got.valid, by)}, nil
	}
	return nil, nil
}

// signed waits for a delivery that is signed by these secrets.
func (h *Harness) signed(ctx context.Context, event string, by []int) bool {
	return await(ctx, func() bool {
		got, _ := h.hook.receipt(mainPath, event)
		return slices.Equal(got.valid, by) || slices.Equal(got.valid, []int{by[1], by[0]})
	})
}

// Clear deletes the endpoints that scenarios left, because a merchant may have only sixteen.
func (h *Harness) Clear(ctx context.Context) error {
	all, err := listOf[v1.WebhookEndpoint](ctx, h.api, "/v1/webhook_endpoints", "")
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Description == nil || !strings.HasPrefix(*e.Description, "r") {
			continue
		}
		if _, err := h.api.insist(ctx, &Call{Method: http.MethodDelete, Path: "/v1/webhook_endpoints/" + e.ID}); err != nil {
			return err
		}
	}
	return nil
}

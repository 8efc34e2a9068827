package crash

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// endpointStory makes a webhook endpoint, has something happen, changes it, gives it another secret, and at times deletes it. It rolls
// the secret of the endpoint that stays, too, and has an event delivered once more.
func (t *teller) endpointStory(ctx context.Context) error {
	c := t.post(EndpointCreate, "/v1/webhook_endpoints", "")
	c.Body = fmt.Sprintf(`{"url":%q,"enabled_events":["customer.created","customer.updated"],"description":%q}`, t.h.hook.url("/"+c.Marker), c.Marker)
	if err := t.must(ctx, c); err != nil {
		return err // there may be too many already
	}
	made := read[v1.WebhookEndpoint](c.Answer)
	path := "/" + c.Marker
	t.h.hook.trust(path, made.Secret.Reveal())
	customer := keyed(t.customer())
	stays := t.chance(50)
	if stays { // what it was promised before a crash, it gets after it
		t.h.mu.Lock()
		t.h.wants = append(t.h.wants, want{path, customer.Marker})
		t.h.mu.Unlock()
	}
	if err := t.must(ctx, customer); err != nil {
		return err
	}
	if err := t.rollSecret(ctx, made.ID, path); err != nil {
		return err
	}
	if err := t.redeliver(ctx, customer.Answer.id()); err != nil || stays {
		return err
	}
	for _, body := range []string{`{"status":"disabled"}`, `{"status":"enabled","metadata":{"a":"b"}}`} {
		update := t.change(EndpointUpdate, http.MethodPatch, "/v1/webhook_endpoints/"+made.ID, body)
		update.On = made.ID
		if err := t.do(ctx, update); err != nil {
			return err
		}
	}
	if t.chance(50) {
		return nil
	}
	remove := t.change(EndpointDelete, http.MethodDelete, "/v1/webhook_endpoints/"+made.ID, "")
	remove.On = made.ID
	return t.do(ctx, remove)
}

// rollSecret always has a key: a secret that nobody was told of could not be verified by.
func (t *teller) rollSecret(ctx context.Context, endpoint, path string) error {
	roll := keyed(t.post(SecretRoll, "/v1/webhook_endpoints/"+endpoint+"/roll_secret", `{"expires_in":3600}`))
	roll.On = endpoint
	if err := t.must(ctx, roll); err != nil {
		return err
	}
	if e := read[v1.WebhookEndpoint](roll.Answer); e.Secret != nil {
		t.h.hook.trust(path, e.Secret.Reveal())
	}
	return nil
}

// redeliver has the first event of an object delivered to the main endpoint once more.
func (t *teller) redeliver(ctx context.Context, object string) error {
	found, err := listOf[v1.Event](ctx, t.h.api, "/v1/events?object="+object, "")
	if err != nil {
		return errGone
	}
	if len(found) == 0 {
		return errOver
	}
	event := found[len(found)-1].ID
	again := t.post(EventRedelivery, "/v1/events/"+event+"/redeliver", `{"endpoint":%q}`, t.h.main)
	again.On = event
	return t.do(ctx, again)
}

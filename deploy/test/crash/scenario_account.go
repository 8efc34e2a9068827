package crash

import (
	"fmt"
	"net/http"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// token prepares a token of a card, or of a bank account, by the merchant or by the payer's device.
func (t *runner) token(withCVC bool) *Call {
	cvc := ""
	if withCVC {
		cvc = `"cvc":"900",`
	}
	body := `{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031,` + cvc + `"holder":"{marker}"}}`
	if !withCVC && t.chance(20) {
		body = `{"bank_account":{"account_number":"000123456789","routing_number":"021000021","account_type":"checking",` +
			`"holder":"{marker}"}}`
	}
	c := keyed(t.post(TokenCreate, "/v1/tokens", "%s", body))
	if t.chance(25) {
		c.Key = ""
	}
	if t.chance(50) {
		c.Auth = t.h.keys.Publishable
	}
	return c
}

// tokenScenario uses a token once, or tries to use it twice at the same time.
func (t *runner) tokenScenario() {
	c := t.token(t.chance(40))
	t.must(c)
	pay := func() *Call {
		body := `{"amount":%d,"currency":"usd","capture":"automatic","reference":"{marker}","payment_method":%q}`
		return t.post(Create, "/v1/transactions", body, t.amount(), c.Response.value())
	}
	if t.chance(50) {
		t.together(pay(), pay(), pay())
		return
	}
	t.must(pay())
	t.do(pay()) // which is refused
}

// customer prepares a customer.
func (t *runner) customer() *Call {
	return t.post(CustomerCreate, "/v1/customers", `{"reference":"{marker}","email":"a@example.com"}`)
}

// customerScenario makes a customer, pays with its payment methods and then deletes it.
func (t *runner) customerScenario() {
	c := t.customer()
	t.must(c)
	id := c.Response.id()
	path := "/v1/customers/" + id
	for range t.rng.IntN(3) {
		body := fmt.Sprintf(`{"description":"%d"}`, t.rng.IntN(1000))
		t.do(t.change(CustomerUpdate, http.MethodPatch, path, body).on(id))
	}
	token := t.token(t.chance(50))
	t.must(token)
	body := `{"token":%q,"metadata":{"marker":"{marker}"}}`
	attach := t.post(MethodAttach, path+"/payment_methods", body, token.Response.value()).on(id)
	t.must(attach)
	method := attach.Response.id()
	for range 1 + t.rng.IntN(2) {
		body := `{"amount":%d,"currency":"usd","reference":"{marker}","payment_method":%q,"customer":%q,` +
			`"initiator":{"type":"merchant","reason":"unscheduled"}}`
		t.do(t.post(Create, "/v1/transactions", body, t.amount(), method, id))
	}
	if t.chance(40) {
		detach := t.change(MethodDetach, http.MethodDelete, path+"/payment_methods/"+method, "").on(method)
		t.do(detach)
	}
	if t.chance(40) {
		t.do(t.change(CustomerDelete, http.MethodDelete, path, "").on(id))
	}
}

// keyScenario makes an API key, rolls it, and revokes one of the two.
func (t *runner) keyScenario() {
	c := t.post(KeyCreate, "/v1/api_keys", `{"kind":"secret","scopes":["transactions:read"],"name":"{marker}"}`)
	t.must(c)
	id := c.Response.id()
	if t.chance(60) {
		roll := t.post(KeyRoll, "/v1/api_keys/"+id+"/roll", `{"expires_in":%d}`, pick(t, 0, 3600)).on(id)
		t.must(roll)
		if t.chance(50) {
			id = roll.Response.id()
		}
	}
	if t.chance(60) {
		t.do(t.change(KeyRevoke, http.MethodDelete, "/v1/api_keys/"+id, "").on(id))
	}
}

// endpointScenario makes a webhook endpoint, causes an event, changes the endpoint, rolls its
// secret, and sometimes deletes it. It also rolls the secret of the permanent endpoint, and
// requests a redelivery.
func (t *runner) endpointScenario() {
	body := `{"url":%q,"enabled_events":["customer.created","customer.updated"],"description":"{marker}"}`
	c := t.post(EndpointCreate, "/v1/webhook_endpoints", body, t.h.hook.url("/{marker}"))
	t.must(c) // there may be too many already
	made := read[v1.WebhookEndpoint](c.Response)
	path, at := "/"+c.Marker, "/v1/webhook_endpoints/"+made.ID
	t.h.hook.trust(path, made.Secret.Reveal())
	customer := keyed(t.customer())
	stays := t.chance(50)
	if stays { // after a crash it receives the events from before it
		t.h.mu.Lock()
		t.h.wants = append(t.h.wants, want{path, customer.Marker})
		t.h.mu.Unlock()
	}
	t.must(customer)
	t.rollSecret(made.ID, path)
	t.redeliver(customer.Response.id())
	if stays {
		return
	}
	for _, body := range []string{`{"status":"disabled"}`, `{"status":"enabled","metadata":{"a":"b"}}`} {
		t.do(t.change(EndpointUpdate, http.MethodPatch, at, body).on(made.ID))
	}
	if !t.chance(50) {
		t.do(t.change(EndpointDelete, http.MethodDelete, at, "").on(made.ID))
	}
}

// rollSecret always has a key: a secret in a lost response could not verify a delivery.
func (t *runner) rollSecret(endpoint, path string) {
	roll := keyed(t.post(SecretRoll, "/v1/webhook_endpoints/"+endpoint+"/roll_secret", `{"expires_in":3600}`)).on(endpoint)
	t.must(roll)
	if e := read[v1.WebhookEndpoint](roll.Response); e.Secret != nil {
		t.h.hook.trust(path, e.Secret.Reveal())
	}
}

// redeliver has the first event of an object delivered to the main endpoint once more.
func (t *runner) redeliver(object string) {
	found, err := listOf[v1.Event](t.ctx, t.h.api, "/v1/events?object="+object, "")
	if err != nil {
		ensure(errGone)
	}
	if len(found) == 0 {
		ensure(errOver)
	}
	event := found[len(found)-1].ID
	t.do(t.post(EventRedelivery, "/v1/events/"+event+"/redeliver", `{"endpoint":%q}`, t.h.main).on(event))
}

// day ends the day, for all payments, or lets some time pass.
func (t *runner) day() {
	if t.chance(60) {
		t.do(t.post(SettlementRun, "/v1/test_helpers/settlement_runs", ""))
		return
	}
	t.do(t.post(ClockAdvance, "/v1/test_helpers/clock/advance", `{"seconds":%d}`, pick(t, 60, 3600, 40_000)))
}

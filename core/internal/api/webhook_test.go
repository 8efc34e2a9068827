package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// hook returns the body that makes an endpoint for all events. fields are further members, each
// with a leading comma.
func hook(url, fields string) string {
	return fmt.Sprintf(`{"url":%q,"enabled_events":["*"]%s}`, url, fields)
}

const somewhere = "https://shop.example/hook"

func (b *bundle) MustHook(t *testing.T, url string, options ...option) v1.WebhookEndpoint {
	t.Helper()
	return MustDecode[v1.WebhookEndpoint](t, b.post(t, "/v1/webhook_endpoints", hook(url, ""), options...), 201)
}

func (b *bundle) hook(t *testing.T, id string) v1.WebhookEndpoint {
	t.Helper()
	return MustDecode[v1.WebhookEndpoint](t, b.get(t, "/v1/webhook_endpoints/"+id), 200)
}

func (b *bundle) deliveries(t *testing.T, id string) []v1.WebhookDelivery {
	t.Helper()
	return MustDecode[v1.WebhookDeliveryList](t, b.get(t, "/v1/webhook_endpoints/"+id+"/deliveries?limit=100"), 200).Data
}

func TestWebhookEndpoints(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.MustHook(t, somewhere)
	if made.Status != v1.WebhookEndpointStatusEnabled || made.URL != somewhere || made.Secret == nil || !strings.HasPrefix(made.Secret.Reveal(), "whsec_") ||
		!slices.Equal(made.EnabledEvents, []string{"*"}) || made.Version != 1 || made.DisabledReason != nil {
		t.Errorf("got %+v", made)
	}
	if got := b.hook(t, made.ID); got.Secret != nil || got.ID != made.ID {
		t.Errorf("read: got %+v", got)
	}
	path := "/v1/webhook_endpoints/" + made.ID
	changed := MustDecode[v1.WebhookEndpoint](t, b.do(t, http.MethodPatch, path,
		`{"url":"https://two.example/","enabled_events":["refund.created"],"description":"two","metadata":{"a":"b"}}`), 200)
	if changed.URL != "https://two.example/" || *changed.Description != "two" || changed.Metadata["a"] != "b" || changed.Version != 2 || changed.Secret != nil {
		t.Errorf("changed: got %+v", changed)
	}
	off := MustDecode[v1.WebhookEndpoint](t, b.do(t, http.MethodPatch, path, `{"status":"disabled"}`), 200)
	if off.Status != v1.WebhookEndpointStatusDisabled || *off.DisabledReason != v1.WebhookEndpointDisabledReasonRequested || *off.Description != "two" {
		t.Errorf("disabled: got %+v", off)
	}
	disabled := b.listEvents(t, "type=webhook_endpoint.disabled&object="+made.ID)
	if len(disabled) != 1 || disabled[0].Sequence != off.Version {
		t.Errorf("events: got %+v", disabled)
	}
	MustDecode[v1.WebhookEndpoint](t, b.do(t, http.MethodPatch, path, `{"status":"disabled"}`), 200)
	on := MustDecode[v1.WebhookEndpoint](t, b.do(t, http.MethodPatch, path, `{"status":"enabled"}`), 200)
	if on.Status != v1.WebhookEndpointStatusEnabled || on.DisabledReason != nil {
		t.Errorf("enabled: got %+v", on)
	}
	if n := len(b.listEvents(t, "type=webhook_endpoint.disabled")); n != 1 {
		t.Errorf("disabling twice has %d events", n)
	}
	gone := MustDecode[v1.Deleted](t, b.do(t, http.MethodDelete, path, ""), 200)
	if gone.ID != made.ID || gone.Object != "webhook_endpoint" || !gone.Deleted {
		t.Errorf("deleted: got %+v", gone)
	}
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	wantRefusal(t, b.get(t, path), missing)
	wantRefusal(t, b.do(t, http.MethodDelete, path, ""), missing)
	wantRefusal(t, b.do(t, http.MethodPatch, path, `{}`), missing)
	wantRefusal(t, b.get(t, path+"/deliveries"), missing)
	wantRefusal(t, b.post(t, path+"/roll_secret", ""), missing)
	if got := MustDecode[page](t, b.get(t, "/v1/webhook_endpoints"), 200); len(got.Data) != 0 {
		t.Errorf("list: got %v", got.ids())
	}
}

func TestWebhookEndpointList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []string
	for range 6 {
		ids = slices.Insert(ids, 0, b.MustHook(t, somewhere).ID)
	}
	b.walk(t, "/v1/webhook_endpoints?", ids)
	other := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"}))
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	event := ""
	b.MustCreate(t, 100, "")
	event = b.listEvents(t, "")[0].ID
	for _, key := range []option{other, live} {
		missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
		wantRefusal(t, b.get(t, "/v1/webhook_endpoints/"+ids[0], key), missing)
		wantRefusal(t, b.get(t, "/v1/webhook_endpoints/"+ids[0]+"/deliveries", key), missing)
		wantRefusal(t, b.do(t, http.MethodPatch, "/v1/webhook_endpoints/"+ids[0], `{}`, key), missing)
		wantRefusal(t, b.do(t, http.MethodDelete, "/v1/webhook_endpoints/"+ids[0], "", key), missing)
		wantRefusal(t, b.post(t, "/v1/webhook_endpoints/"+ids[0]+"/roll_secret", "", key), missing)
		wantRefusal(t, b.post(t, "/v1/events/"+event+"/redeliver", "", key), missing)
		if got := MustDecode[page](t, b.get(t, "/v1/webhook_endpoints", key), 200); len(got.Data) != 0 {
			t.Errorf("another tenant sees %v", got.ids())
		}
	}
	for range 10 {
		b.MustHook(t, somewhere)
	}
	wantRefusal(t, b.post(t, "/v1/webhook_endpoints", hook(somewhere, "")), refusal{409, v1.ErrorTypeInvalidRequestError, "webhook_endpoint_limit", ""})
	MustDecode[v1.Deleted](t, b.do(t, http.MethodDelete, "/v1/webhook_endpoints/"+ids[0], ""), 200)
	b.MustHook(t, somewhere)
	b.MustHook(t, somewhere, live)
}

// TestWebhookURLRefused: the error names the field of a URL with an empty label, or with a
// percent-encoded card number.
func TestWebhookURLRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for url, code := range map[string]string{
		"https://a..shop.example/":                             "invalid_url",
		"https://shop.example/?a=%34242424242424242":           "card_number_in_text",
		"https://shop.example/4242%252D4242%252D4242%252D4242": "card_number_in_text",
	} {
		wantRefusal(t, b.post(t, "/v1/webhook_endpoints", hook(url, "")), invalid(code, "url"))
	}
}

func TestWebhookEndpointBadInput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.MustHook(t, somewhere)
	long := strings.Repeat("x", 1001)
	for _, c := range []struct{ fields, code, param string }{
		{`"url":"https://10.0.0.1/"`, "invalid_url", "url"},
		{`"url":"https://localhost/"`, "invalid_url", "url"},
		{`"url":"ftp://shop.example/"`, "invalid_url", "url"},
		{`"url":"https://user:pw@shop.example/"`, "invalid_url", "url"},
		{`"url":"https://shop.example/` + strings.Repeat("x", 2048) + `"`, "invalid_url", "url"},
		{`"url":7`, "invalid_type", "url"},
		{`"url":null`, "invalid_type", "url"},
		{`"enabled_events":[]`, "invalid_value", "enabled_events"},
		{`"enabled_events":"*"`, "invalid_type", "enabled_events"},
		{`"enabled_events":["*","refund.created"]`, "invalid_value", "enabled_events"},
		{`"enabled_events":["refund.*"]`, "invalid_value", "enabled_events"},
		{`"enabled_events":["refund.created","refund.created"]`, "invalid_value", "enabled_events"},
		{`"enabled_events":["` + strings.Repeat(`refund.created","`, 50) + `*"]`, "invalid_value", "enabled_events"},
		{`"description":"` + long + `"`, "invalid_value", "description"},
		{`"metadata":{"":"a"}`, "invalid_value", "metadata"},
		{`"secret":"whsec_x"`, "unknown_field", "secret"},
	} {
		base := []string{}
		for _, f := range []string{`"url":"` + somewhere + `"`, `"enabled_events":["*"]`} {
			if name, _, _ := strings.Cut(f, ":"); !strings.HasPrefix(c.fields, name) {
				base = append(base, f)
			}
		}
		want := refusal{400, v1.ErrorTypeInvalidRequestError, c.code, c.param}
		wantRefusal(t, b.post(t, "/v1/webhook_endpoints", "{"+strings.Join(append(base, c.fields), ",")+"}"), want)
		wantRefusal(t, b.do(t, http.MethodPatch, "/v1/webhook_endpoints/"+made.ID, "{"+c.fields+"}"), want)
	}
	bad := func(code, param string) refusal { return refusal{400, v1.ErrorTypeInvalidRequestError, code, param} }
	wantRefusal(t, b.post(t, "/v1/webhook_endpoints", `{"enabled_events":["*"]}`), bad("missing_field", "url"))
	wantRefusal(t, b.post(t, "/v1/webhook_endpoints", `{"url":"`+somewhere+`"}`), bad("missing_field", "enabled_events"))
	wantRefusal(t, b.post(t, "/v1/webhook_endpoints", hook(somewhere, `,"status":"disabled"`)), bad("unknown_field", "status"))
	wantRefusal(t, b.do(t, http.MethodPatch, "/v1/webhook_endpoints/"+made.ID, `{"status":"deleted"}`), bad("invalid_value", "status"))
	wantRefusal(t, b.do(t, http.MethodPatch, "/v1/webhook_endpoints/"+made.ID, ``), bad("invalid_json", ""))
	for fields, want := range map[string]refusal{
		`{"expires_in":-1}`: bad("invalid_value", "expires_in"), `{"expires_in":86401}`: bad("invalid_value", "expires_in"),
		`{"expires_in":"1"}`: bad("invalid_type", "expires_in"), `{"in":1}`: bad("unknown_field", "in"),
	} {
		wantRefusal(t, b.post(t, "/v1/webhook_endpoints/"+made.ID+"/roll_secret", fields), want)
	}
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	wantRefusal(t, b.post(t, "/v1/webhook_endpoints", hook("http://shop.example/", ""), live), bad("invalid_url", "url"))
	b.MustHook(t, "http://shop.example/")
	if got := b.hook(t, made.ID); got.Version != 1 {
		t.Errorf("a refused change left its mark: %+v", got)
	}
}

func TestWebhookSecretsAreReplayedAndNotStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/webhook_endpoints", hook(somewhere, ""), keyed("make"))
	made := MustDecode[v1.WebhookEndpoint](t, first, 201)
	path := "/v1/webhook_endpoints/" + made.ID + "/roll_secret"
	rolls := []response{b.post(t, path, "", keyed("one")), b.post(t, path, `{"expires_in":60}`, keyed("two"))}
	secrets := []string{made.Secret.Reveal()}
	for i, a := range rolls {
		rolled := MustDecode[v1.WebhookEndpoint](t, a, 200)
		secrets = append(secrets, rolled.Secret.Reveal())
		wait := []time.Duration{24 * time.Hour, time.Minute}[i]
		if got, want := rolled.PreviousSecretUntil.Time, birth.Add(wait); !got.Equal(want) {
			t.Errorf("overlap until %s, want %s", got, want)
		}
	}
	slices.Sort(secrets)
	if len(slices.Compact(secrets)) != 3 {
		t.Error("a roll gave a secret that was there before")
	}
	b.restart(t)
	for i, again := range []response{
		b.post(t, "/v1/webhook_endpoints", hook(somewhere, ""), keyed("make")), b.post(t, path, "", keyed("one")),
		b.post(t, path, `{"expires_in":60}`, keyed("two")),
	} {
		was := append([]response{first}, rolls...)[i]
		if string(again.body) != string(was.body) || again.status != was.status || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("replay %d: got %d %s, want %d %s", i, again.status, again.body, was.status, was.body)
		}
	}
	b.wantAbsent(t, secrets)
	for key, want := range map[string]string{"make": made.ID, "one": made.ID} {
		got := MustDecode[v1.IdempotencyKeyRecord](t, b.get(t, "/v1/idempotency_keys/"+key), 200)
		if got.Resource == nil || *got.Resource != want {
			t.Errorf("%s: got %+v, want the endpoint", key, got)
		}
	}
}

// wantAbsent looks for texts in the logs and in every file of the folder.
func (b *bundle) wantAbsent(t *testing.T, texts []string) {
	t.Helper()
	places := b.database.Files(t, b.dir)
	places["the log"] = []byte(b.logs.String())
	for name, content := range places {
		for i, text := range texts {
			if strings.Contains(string(content), text) || strings.Contains(string(content), strings.TrimPrefix(text, "whsec_")) {
				t.Errorf("%s holds secret %d", name, i)
			}
		}
	}
}

func TestWebhookRoundTrip(t *testing.T) {
	t.Parallel()
	b := setupWith(t, "")
	b.private = true
	b.restart(t)
	var mu sync.Mutex
	var bodies []string
	var headers []http.Header
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies, headers = append(bodies, string(body)), append(headers, r.Header)
		_, _ = w.Write([]byte("thanks, and here is a secret of ours"))
	}))
	t.Cleanup(receiver.Close)
	made := b.MustHook(t, receiver.URL)
	b.MustCreate(t, 1250, "")
	wait := func(n int) {
		t.Helper()
		programtest.WaitFor(t, "the deliveries have succeeded", func() bool {
			log := b.deliveries(t, made.ID)
			return len(log) == n && !slices.ContainsFunc(log, func(d v1.WebhookDelivery) bool { return d.Status != v1.WebhookDeliveryStatusSucceeded })
		})
	}
	wait(1)
	event := b.listEvents(t, "type=transaction.captured")[0]
	shown := b.get(t, "/v1/events/"+event.ID)
	if bodies[0] != string(shown.body) || headers[0].Get("Webhook-Id") != event.ID {
		t.Errorf("delivered %s as %s, want the event as v1 shows it: %s", headers[0].Get("Webhook-Id"), bodies[0], shown.body)
	}
	d := b.deliveries(t, made.ID)[0]
	if d.Event != event.ID || d.EventType != "transaction.captured" || d.Endpoint != made.ID || d.Attempts != 1 || *d.LastAttempt.ResponseStatus != 200 || d.NextAttemptAt != nil {
		t.Errorf("log: got %+v", d)
	}

	again := MustDecode[v1.WebhookDeliveryList](t, b.post(t, "/v1/events/"+event.ID+"/redeliver", "", keyed("again")), 201)
	if len(again.Data) != 1 || again.Data[0].Event != event.ID || again.Data[0].Status != v1.WebhookDeliveryStatusPending {
		t.Errorf("redeliver: got %+v", again)
	}
	b.post(t, "/v1/events/"+event.ID+"/redeliver", "", keyed("again"))
	wait(2)
	one := MustDecode[v1.WebhookDeliveryList](t, b.post(t, "/v1/events/"+event.ID+"/redeliver", `{"endpoint":"`+made.ID+`"}`), 201)
	wait(3)
	if len(one.Data) != 1 || bodies[2] != bodies[0] || headers[2].Get("Webhook-Id") != event.ID {
		t.Errorf("redelivered another message: %s", bodies[2])
	}
	if strings.Contains(string(b.get(t, "/v1/webhook_endpoints/"+made.ID+"/deliveries").body), "a secret of ours") {
		t.Error("the log shows the receiver's response")
	}
	b.wantAbsent(t, []string{"a secret of ours"})
	missing := func(param string) refusal { return refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", param} }
	wantRefusal(t, b.post(t, "/v1/events/"+event.ID+"/redeliver", `{"endpoint":"`+id.Format(id.WebhookEndpoint, 5)+`"}`), missing("endpoint"))
	wantRefusal(t, b.post(t, "/v1/events/"+event.ID+"/redeliver", `{"endpoint":"x"}`), missing("endpoint"))
	wantRefusal(t, b.post(t, "/v1/events/"+id.Format(id.Event, 5)+"/redeliver", ""), missing("id"))
	MustDecode[v1.WebhookEndpoint](t, b.do(t, http.MethodPatch, "/v1/webhook_endpoints/"+made.ID, `{"status":"disabled"}`), 200)
	wantRefusal(t, b.post(t, "/v1/events/"+event.ID+"/redeliver", `{"endpoint":"`+made.ID+`"}`),
		refusal{409, v1.ErrorTypeInvalidRequestError, "webhook_endpoint_disabled", "endpoint"})
	none := MustDecode[v1.WebhookDeliveryList](t, b.post(t, "/v1/events/"+event.ID+"/redeliver", ""), 201)
	if len(none.Data) != 0 {
		t.Errorf("delivered to a disabled endpoint: %+v", none)
	}
}

// TestAnEndpointMissesNothingAfterIt makes endpoints during payments, and checks that each gets
// every event that was committed after it.
func TestAnEndpointMissesNothingAfterIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var payers sync.WaitGroup
	for range 8 {
		payers.Go(func() {
			for range 40 {
				if a, err := b.try(t, http.MethodPost, "/v1/transactions", create(100, "")); err != nil || a.status != 201 {
					t.Errorf("got %d, %v", a.status, err)
				}
			}
		})
	}
	var made []v1.WebhookEndpoint
	for range 8 {
		made = append(made, b.MustHook(t, somewhere))
	}
	payers.Wait()
	b.MustCreate(t, 100, "")
	for _, e := range made {
		// Both ids were drawn by the writer, inside the commands, so their order is the order of the
		// commits.
		n, err := id.Parse(id.WebhookEndpoint, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := b.number(t, "SELECT COUNT(*) FROM events WHERE id > ?", n)
		got := b.number(t, "SELECT COUNT(DISTINCT event_id) FROM webhook_deliveries WHERE endpoint_id = ? AND event_id > ?", n, n)
		if got != want || want == 0 {
			t.Errorf("%s: got %d of %d events", e.ID, got, want)
		}
	}
}

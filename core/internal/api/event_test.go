package api_test

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// listEvents lists the events of a query, newest first.
func (b *bundle) listEvents(t *testing.T, query string, options ...option) []v1.Event {
	t.Helper()
	got := MustDecode[v1.EventList](t, b.get(t, "/v1/events?limit=100&"+query, options...), 200)
	if got.HasMore {
		t.Errorf("%s: there is more", query)
	}
	return got.Data
}

func types(events []v1.Event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return out
}

func TestEventsShowEachTransition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	held := b.MustCreate(t, 1000, manual)
	b.clock.Advance(time.Second)
	capture := MustDecode[v1.Capture](t, b.capture(t, held.ID, `{"amount":400}`), 201)
	b.clock.Advance(time.Second)
	refund := MustDecode[v1.Refund](t, b.refund(t, held.ID, `,"amount":150`), 201)
	b.post(t, "/v1/transactions", `{"amount":100,"currency":"usd","payment_method":"pm_card_declined"}`)
	want := []string{
		"transaction.declined", "refund.succeeded", "refund.created", "transaction.partially_captured", "capture.created", "transaction.authorized",
		"api_key.created",
	}
	if got := types(b.listEvents(t, "")); !slices.Equal(got, want) {
		t.Errorf("types: got %v, want %v", got, want)
	}
	ofOne := b.listEvents(t, "object="+held.ID)
	if got, want := types(ofOne), want[3:6:6]; !slices.Equal(got, slices.Delete(slices.Clone(want), 1, 2)) {
		t.Errorf("of one transaction: got %v", got)
	}
	for i, e := range ofOne {
		var then v1.Transaction
		if err := json.Unmarshal(e.Data.Object, &then, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		if got, want := e.Sequence, int64(2-i); got != want || then.Version != want || string(then.Status) != string(e.Type[len("transaction."):]) {
			t.Errorf("%s: sequence %d, version %d, status %s, want sequence %d", e.Type, e.Sequence, then.Version, then.Status, want)
		}
		if one := b.get(t, "/v1/events/"+e.ID); one.status != 200 || MustDecode[v1.Event](t, one, 200).ID != e.ID {
			t.Errorf("%s: got %d %s", e.ID, one.status, one.body)
		}
	}
	if got, want := b.listEvents(t, "object="+capture.ID)[0].CreatedAt.Time, birth.Add(time.Second); !got.Equal(want) {
		t.Errorf("created at: got %s, want %s", got, want)
	}
	if got, want := types(b.listEvents(t, "object="+refund.ID+"&type=refund.created")), []string{"refund.created"}; !slices.Equal(got, want) {
		t.Errorf("of a refund: got %v, want %v", got, want)
	}
}

func TestDeclineIsShownAsThePlainTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.post(t, "/v1/transactions", `{"amount":100,"currency":"usd","payment_method":"pm_card_declined"}`)
	declined := MustDecode[v1.ErrorBody](t, a, 402).Error.Transaction
	var got v1.Transaction
	if err := json.Unmarshal(b.listEvents(t, "type=transaction.declined")[0].Data.Object, &got, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if got.ID != declined.ID || got.Status != v1.TransactionStatusDeclined || got.DeclineCode == nil {
		t.Errorf("got %+v", got)
	}
}

func TestEventLists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := ""
	var ids []string
	for range 7 {
		txn = b.MustCreate(t, 100, "").ID
	}
	for _, e := range b.listEvents(t, "type=transaction.captured") {
		ids = append(ids, e.ID)
	}
	b.walk(t, "/v1/events?", append(slices.Clone(ids), b.listEvents(t, "type=api_key.created")[0].ID))
	b.walk(t, "/v1/events?type=transaction.captured&", ids)
	other := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"})
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	for _, key := range []string{other, live} {
		if got := b.listEvents(t, "", as(key)); len(got) != 1 || got[0].Type != v1.EventTypeAPIKeyCreated {
			t.Errorf("another tenant sees %d events", len(got))
		}
		wantRefusal(t, b.get(t, "/v1/events/"+ids[0], as(key)), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	}
	bad := func(code, param string) refusal { return refusal{400, v1.ErrorTypeInvalidRequestError, code, param} }
	for query, want := range map[string]refusal{
		"type=transaction.*":               bad("invalid_value", "type"),
		"type=":                            bad("invalid_value", "type"),
		"object=" + ids[0]:                 bad("invalid_value", "object"), // an event has no events
		"object=txn_1":                     bad("invalid_value", "object"),
		"object=":                          bad("invalid_value", "object"),
		"created_after=yesterday":          bad("invalid_value", "created_after"),
		"created_before=1795260000":        bad("invalid_value", "created_before"),
		"created_before=":                  bad("invalid_value", "created_before"),
		"object_id=" + txn:                 bad("unknown_parameter", "object_id"),
		"starting_after=" + txn:            bad("invalid_cursor", "starting_after"),
		"object=" + txn + "&object=" + txn: bad("invalid_value", "object"),
	} {
		wantRefusal(t, b.get(t, "/v1/events?"+query), want)
	}
	if got := b.listEvents(t, "object="+id.Format(id.Refund, 5)); len(got) != 0 {
		t.Errorf("of an object that is not there: got %d events", len(got))
	}
}

func TestEventsByTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 4 {
		b.MustCreate(t, 100, "")
		b.clock.Advance(time.Minute)
	}
	at := func(d time.Duration) string {
		return url.QueryEscape(birth.Add(d).Format("2006-01-02T15:04:05.000Z07:00"))
	}
	for query, want := range map[string]int{
		"created_after=" + at(0): 3,
		"created_after=" + at(-time.Millisecond) + "&type=transaction.captured":                     4,
		"created_before=" + at(3*time.Minute) + "&type=transaction.captured":                        3,
		"created_before=" + at(3*time.Minute+time.Millisecond):                                      5, // and the key
		"created_after=" + at(0) + "&created_before=" + at(2*time.Minute):                           1,
		"created_after=" + at(time.Hour):                                                            0,
		"created_before=" + at(-time.Hour):                                                          0,
		"created_after=" + url.QueryEscape("2026-11-21T10:30:00+01:00"):                             3,
		"created_after=" + at(0) + "&created_before=" + at(2*time.Minute) + "&type=capture.created": 0,
	} {
		if got := len(b.listEvents(t, query)); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// TestEventsMatchTheirSchemas: each event is as the contract describes the deliveries of its type.
func TestEventsMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	closed := bytes.ReplaceAll(v1.OpenAPI(), []byte("x-extensible-enum:"), []byte("enum:"))
	doc, err := openapi3.NewLoader().LoadFromData(closed)
	if err != nil {
		t.Fatal(err)
	}
	customer := b.MustCustomer(t, ann).ID
	method := b.MustAttach(t, customer, visa).ID
	held := b.MustCreate(t, 100, manual).ID
	MustDecode[v1.Capture](t, b.capture(t, held, `{"amount":10}`), 201)
	MustDecode[v1.Refund](t, b.refund(t, held, `,"amount":1`), 201)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions/"+b.MustCreate(t, 100, manual).ID+"/void", ""), 200)
	MustDecode[v1.ErrorBody](t, b.pay(t, "pm_card_declined", ""), 402)
	MustDecode[v1.Transaction](t, b.do(t, "PATCH", "/v1/transactions/"+held, `{"reference":"r"}`), 200)
	key, _ := b.createKey(t, `{"kind":"secret"}`)
	MustDecode[v1.APIKey](t, b.do(t, "DELETE", "/v1/api_keys/"+key.ID, ""), 200)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer+"/payment_methods/"+method, ""), 200)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	var list struct {
		Data []map[string]any `json:"data"`
	}
	if err := json.Unmarshal(b.get(t, "/v1/events?limit=100").body, &list); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, event := range list.Data {
		kind := event["type"].(string)
		found[kind] = true
		name := doc.Components.Schemas["WebhookEvent"].Value.Discriminator.Mapping[kind].Ref
		schema := doc.Components.Schemas[name[strings.LastIndex(name, "/")+1:]]
		if err := schema.Value.VisitJSON(event); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if len(found) < 14 {
		t.Errorf("got events of the types %v, want more", found)
	}
}

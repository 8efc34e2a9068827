package core_test

import (
	"testing"
)

// TestTextsNoStoreKeeps: a text that one of the engines cannot store, or cannot search, is refused
// with every engine.
func TestTextsNoStoreKeeps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.rows(t)
	for body, param := range map[string]string{
		create(1, `,"reference":"\u0000"`):                                                       "reference",
		create(1, `,"description":"a\u0000b"`):                                                   "description",
		create(1, `,"metadata":{"a":"\u0000"}`):                                                  "metadata.a",
		create(1, `,"metadata":{"a":"b","\u0000":"c"}`):                                          "metadata",
		create(1, `,"billing":{"address":{"city":"x\u0000"}}`):                                   "billing.address.city",
		create(1, `,"order":{"line_items":[{"name":"\u0000","quantity":"1","unit_price":"1"}]}`): "order.line_items.0.name",
	} {
		wantRefusal(t, b.post(t, "/v1/transactions", body, keyed("texts")), invalid("invalid_value", param))
	}
	for _, param := range []string{"email", "reference", "description"} {
		wantRefusal(t, b.post(t, "/v1/customers", `{"`+param+`":"\u0000"}`), invalid("invalid_value", param))
	}
	wantRefusal(t, b.post(t, "/v1/api_keys", `{"kind":"secret","name":"\u0000"}`), invalid("invalid_value", "name"))
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	for _, value := range []string{"%00", "a%00", "%ED%A0%80", "%ff"} {
		wantRefusal(t, b.get(t, "/v1/transactions?reference="+value), invalid("invalid_value", "reference"))
		wantRefusal(t, b.get(t, "/v1/customers?email="+value), invalid("invalid_value", "email"))
		wantRefusal(t, b.get(t, "/v1/customers?"+value+"=1"), invalid("unknown_parameter", ""))
		wantRefusal(t, b.get(t, "/v1/idempotency_keys/"+value), invalid("invalid_value", "key"))
	}
	b.MustCreate(t, 1, `,"reference":"\\u0000","metadata":{"null":"\u0001"}`)
}

package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// textPlanted is the card number that the tests put into texts.
const textPlanted = "4000001234567899"

// noFreeText are the members of request bodies that take a text and are not free text, each with
// the reason. The service must not refuse the number there for being in a text.
var noFreeText = map[string]string{
	"card.number":                 "it is the card number",
	"network_token.number":        "it is the card number",
	"bank_account.account_number": "16 digits can be an account's; stored encrypted",
}

// textPaths returns the path of each text in a body, with 0 for an item and * for a name of the
// client's choice.
func textPaths(at string, s *openapi3.Schema) (out []string) {
	for _, refs := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		for _, ref := range refs {
			out = append(out, textPaths(at, ref.Value)...)
		}
	}
	if s.Type.Is("string") && s.Format != "date-time" { // a time is parsed before it is a text
		out = append(out, at)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, textPaths(join(at, name), s.Properties[name].Value)...)
	}
	if values := s.AdditionalProperties.Schema; values != nil {
		out = append(out, textPaths(join(at, "*"), values.Value)...)
	}
	if s.Items != nil {
		out = append(out, textPaths(join(at, "0"), s.Items.Value)...)
	}
	return out
}

// textBody returns a body of one text at a path, under name where the path has a *.
func textBody(t *testing.T, path, name, text string) string {
	t.Helper()
	var v any = text
	steps := strings.Split(path, ".")
	slices.Reverse(steps)
	for _, step := range steps {
		switch step {
		case "0":
			v = []any{v}
		case "*":
			v = map[string]any{name: v}
		default:
			v = map[string]any{step: v}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wantTextsRefused puts a card number into each text of each body of a contract, and returns how
// many.
func (b *bundle) wantTextsRefused(t *testing.T, contract []byte, ids *strings.Replacer) int {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(contract)
	if err != nil {
		t.Fatal(err)
	}
	before, tried := b.rows(t), 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil || elsewhere(path) {
				continue
			}
			for _, at := range textPaths("", op.RequestBody.Value.Content["application/json"].Schema.Value) {
				tried++
				b.wantTextRefused(t, method, ids.Replace(path), at)
			}
		}
	}
	if got := b.rows(t); got != before {
		t.Errorf("rows: got %s, want %s", got, before)
	}
	return tried
}

func (b *bundle) wantTextRefused(t *testing.T, method, path, at string) {
	t.Helper()
	param := strings.ReplaceAll(at, "*", "k")
	got := b.do(t, method, path, textBody(t, at, "k", textPlanted))
	if strings.Contains(string(got.body), textPlanted) {
		t.Errorf("%s %s, %s: the response shows the number: %s", method, path, at, got.body)
	}
	if noFreeText[at] != "" {
		if strings.Contains(string(got.body), "card_number_in_text") {
			t.Errorf("%s %s, %s: got %s, want another response", method, path, at, got.body)
		}
		return
	}
	wantRefusal(t, got, invalid("card_number_in_text", param))
	if !strings.HasSuffix(at, "*") {
		return
	}
	got = b.do(t, method, path, textBody(t, at, textPlanted, "x"))
	wantRefusal(t, got, invalid("card_number_in_text", strings.TrimSuffix(at, ".*")))
	if strings.Contains(string(got.body), textPlanted) {
		t.Errorf("%s %s, %s: the response shows the number: %s", method, path, at, got.body)
	}
}

// TestCardNumbersInTexts is made from the contracts: a card number is refused in each text of each
// body, the operators' too, and no row is written. A new member is tested without a change here.
func TestCardNumbersInTexts(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, token: token})
	key := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", `{"kind":"secret"}`), 201).ID
	customer := b.mustCustomer(t)
	method := b.MustAttach(t, customer, visa).ID
	address := b.MustShipTo(t, customer, "{}").ID
	ids := func(id string) *strings.Replacer {
		return strings.NewReplacer("{id}", id, "{key}", key, "{payment_method}", method, "{shipping_address}", address)
	}
	txn := b.MustCreate(t, 100, "").ID
	event := MustDecode[v1.EventList](t, b.get(t, "/v1/events"), 200).Data[0].ID
	for prefix, id := range map[string]string{
		"/v1/transactions": txn, "/v1/customers": customer, "/v1/webhook_endpoints": b.mustEndpoint(t),
		"/v1/api_keys": key, "/v1/events": event, "/v1/refunds": "", "/v1/tokens": "", "/v1/idempotency_keys": "", "/v1/test_helpers": "",
	} {
		if tried := b.wantTextsRefused(t, only(t, v1.OpenAPI(), prefix), ids(id)); tried == 0 && prefix != "/v1/test_helpers" {
			t.Errorf("%s: no text was tried", prefix)
		}
	}
	p := openPort(t, b)
	for prefix, id := range map[string]string{
		merchants: b.merchant, stepsOf: txn, exceptionsOf: "cap_0000000000001", operator.Root + "/operators": "",
		operator.Root + "/events": "",
	} {
		if tried := p.wantTextsRefused(t, only(t, operator.OpenAPI(), prefix), ids(id)); tried == 0 {
			t.Errorf("%s: no text was tried", prefix)
		}
	}
}

// only returns a contract with the paths that begin so.
func only(t *testing.T, contract []byte, prefix string) []byte {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(contract)
	if err != nil {
		t.Fatal(err)
	}
	for path := range doc.Paths.Map() {
		if !strings.HasPrefix(path, prefix) {
			doc.Paths.Delete(path)
		}
	}
	b, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOwnNumberInText: the request's own number is refused in any form, in every text of the body,
// and the same text passes with another card.
func TestOwnNumberInText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid := func(number, members string) response {
		return b.post(t, "/v1/transactions",
			`{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"`+number+`","exp_month":4,"exp_year":2031}`+members+`}`)
	}
	for members, param := range map[string]string{
		`,"reference":"x4242424242424242y"`:                    "reference",
		`,"description":"42424242 - 42424242"`:                 "description",
		`,"metadata":{"k":"ref/4242-4242-4242-4242"}`:          "metadata.k",
		`,"metadata":{"x4242424242424242":"k"}`:                "metadata",
		`,"billing":{"email":"a4242424242424242@example.com"}`: "billing.email",
	} {
		wantRefusal(t, paid("4242424242424242", members), invalid("card_number_in_text", param))
	}
	for _, members := range []string{`,"reference":"x4242424242424242y"`, `,"description":"42424242 - 42424242"`} {
		MustDecode[v1.Transaction](t, paid("5555555555554444", members), http.StatusCreated)
	}
	wantRefusal(t, b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card","card":`+
		`{"number":"378282246310005","exp_month":4,"exp_year":2031},"initiator":{"type":"merchant","reason":"unscheduled",`+
		`"previous_network_transaction_id":"378282246310005"}}`), invalid("card_number_in_text", "initiator.previous_network_transaction_id"))
}

// TestTextsThatPass: what looks like a card number only at first sight is stored as it came.
func TestTextsThatPass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"550e8400-e29b-41d4-a716-446655440000", "0192f4b2-7c1a-7def-8123-4567890abcde", "01JCZ5T9B3W6Q8N4M2K7R0XYVE", "4111111111111112",
		"2026112200001237", "+4917612345673", "4917612345673", "3769000000000000002", b.MustCreate(t, 7, "").ID,
	} {
		got := b.MustCreate(t, 100, `,"reference":"`+text+`","metadata":{"`+text+`":"`+text+`"}`)
		if got.Reference == nil || *got.Reference != text || got.Metadata[text] != text {
			t.Errorf("%s: got reference %v, metadata %v", text, got.Reference, got.Metadata)
		}
	}
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card","card":`+
		`{"number":"4242424242424242","exp_month":4,"exp_year":2031},"initiator":{"type":"merchant","reason":"unscheduled",`+
		`"previous_network_transaction_id":"378282246310005"}}`), http.StatusCreated)
}

// TestCommandsRejectCardNumbers: texts on the command line are checked too, and the errors do not
// show them.
func TestCommandsRejectCardNumbers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, err := admin.Open(t.Context(), b.config())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }() // nothing was written
	before := b.rows(t)
	text := "shop " + textPlanted
	_, merchant := a.CreateMerchant(t.Context(), text)
	_, key := a.CreateKey(t.Context(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret", Name: text})
	_, token := a.CreateOperator(t.Context(), text, auth.RoleAuditor, time.Time{})
	_, step := a.ResolveStep(t.Context(), "txn_0000000000001", operator.StepResolve{Outcome: "approved", Reason: text})
	for what, err := range map[string]error{
		"merchant": merchant, "key": key, "operator": token,
		"update": a.UpdateMerchant(t.Context(), b.merchant, operator.MerchantUpdate{Name: &text}),
		"step":   step,
	} {
		if err == nil || !strings.Contains(err.Error(), "contains a card number") || strings.Contains(err.Error(), textPlanted) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if got := b.rows(t); got != before {
		t.Errorf("rows: got %s, want %s", got, before)
	}
}

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

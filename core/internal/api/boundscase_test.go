package api_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// beyond are the codes of values that are within their bounds and still wrong: they name an absent
// object, or come too late.
var beyond = []string{
	"not_found", "unknown_payment_method", "unknown_customer", "invalid_client_secret", "expired_card", "amount_exceeds_capturable",
	"amount_exceeds_refundable", "version_conflict",
}

// samples are objects that contain fields, by the path of the object or list.
var samples = map[string]any{
	"card":                map[string]any{"number": "4242424242424242", "exp_month": 12, "exp_year": 2030},
	"network_token":       map[string]any{"number": "4242424242424242", "exp_month": 12, "exp_year": 2030},
	"bank_account":        map[string]any{"account_number": "000123456789", "routing_number": "011000015", "account_type": "checking", "holder": "A Payer"},
	"prior_authorization": map[string]any{"code": "A1"},
	"three_d_secure":      map[string]any{"eci": "05"},
	"initiator":           map[string]any{"type": "merchant", "reason": "recurring"},
	"order.line_items":    map[string]any{"name": "Mug", "quantity": "1", "unit_price": "5.00"},
	"scopes":              "transactions:read",
	"allowed_addresses":   "203.0.113.0/24",
	"allowed_origins":     "https://shop.example",
	"enabled_events":      "transaction.captured",
}

// bodies give, by operation, the id in the path and a valid body for a probe.
var bodies = map[string]func(t *testing.T, b *bundle, p probe) (string, map[string]any){
	"createTransaction": func(_ *testing.T, _ *bundle, p probe) (string, map[string]any) {
		return "", payingWith(p, map[string]any{"amount": 100, "currency": "usd"})
	},
	"confirmTransaction": func(t *testing.T, b *bundle, p probe) (string, map[string]any) {
		t.Helper()
		more, body := `,"confirm":false`, map[string]any{}
		amount, named := int64(100), p.at == "amount" || p.at == "currency"
		if n, ok := p.value.(int64); ok && p.at == "amount" && p.allowed { // of the transaction, too
			amount = n
		}
		if amount == 0 {
			more += manual
		}
		made := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(amount, more)), 201)
		body = payingWith(p, body)
		delete(body, "capture")
		if named {
			body["amount"], body["currency"] = amount, "usd"
		}
		return made.ID, body
	},
	"voidTransaction": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		return b.MustCreate(t, 100, manual).ID, map[string]any{}
	},
	"createCapture": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		return b.MustCreate(t, 100, manual).ID, map[string]any{}
	},
	"createRefund": func(t *testing.T, b *bundle, p probe) (string, map[string]any) {
		t.Helper()
		switch kind, _, _ := strings.Cut(p.at, "."); kind {
		case "currency", "payment_method", "card", "bank_account": // of an unlinked refund
			b.MustAllow(t, true)
			return "", payingWith(p, map[string]any{"amount": 100, "currency": "usd"})
		}
		return "", map[string]any{"transaction": b.MustCreate(t, 100, "").ID}
	},
	"createToken": func(_ *testing.T, _ *bundle, p probe) (string, map[string]any) {
		kind, _, _ := strings.Cut(p.at, ".")
		if samples[kind] == nil {
			kind = "card"
		}
		if p.at == kind {
			return "", map[string]any{}
		}
		return "", map[string]any{kind: cardOf(kind, p)}
	},
	"updateTransaction": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		return b.MustPrepare(t, manual).id, map[string]any{}
	},
	"createCustomer": nothing,
	"updateCustomer": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		return b.mustCustomer(t), map[string]any{}
	},
	"attachPaymentMethod": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		token := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`), 201)
		return b.mustCustomer(t), map[string]any{"token": token.Value.Reveal()}
	},
	"updatePaymentMethod": func(t *testing.T, b *bundle, p probe) (string, map[string]any) {
		t.Helper()
		customer, body := b.mustCustomer(t), map[string]any{}
		if strings.HasPrefix(p.at, "card.") {
			body["card"] = map[string]any{"exp_month": 12, "exp_year": 2030}
		}
		return customer + "/payment_methods/" + b.MustAttach(t, customer, visa).ID, body
	},
	"createShippingAddress": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		return b.mustCustomer(t), map[string]any{}
	},
	"updateShippingAddress": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		customer := b.mustCustomer(t)
		return customer + "/shipping_addresses/" + b.MustShipTo(t, customer, "{}").ID, map[string]any{}
	},
	"createAPIKey": func(*testing.T, *bundle, probe) (string, map[string]any) {
		return "", map[string]any{"kind": "secret"}
	},
	"rollAPIKey": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		return MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", `{"kind":"secret"}`), 201).ID, map[string]any{}
	},
	"reserveIdempotencyKey": func(_ *testing.T, _ *bundle, _ probe) (string, map[string]any) {
		return "", map[string]any{"purpose": "a nonce"}
	},
	"redeliverEvent": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		b.MustCreate(t, 100, "")
		return MustDecode[v1.EventList](t, b.get(t, "/v1/events?limit=1"), 200).Data[0].ID, map[string]any{}
	},
	"createWebhookEndpoint": func(_ *testing.T, _ *bundle, _ probe) (string, map[string]any) {
		return "", map[string]any{"url": "https://hooks.example.com/", "enabled_events": []any{"*"}}
	},
	"updateWebhookEndpoint": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		id := b.mustEndpoint(t)
		b.do(t, http.MethodDelete, "/v1/webhook_endpoints/"+id, "") // it has the metadata of earlier probes
		return b.mustEndpoint(t), map[string]any{}
	},
	"rollWebhookSecret": func(t *testing.T, b *bundle, _ probe) (string, map[string]any) {
		t.Helper()
		return b.mustEndpoint(t), map[string]any{}
	},
	"advanceTestClock": func(_ *testing.T, _ *bundle, _ probe) (string, map[string]any) {
		return "", map[string]any{"seconds": 1}
	},
}

func nothing(*testing.T, *bundle, probe) (string, map[string]any) { return "", map[string]any{} }

// payingWith adds the members that a probe of a payment needs, such as the kind of its payment
// method.
func payingWith(p probe, body map[string]any) map[string]any {
	body["payment_method"] = "pm_card_visa"
	kind, _, _ := strings.Cut(p.at, ".")
	switch kind {
	case "card", "network_token", "bank_account":
		body["payment_method"] = kind
		if p.at != kind {
			body[kind] = cardOf(kind, p)
		}
	case "card_cvc":
		if code, _ := p.value.(string); len(code) == 4 {
			body["payment_method"] = "pm_card_amex"
		}
	case "amount":
		body["capture"] = "manual" // 0 is allowed there
	case "initiator":
		if p.value == "customer" {
			body["initiator"] = map[string]any{"type": "customer"}
		}
	}
	return body
}

// cardOf returns the sample card for a probe of a field: only one brand has security codes of four
// digits.
func cardOf(kind string, p probe) map[string]any {
	out := copyOf(samples[kind])
	if code, _ := p.value.(string); strings.HasSuffix(p.at, ".cvc") && len(code) == 4 {
		out["number"] = "378282246310005"
	}
	return out
}

func copyOf(v any) map[string]any {
	out := map[string]any{}
	for name, value := range v.(map[string]any) {
		out[name] = value
	}
	return out
}

func (b *bundle) mustCustomer(t *testing.T) string {
	t.Helper()
	return MustDecode[v1.Customer](t, b.post(t, "/v1/customers", `{}`), 201).ID
}

func (b *bundle) mustEndpoint(t *testing.T) string {
	t.Helper()
	for _, e := range MustDecode[v1.WebhookEndpointList](t, b.get(t, "/v1/webhook_endpoints"), 200).Data {
		return e.ID
	}
	made := b.post(t, "/v1/webhook_endpoints", `{"url":"https://hooks.example.com/","enabled_events":["*"]}`)
	return MustDecode[v1.WebhookEndpoint](t, made, 201).ID
}

// tidy deletes an endpoint that a probe made, because a merchant may have only 16.
func (b *bundle) tidy(t *testing.T, path string, a response) {
	t.Helper()
	if path != "/v1/webhook_endpoints" || a.status != http.StatusCreated {
		return
	}
	b.do(t, http.MethodDelete, path+"/"+MustDecode[v1.WebhookEndpoint](t, a, 201).ID, "")
}

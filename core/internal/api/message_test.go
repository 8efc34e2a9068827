package api_test

import (
	"slices"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestMessageOfAnEndedKey: the refusals of revoked and of unknown keys differ. Otherwise a
// developer would search for a typing mistake.
func TestMessageOfAnEndedKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k, revoked := b.createKey(t, `{"kind":"secret"}`)
	expiring, expired := b.createKey(t, `{"kind":"secret","expires_at":"`+birth.Add(60e9).Format("2006-01-02T15:04:05.000Z")+`"}`)
	MustDecode[v1.APIKey](t, b.do(t, "DELETE", "/v1/api_keys/"+k.ID, ""), 200)
	b.clock.Advance(60e9)
	for key, want := range map[string]string{
		revoked: "was revoked or has expired", expired: "was revoked or has expired",
		expired[:len(expired)-1] + "!": "missing or invalid", "": "missing or invalid",
	} {
		got := wantRefusal(t, b.get(t, "/v1/transactions", as(key)),
			refusal{401, v1.ErrorTypeAuthenticationError, "invalid_api_key", ""})
		if !strings.Contains(got.Message, want) {
			t.Errorf("%s: got %q, want %q in it", expiring.ID, got.Message, want)
		}
	}
}

// TestMessageOfAnEventType: the message repeats the wrong event type, unless it can be a secret.
func TestMessageOfAnEventType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for sent, want := range map[string]string{
		"transaction.capture": `"transaction.capture"`, "sk_test_secret": `"[redacted]"`,
	} {
		body := `{"url":"https://shop.example/hook","enabled_events":["refund.succeeded","` + sent + `"]}`
		for _, got := range []v1.Error{
			wantRefusal(t, b.post(t, "/v1/webhook_endpoints", body), invalid("invalid_value", "enabled_events")),
			wantRefusal(t, b.get(t, "/v1/events?type="+sent), invalid("invalid_value", "type")),
		} {
			if !strings.Contains(got.Message, want+" is not an event type") && !strings.Contains(got.Message, want+", is not an") {
				t.Errorf("%s: got %q", sent, got.Message)
			}
		}
	}
}

// TestMessageOfADecline: a decline has a text for the payer. It advises another card, and does not
// reveal more than the category that a publishable key gets.
func TestMessageOfADecline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	messages := map[string][]string{}
	for card, category := range map[string]string{
		"declined": "", "call_issuer": "", "lost": "", "stolen": "", "pickup": "", "expired": "", "incorrect_cvc": "",
		"suspected_fraud": "", "insufficient_funds": "balance", "limit_exceeded": "balance", "processing_error": "Try again",
	} {
		declined := b.post(t, "/v1/transactions", `{"amount":5,"currency":"usd","payment_method":"pm_card_`+card+`"}`)
		got := MustDecode[v1.ErrorBody](t, declined, 402).Error
		if !strings.Contains(got.Message, category) || !strings.Contains(got.Message, "se another") {
			t.Errorf("%s: got %q, want %q in it", card, got.Message, category)
		}
		if !slices.Contains(messages[category], got.Message) {
			messages[category] = append(messages[category], got.Message)
		}
	}
	for category, all := range messages {
		if len(all) != 1 {
			t.Errorf("%q: got the messages %q, want one", category, all)
		}
	}
}

// TestMessageOfAParameter: the message of a wrong time, of a repeated parameter and of a wrong
// entry of metadata names the form to send.
func TestMessageOfAParameter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for query, want := range map[string]string{
		"created_after=2026-11-21T09:30:00%2B0000": "2026-11-21T10:30:00+01:00. In a query string, write %2B instead of +.",
		"created_after=2026-11-21T09:30:00+01:00":  "write %2B instead of +.",
		"expand=customer&expand=token":             "expand=customer,token",
		"limit=1&limit=2":                          "The parameter was sent twice. Send it once.",
		"metadata=x":                               "metadata[key]=value",
		"metadata[a%00b]=x":                        "U+0000",
	} {
		name, _, _ := strings.Cut(strings.ReplaceAll(query, "[", "="), "=")
		got := wantRefusal(t, b.get(t, "/v1/transactions?"+query), invalid("invalid_value", name))
		if !strings.Contains(got.Message, want) {
			t.Errorf("%s: got %q, want %q in it", query, got.Message, want)
		}
	}
	for sent, want := range map[string]refusal{
		`"2099-01-01T00:00:00+0000"`: invalid("invalid_value", "expires_at"),
		`"2099-01-01"`:               invalid("invalid_value", "expires_at"),
		`2099`:                       invalid("invalid_type", "expires_at"),
	} {
		got := wantRefusal(t, b.post(t, "/v1/api_keys", `{"kind":"secret","expires_at":`+sent+`}`), want)
		if strings.Contains(got.Message, "RFC 3339 with a zone") != (want.code == "invalid_value") {
			t.Errorf("%s: got %q", sent, got.Message)
		}
	}
	wantRefusal(t, b.post(t, "/v1/customers", `{"metadata":{"a\u0000b":"x"}}`), invalid("invalid_value", "metadata"))
}

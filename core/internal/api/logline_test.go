package api_test

import (
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRequestLine checks that the log line of a request names its API key and the client address.
// It also names the object of the path and the object of the response. It never shows a token,
// which is a credential.
func TestRequestLine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keys := MustDecode[v1.APIKeyList](t, b.get(t, "/v1/api_keys"), 200)
	key := keys.Data[0].ID
	held := b.MustCreate(t, 1000, manual)
	capture := MustDecode[v1.Capture](t, b.capture(t, held.ID, `{"amount":400}`), 201)
	refund := MustDecode[v1.Refund](t, b.refund(t, held.ID, `,"amount":150`), 201)
	declined := MustDecode[v1.ErrorBody](t, b.post(t, "/v1/transactions", `{"amount":100,"currency":"usd","payment_method":"pm_card_declined"}`), 402)
	b.get(t, "/v1/transactions/"+held.ID)
	token := b.post(t, "/v1/tokens", `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`)
	secretID := MustDecode[v1.Token](t, token, 201).ID
	b.get(t, "/v1/transactions/"+secretID)
	who := `"client_address":"127.0.0.1"`
	from := `"api_key":"` + key + `"`
	for _, want := range [][]string{
		{`"route":"POST /v1/transactions"`, who, from, `"object":"` + held.ID + `"`},
		{`"route":"POST /v1/transactions/{id}/captures"`, who, from, `"addressed":"` + held.ID + `"`, `"object":"` + capture.ID + `"`},
		{`"route":"POST /v1/refunds"`, who, from, `"object":"` + refund.ID + `"`},
		{`"route":"POST /v1/transactions"`, `"status":402`, from, `"object":"` + declined.Error.Transaction.ID + `"`},
		{`"route":"GET /v1/transactions/{id}"`, from, `"addressed":"` + held.ID + `"`},
	} {
		found := false
		for line := range strings.Lines(b.logs.String()) {
			all := strings.Contains(line, `"msg":"request"`)
			for _, word := range want {
				all = all && strings.Contains(line, word)
			}
			found = found || all
		}
		if !found {
			t.Errorf("no line with %v", want)
		}
	}
	if strings.Contains(b.logs.String(), secretID) {
		t.Error("a token is in the log")
	}
}

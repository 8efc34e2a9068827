package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestPanicWithAStoredCard: a card that came out of the vault is as little to be seen as one that was typed.
func TestPanicWithAStoredCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const number, cvc = "4539578763621486", "735"
	status, got, _ := b.post(t, "/v1/tokens", `{"card":{"number":"`+number+`","exp_month":12,"exp_year":2030,"cvc":"`+cvc+`"}}`, "token")
	var token v1.Token
	if err := json.Unmarshal(got, &token); err != nil || status != 201 {
		t.Fatalf("got %d %s, %v", status, got, err)
	}
	b.Acquirer.Before = func(context.Context, coretest.Call) error {
		panic(fmt.Sprint("card ", number, " cvc ", cvc))
	}
	status, got, _ = b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"`+token.Value.Reveal()+`"}`, "k")
	if status != 500 {
		t.Errorf("got %d %s", status, got)
	}
	if !strings.Contains(b.Log.String(), `"msg":"panic"`) {
		t.Error("the panic was not logged")
	}
	b.Acquirer.Before = nil
	if open := b.Recover(t); open != 0 {
		t.Fatalf("%d stay open", open)
	}
	places := b.Files(t)
	places["the answer"], places["the log"] = got, []byte(b.Log.String())
	for place, text := range places {
		for _, s := range []string{number[4:13], `"` + cvc + `"`, "cvc " + cvc} {
			if strings.Contains(string(text), s) {
				t.Errorf("%s: found %q", place, s)
			}
		}
	}
}

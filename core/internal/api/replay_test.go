package api_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRefusalOfAUsedTokenStays: a payment is refused because another one has used its token, and
// then the other one returns the token. An equal payment that stalled before it claimed its
// idempotency key must not charge the card after that refusal.
func TestRefusalOfAUsedTokenStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status, got, _ := b.post(t, "/v1/tokens", `{"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030}}`, "token")
	var token v1.Token
	if err := json.Unmarshal(got, &token); err != nil || status != 201 {
		t.Fatalf("got %d %s, %v", status, got, err)
	}
	body := fmt.Sprintf(`{"amount":1,"currency":"usd","payment_method":%q}`, token.Value.Reveal())
	var refused []byte
	b.Acquirer.Before = func(context.Context, coretest.Call) error {
		b.Acquirer.Before = nil
		status, refused, _ = b.post(t, "/v1/transactions", body, "k") //nolint:contextcheck // a request of its own
		return acquirer.ErrUnavailable
	}
	if other, got, _ := b.post(t, "/v1/transactions", body, "other"); other != 503 || status != 400 {
		t.Fatalf("got %d %s and %d %s, want 503 and 400", other, got, status, refused)
	}
	status, got, header := b.post(t, "/v1/transactions", body, "k")
	if status != 400 || !bytes.Equal(got, refused) || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s, want %s again", status, got, refused)
	}
	if status, got, _ := b.post(t, "/v1/transactions", body, "new"); status != 201 {
		t.Errorf("the returned token: got %d %s, want 201", status, got)
	}
}

package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// attempts is how often a test sends one request. The probability that a map of two entries keeps
// its order that often is 1 in 2^39.
const attempts = 40

// wantSteady repeats a request with several faults, and checks that each refusal names the first
// fault.
func wantSteady(t *testing.T, send func() response, want refusal) {
	t.Helper()
	for range attempts {
		wantRefusal(t, send(), want)
		if t.Failed() {
			return
		}
	}
}

// TestRefusalNamesTheFirstFault: requests with the same Idempotency-Key and body get the same
// refusal, also if several fields are wrong.
func TestRefusalNamesTheFirstFault(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	merchant := merchants + "/" + b.merchant
	wantSteady(t, func() response {
		return p.do(t, "PATCH", merchant, `{"keep_customers_days":1,"keep_personal_data_days":2}`, keyed("periods"))
	}, refusal{400, v1.ErrorTypeInvalidRequestError, "invalid_value", "keep_personal_data_days"})

	long := strings.Repeat("x", 1000)
	metadata := paid("pm_card_visa", fmt.Sprintf(`,"metadata":{"b":%q,"a":%q}`, long, long))
	wantSteady(t, func() response { return b.post(t, "/v1/transactions", metadata, keyed("metadata")) },
		refusal{400, v1.ErrorTypeInvalidRequestError, "invalid_value", "metadata.a"})

	for query, want := range map[string]refusal{
		"b=1&a=1":                           {400, v1.ErrorTypeInvalidRequestError, "unknown_parameter", "a"},
		"starting_after=1&starting_after&b": {400, v1.ErrorTypeInvalidRequestError, "unknown_parameter", "b"},
		"currency=x&customer=x&status=x":    {400, v1.ErrorTypeInvalidRequestError, "invalid_value", "status"},
		"reference=%ff&customer=%ff":        {400, v1.ErrorTypeInvalidRequestError, "invalid_value", "customer"},
	} {
		wantSteady(t, func() response { return b.get(t, "/v1/transactions?"+query) }, want)
	}
}

// TestBadPeriodsAreNamedInOrder: of two periods that are too short, Open names the first.
func TestBadPeriodsAreNamedInOrder(t *testing.T) {
	t.Parallel()
	for range attempts {
		c, err := core.Open(t.Context(), core.Config{Data: t.TempDir(), KeepPersonal: time.Hour, KeepCustomers: time.Hour})
		if err == nil {
			t.Fatal(c.Close(), "opened")
		}
		if !strings.Contains(err.Error(), "personal data") {
			t.Fatalf("got %v, want the period of personal data", err)
		}
	}
}

package providerb_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/money"
)

// amountResponse holds the amounts of a payment's response.
type amountResponse struct {
	Status string `json:"status"`
	Order  struct {
		Amounts struct {
			Authorized string `json:"authorizedAmount"`
		} `json:"amountDetails"`
	} `json:"orderInformation"`
}

// TestAmounts pays random amounts in currencies with different exponents. The approved amount is
// the requested one, cut to the currency's decimals, and has exactly these.
func TestAmounts(t *testing.T) {
	t.Parallel()
	h := mustHandler(t, content{})
	random := rand.New(rand.NewPCG(5, 7))
	for _, code := range []string{"USD", "eur", "JPY", "krw", "KWD", "JOD", "BHD"} {
		currency, known := money.Lookup(strings.ToLower(code))
		if !known {
			t.Fatalf("no currency %s", code)
		}
		for range 200 {
			minor := random.Int64N(money.Max / 10)
			text := money.Format(minor, currency.Exponent)
			more := random.IntN(3)
			given := text
			if more > 0 {
				if !strings.Contains(given, ".") {
					given += "."
				}
				given += strings.Repeat(strconv.Itoa(random.IntN(10)), more)
			}
			if len(given) > 19 {
				continue
			}
			got := pay(t, h, given, code)
			if got.Order.Amounts.Authorized != text {
				t.Errorf("%s %s: got %q, want %q", given, code, got.Order.Amounts.Authorized, text)
			}
		}
	}
}

func pay(t *testing.T, h http.Handler, amount, currency string) amountResponse {
	t.Helper()
	body := `{"paymentInformation":{"card":{"number":"4111111111111111","expirationMonth":"12",` +
		`"expirationYear":"2031"}},` +
		`"orderInformation":{"amountDetails":{"totalAmount":"` + amount + `","currency":"` + currency + `"}}}`
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pts/v2/payments", bytes.NewReader([]byte(body)))
	r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
	h.ServeHTTP(w, r)
	var a amountResponse
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusCreated {
		t.Fatalf("%s %s: got %d %s, error %v", amount, currency, w.Code, w.Body, err)
	}
	return a
}

package providerb_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
)

// equalBody is the body of a capture, a reversal, a refund and a void.
const equalBody = `{"orderInformation":{"amountDetails":{"totalAmount":"1.00","currency":"USD"}},` +
	`"reversalInformation":{"amountDetails":{"totalAmount":"1.00","currency":"USD"}}}`

// capturePath is the path of the operation that an equal token authenticates at several ids.
const capturePath = "/pts/v2/payments/%d/captures"

// TestTokenAtSeveralIDs: the SDKs before 2026 sign equal bodies of one second with equal tokens. A
// capture of each payment has one effect, at any proxy.
func TestTokenAtSeveralIDs(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	token := s.token(t, equalBody, "")
	for i := range 6 {
		s.handler = s.replicas[i/2%2]
		s.take(t, tokened(t, fmt.Sprintf(capturePath, 5+i%2), equalBody, token))
		s.take(t, tokened(t, fmt.Sprintf(capturePath, 5+i%2)+"/?a=b", equalBody, token))
	}
	if got := s.distinct(); got != 2 {
		t.Errorf("got %d effects at two ids, want 2: %q", got, s.names)
	}
}

// TestTokenOfAnotherOperation: a token that covers no path authenticates one operation. No other
// one is executed at the same id, at another id, or without one. No operation shares the token of a
// refund, a payment or a credit.
func TestTokenOfAnotherOperation(t *testing.T) {
	t.Parallel()
	paths := []string{
		capturePath, "/pts/v2/payments/%d/reversals", "/pts/v2/payments/%d/voids", "/pts/v2/payments/%d/refunds",
		"/pts/v2/payments", "/pts/v2/credits", "/pts/v2/reversals", "/pts/v2/voids", "/pts/v2/refunds/%d/voids",
		"/pts/v2/nothing",
	}
	at := func(path string, number int) string {
		if i := len("/pts/v2/payments/%d"); len(path) > i {
			return fmt.Sprintf(path, number)
		}
		return path
	}
	for _, first := range paths {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			s := mustSigner(t)
			token := s.token(t, equalBody, "")
			s.handler.ServeHTTP(httptest.NewRecorder(), tokened(t, at(first, 5), equalBody, token))
			done := s.distinct()
			for _, second := range paths {
				for number := range 2 {
					if second == first {
						continue
					}
					w := httptest.NewRecorder()
					s.replicas[number].ServeHTTP(w, tokened(t, at(second, 5+number), equalBody, token))
					checkUsedToken(t, second, w)
				}
			}
			if got := s.distinct(); got != done {
				t.Errorf("another operation had an effect: %q", s.names)
			}
		})
	}
}

// TestTokenAtOneID: a token stays bound to one id, unless it is of a capture and has no nonce.
func TestTokenAtOneID(t *testing.T) {
	t.Parallel()
	for path, nonce := range map[string]string{
		"/pts/v2/payments/%d/refunds": "", "/pts/v2/captures/%d/refunds": "",
		"/pts/v2/payments/%d/reversals": "", "/pts/v2/payments/%d/voids": "", "/pts/v2/captures/%d/voids": "",
		capturePath: "n-1",
	} {
		s := mustSigner(t)
		token := s.token(t, equalBody, nonce)
		s.take(t, tokened(t, fmt.Sprintf(path, 5), equalBody, token))
		w := httptest.NewRecorder()
		s.replicas[1].ServeHTTP(w, tokened(t, fmt.Sprintf(path, 6), equalBody, token))
		checkUsedToken(t, path, w)
		s.take(t, tokened(t, fmt.Sprintf(path, 5), equalBody, token))
		if got := s.distinct(); got != 1 {
			t.Errorf("%s: got %d effects, want 1: %q", path, got, s.names)
		}
	}
}

// TestTokenAtSeveralIDsUnderAnotherHeader: the header that names a request is not signed. At each
// id, an equal token has one effect under the first header with which it came there.
func TestTokenAtSeveralIDsUnderAnotherHeader(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"v-c-idempotency-id", "Idempotency-Key"} {
		for _, firsts := range [][2]string{{"", "K-1"}, {"K-1", ""}, {"K-1", "K-2"}} {
			s := mustSigner(t)
			token := s.token(t, followBody, "")
			for number, first := range firsts {
				for i, value := range []string{first, fmt.Sprint("K-3", number), first, ""} {
					r := tokened(t, fmt.Sprintf("/pts/v2/payments/%d/captures", 5+number), followBody, token)
					if value != "" {
						r.Header.Set(header, value)
					}
					w := httptest.NewRecorder()
					s.replicas[i%2].ServeHTTP(w, r)
					if created := w.Code == http.StatusCreated; created != (value == first) {
						t.Errorf("%s %q at %d after %q: got %d %s", header, value, 5+number, first, w.Code, w.Body)
					}
				}
			}
			if got := s.distinct(); got != 2 {
				t.Errorf("%s of %q: got %d effects, want 2: %q", header, firsts, got, s.names)
			}
		}
	}
}

// TestTokenOfAPortfolioAtSeveralIDs: a portfolio's token that does not sign the merchant is for one
// of its merchants.
func TestTokenOfAPortfolioAtSeveralIDs(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	token := s.tokenOf(t, followBody, "", map[jose.HeaderKey]any{"kid": "meta"})
	for _, merchant := range []string{"shop", "other", "shop"} {
		for number := range 2 {
			r := tokened(t, fmt.Sprintf("/pts/v2/payments/%d/captures", 5+number), followBody, token)
			r.Header.Set("V-C-Merchant-Id", merchant)
			w := httptest.NewRecorder()
			s.replicas[number].ServeHTTP(w, r)
			if merchant == "other" {
				checkUsedToken(t, merchant, w)
			} else if w.Code != http.StatusCreated {
				t.Errorf("%s at %d: got %d %s", merchant, 5+number, w.Code, w.Body)
			}
		}
	}
	if got := s.distinct(); got != 2 {
		t.Errorf("got %d effects, want 2: %q", got, s.names)
	}
}

// TestTokenOfRPC: the body of an RPC request has the id, so its token covers one id. The token of a
// batch is for all its calls.
func TestTokenOfRPC(t *testing.T) {
	t.Parallel()
	const params = `{"id":"5","orderInformation":{"amountDetails":{"totalAmount":"1.00","currency":"USD"}}}`
	s := mustSigner(t)
	call := func(name string, position int, body, token string) {
		result, err := s.handler.Call(t.Context(), name, jsontext.Value(params), rpc.Origin{
			Method: http.MethodPost, Host: "apitest.cybersource.com", Target: "/compat", Body: []byte(body),
			Header: http.Header{"Authorization": {token}}, Position: position,
		})
		if err != nil || strings.Contains(string(result), "INVALID") {
			t.Errorf("%s: got %s, error %v", name, result, err)
		}
	}
	body := `{"method":"provider_b.capturePayment","params":` + params + `}`
	token := s.token(t, body, "")
	call(catalogue.CapturePayment, 0, body, token)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, tokened(t, fmt.Sprintf(capturePath, 6), body, token))
	checkUsedToken(t, "the body at another path", w)
	batch := "[" + body + "]"
	token = s.token(t, batch, "")
	call(catalogue.CapturePayment, 1, batch, token)
	call(catalogue.RefundPayment, 2, batch, token)
	if got := s.distinct(); got != 3 {
		t.Errorf("got %d effects, want 3: %q", got, s.names)
	}
}

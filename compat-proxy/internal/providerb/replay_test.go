package providerb_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// take sends a request, which must succeed.
func (s *signer) take(t *testing.T, r *http.Request) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		t.Fatalf("%s: got %d %s", r.URL.Path, w.Code, w.Body)
	}
}

// token returns an Authorization value for the body, with only the required members.
func (s *signer) token(t *testing.T, body, nonce string) string {
	t.Helper()
	return s.tokenOf(t, body, nonce, nil)
}

// tokenOf returns an Authorization value for the body whose token has further members in its
// header. With the kid of the portfolio's key, the portfolio is the issuer.
func (s *signer) tokenOf(t *testing.T, body, nonce string, header map[jose.HeaderKey]any) string {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	issuer := "shop"
	if header["kid"] == "meta" {
		issuer = "group"
	}
	claims := map[string]any{
		"digest": base64.StdEncoding.EncodeToString(sum[:]), "iat": goldentest.Today.Unix(),
		"exp": goldentest.Today.Unix() + 120, "iss": issuer,
	}
	if nonce != "" {
		claims["jti"] = nonce
	}
	payload, err := json.Marshal(claims, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	options := (&jose.SignerOptions{}).WithHeader("kid", "key")
	for name, value := range header {
		options.WithHeader(name, value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: s.secret}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + compact
}

// tokened returns a request with that token.
func tokened(t *testing.T, path, body, authorization string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Host = "apitest.cybersource.com"
	r.Header.Set("Authorization", authorization)
	return r
}

// logins returns the logins with evidence, each with a request.
func (s *signer) logins() map[string]func(*testing.T) *http.Request {
	return map[string]func(*testing.T) *http.Request{
		"signature": func(t *testing.T) *http.Request { t.Helper(); return s.request(t.Context(), signedBody) },
		"nonce": func(t *testing.T) *http.Request {
			t.Helper()
			return tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, "n-1"))
		},
		"token without a nonce": func(t *testing.T) *http.Request {
			t.Helper()
			return tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, ""))
		},
	}
}

// TestRecordedRequest: a recorded request is sent again, immediately and later, at this proxy and
// at another one. It has one effect, for any number of repeats and any response.
func TestRecordedRequest(t *testing.T) {
	t.Parallel()
	for name := range (*signer)(nil).logins() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustSigner(t)
			request := s.logins()[name]
			for i := range 4 {
				s.handler = s.replicas[i%2]
				s.take(t, request(t))
				s.clock.Advance(61 * time.Second)
			}
			if got := s.distinct(); got != 1 {
				t.Errorf("got %d payments: %q", got, s.names)
			}
		})
	}
}

// TestRecordedRequestUnderAnotherHeader: the header that names a request is not signed. A request
// recorded under one header, or without one, is refused under every other one. That also holds at a
// proxy that never had the first one.
func TestRecordedRequestUnderAnotherHeader(t *testing.T) {
	t.Parallel()
	for name := range (*signer)(nil).logins() {
		for _, first := range []string{"", "K-1"} {
			for _, header := range []string{"v-c-idempotency-id", "Idempotency-Key"} {
				t.Run(name+" first under "+first+" in "+header, func(t *testing.T) {
					t.Parallel()
					recordedUnderAnotherHeader(t, name, header, first)
				})
			}
		}
	}
}

func recordedUnderAnotherHeader(t *testing.T, login, header, first string) {
	t.Helper()
	s := mustSigner(t)
	request := s.logins()[login]
	for i, value := range []string{first, "K-1", "K-2", "", "K-3"} {
		r := request(t)
		if value != "" {
			r.Header.Set(header, value)
		}
		w := httptest.NewRecorder()
		s.replicas[i%2].ServeHTTP(w, r)
		want := http.StatusBadRequest
		if value == first {
			want = http.StatusCreated
		}
		if w.Code != want {
			t.Errorf("under %q: got %d %s, want %d", value, w.Code, w.Body, want)
		}
	}
	if got := s.distinct(); got != 1 {
		t.Errorf("got %d payments: %q", got, s.names)
	}
}

// A client that retries signs again, under the same header: the retry is the same request.
func TestRetryUnderItsHeader(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"v-c-idempotency-id", "Idempotency-Key"} {
		s := mustSigner(t)
		for i, nonce := range []string{"n-1", "n-2", "n-1"} {
			r := tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, nonce))
			r.Header.Set(header, "K-1")
			s.handler = s.replicas[i%2]
			s.take(t, r)
		}
		if got := s.distinct(); got != 1 {
			t.Errorf("one %s, two tokens: got %d payments, want 1", header, got)
		}
	}
}

// TestRecordedRequestForAnotherMerchant: a portfolio's client signs the portfolio's id, so the
// merchant is not signed. A recorded request is not accepted for another merchant.
func TestRecordedRequestForAnotherMerchant(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]string{"by evidence": "", "by header": "K-1", "by transaction": "T-1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustSigner(t)
			body := signedBody
			if name == "by transaction" {
				body = strings.Replace(signedBody, `"code":"A"`, `"code":"A","transactionId":"T-1"`, 1)
			}
			for i, merchant := range []string{"shop", "other", "shop"} {
				r := s.signedAs(t.Context(), "meta", "group", "/pts/v2/payments", body)
				r.Header.Set("V-C-Merchant-Id", merchant)
				if name == "by header" {
					r.Header.Set("v-c-idempotency-id", named)
				}
				w := httptest.NewRecorder()
				s.replicas[i%2].ServeHTTP(w, r)
				if want := map[string]int{"shop": http.StatusCreated, "other": http.StatusBadRequest}[merchant]; w.Code != want {
					t.Errorf("for %s: got %d %s, want %d", merchant, w.Code, w.Body, want)
				}
			}
			if got := s.distinct(); got != 1 {
				t.Errorf("got %d payments: %q", got, s.names)
			}
		})
	}
}

// TestRecordedRefusal: a request is recorded that was refused, and would now be accepted. It has at
// most one effect, and none if v1 stored the refusal.
func TestRecordedRefusal(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	requests := []*http.Request{
		s.request(t.Context(), signedBody), tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, "")),
		tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, "n-1")),
	}
	send := func(r *http.Request) { s.handler.ServeHTTP(httptest.NewRecorder(), r) }
	again := func(r *http.Request) *http.Request {
		r = r.Clone(t.Context())
		r.Body = io.NopCloser(strings.NewReader(signedBody))
		return r
	}
	s.refuses = true
	for _, r := range requests {
		send(again(r))
	}
	s.refuses = false
	s.clock.Advance(126 * time.Second)
	for _, r := range requests {
		for range 4 {
			send(again(r))
		}
	}
	if got := s.distinct(); got != len(requests) {
		t.Errorf("got %d payments of %d requests: %q", got, len(requests), s.names)
	}
	if slices.Contains(s.finals, false) {
		t.Errorf("a refusal leaves the name of a login free: %v", s.finals)
	}
	s.finals = nil
	r := again(requests[0])
	r.Header.Set("v-c-idempotency-id", "K-1")
	fresh := mustSigner(t)
	fresh.take(t, r)
	if !slices.Equal(fresh.finals, []bool{false}) {
		t.Errorf("a refusal uses up the name that a client chose: %v", fresh.finals)
	}
}

const followBody = `{"orderInformation":{"amountDetails":{"totalAmount":"1.00","currency":"USD"}}}`

// A recorded request of any kind has one effect, for any number of repeats.
func TestRecordedRequestOfEachKind(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/pts/v2/payments": signedBody, "/pts/v2/payments/5/captures": followBody, "/pts/v2/payments/5/refunds": followBody,
		"/pts/v2/captures/5/refunds": followBody, "/pts/v2/credits": signedBody,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			bySignature, byToken := mustSigner(t), mustSigner(t)
			token := byToken.token(t, body, "")
			for range 3 { // within the lifetime of the token
				bySignature.take(t, bySignature.requestTo(t.Context(), path, body))
				byToken.take(t, tokened(t, path, body, token))
				bySignature.clock.Advance(121 * time.Second)
				byToken.clock.Advance(121 * time.Second)
				bySignature.take(t, bySignature.requestTo(t.Context(), path, body))
				byToken.take(t, tokened(t, path, body, token))
			}
			if a, b := bySignature.distinct(), byToken.distinct(); a != 1 || b != 1 {
				t.Errorf("got %d and %d effects, want 1 and 1: %q, %q", a, b, bySignature.names, byToken.names)
			}
		})
	}
}

// TestTokenAtAnotherPath: a token without a nonce covers no path. Another spelling of the path, or
// the other path of the same operation, is the same request. The same operation on another payment
// is refused.
func TestTokenAtAnotherPath(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	for _, path := range []string{
		"/pts/v2/payments/5/refunds", "/pts/v2/payments/5/refunds/", "/pts/v2/payments/5/refunds?a=b",
		"/pts/v2/payments/%35/refunds", "/pts/v2/captures/5/refunds",
	} {
		s.take(t, tokened(t, path, followBody, s.token(t, followBody, "")))
	}
	for _, path := range []string{
		"/pts/v2/payments/6/refunds", "/pts/v2/payments/5/captures", "/pts/v2/payments/5/voids",
		"/pts/v2/nothing",
	} {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, tokened(t, path, followBody, s.token(t, followBody, "")))
		checkUsedToken(t, path, w)
	}
	if got := s.distinct(); got != 1 {
		t.Errorf("got %d refunds, want 1: %q", got, s.names)
	}
}

// checkUsedToken checks that a refusal names its cause: the token was used for another operation.
func checkUsedToken(t *testing.T, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != http.StatusBadRequest {
		t.Errorf("%s: got %d, want 400", path, w.Code)
	}
	for _, want := range []string{
		`"status":"INVALID_REQUEST","reason":"INVALID_DATA"`,
		`"message":"Declined - One or more fields in the request contains invalid data: ` +
			`the signed token was used for another operation. `,
		`"details":[{"field":"Authorization","reason":"INVALID_DATA"}]`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %s, want %s in it", path, w.Body, want)
		}
	}
}

// TestTokenAfterAnInvalidKey: a request that is refused because of its Idempotency-Key uses up a
// token without a nonce. The token authenticates no other operation.
func TestTokenAfterAnInvalidKey(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	refused := tokened(t, "/pts/v2/payments/5/refunds", followBody, s.token(t, followBody, ""))
	refused.Header["Idempotency-Key"] = []string{"a", "b"}
	for _, r := range []*http.Request{
		refused, tokened(t, "/pts/v2/payments/5/captures", followBody, s.token(t, followBody, "")),
	} {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "INVALID_DATA") {
			t.Errorf("%s: got %d %s, want INVALID_DATA", r.URL.Path, w.Code, w.Body)
		}
	}
	if got := s.distinct(); got != 0 {
		t.Errorf("got %d effects, want none: %q", got, s.names)
	}
}

// TestNamesWithoutSecurityCodes: names do not depend on a security code, and contain no digest of a
// body with one. Every other part of the body still distinguishes requests.
func TestNamesWithoutSecurityCodes(t *testing.T) {
	t.Parallel()
	for _, member := range []string{`"securityCode":"123"`, `"SECURITY_CODE":"123"`, `"securit\u0079Code":123`} {
		body := strings.Replace(signedBody, `"expirationMonth"`, member+`,"expirationMonth"`, 1)
		another := strings.Replace(body, "123", "321", 1)
		for name, login := range map[string]func(s *signer, body string) *http.Request{
			"signature": func(s *signer, body string) *http.Request { return s.request(t.Context(), body) },
			"token": func(s *signer, body string) *http.Request {
				return tokened(t, "/pts/v2/payments", body, s.token(t, body, ""))
			},
		} {
			s := mustSigner(t)
			for _, sent := range []string{body, another, signedBody} {
				s.take(t, login(s, sent))
			}
			if got := s.distinct(); got != 1 {
				t.Errorf("%s with %s: got %d names, want 1: %q", name, member, got, s.names)
			}
			for _, sent := range []string{body, another} {
				sum := sha256.Sum256([]byte(sent))
				digest := base64.StdEncoding.EncodeToString(sum[:])
				if strings.Contains(strings.Join(s.names, "\n"), digest) {
					t.Errorf("%s with %s: a name has the digest of the body", name, member)
				}
			}
			s.take(t, login(s, strings.Replace(body, `"12"`, `"11"`, 1)))
			if got := s.distinct(); got != 2 {
				t.Errorf("%s with %s: got %d names with another month, want 2", name, member, got)
			}
		}
	}
}

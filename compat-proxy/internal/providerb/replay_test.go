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

// take sends a request; the answer must be that something was done.
func (s *signer) take(t *testing.T, r *http.Request) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		t.Fatalf("%s: got %d %s", r.URL.Path, w.Code, w.Body)
	}
}

// token is what Authorization has for the body, with no more than a client must say.
func (s *signer) token(t *testing.T, body, nonce string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	claims := map[string]any{"digest": base64.StdEncoding.EncodeToString(sum[:]), "iat": goldentest.Today.Unix(), "exp": goldentest.Today.Unix() + 120, "iss": "shop"}
	if nonce != "" {
		claims["jti"] = nonce
	}
	payload, err := json.Marshal(claims, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: s.secret}, (&jose.SignerOptions{}).WithHeader("kid", "key"))
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

// tokened is a request with that token.
func tokened(t *testing.T, path, body, authorization string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Host = "apitest.cybersource.com"
	r.Header.Set("Authorization", authorization)
	return r
}

// Nobody signs the header that names a request, so it names the login's first request only, and every later one of that login.
func TestRecordedRequestUnderAnotherHeader(t *testing.T) {
	t.Parallel()
	logins := map[string]func(*testing.T, *signer) *http.Request{
		"signature": func(t *testing.T, s *signer) *http.Request { t.Helper(); return s.request(t.Context(), signedBody) },
		"token": func(t *testing.T, s *signer) *http.Request {
			t.Helper()
			return tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, "n-1"))
		},
	}
	for name, request := range logins {
		for _, first := range []string{"", "K-1"} {
			t.Run(name+" first under "+first, func(t *testing.T) {
				t.Parallel()
				s := mustSigner(t)
				for _, header := range []string{first, "K-1", "K-2", "", "K-3"} {
					r := request(t, s)
					if header != "" {
						r.Header.Set("v-c-idempotency-id", header)
					}
					s.take(t, r)
					s.clock.Advance(61 * time.Second) // beyond the count of a signature's answers
				}
				if got := s.distinct(); first != "" && got != 1 || name == "token" && got != 1 || got > 2 {
					t.Errorf("got %d payments: %q", got, s.names)
				}
			})
		}
	}
	s := mustSigner(t)
	for _, nonce := range []string{"n-1", "n-2"} { // an application's own repetition signs anew
		r := tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, nonce))
		r.Header.Set("v-c-idempotency-id", "K-1")
		s.take(t, r)
	}
	if got := s.distinct(); got != 1 {
		t.Errorf("one header, two tokens: got %d payments, want 1", got)
	}
}

// Equal signatures may be requests in earnest for two minutes: that long a header names each as its client meant it.
func TestEqualSignaturesUnderHeaders(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	for _, header := range []string{"", "K-1", "K-2", "K-1"} {
		r := s.request(t.Context(), signedBody)
		if header != "" {
			r.Header.Set("v-c-idempotency-id", header)
		}
		s.take(t, r)
	}
	if got := s.distinct(); got != 3 {
		t.Errorf("got %d payments, want 3: %q", got, s.names)
	}
}

// What was recorded when it was refused has one effect at most when it would no longer be, and none if v1 remembers the refusal.
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

// What was recorded and is sent when the two minutes are over has one effect for good, however often and whatever it is.
func TestRecordedRequestAfterItsTime(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/pts/v2/payments": signedBody, "/pts/v2/payments/5/captures": followBody, "/pts/v2/payments/5/refunds": followBody,
		"/pts/v2/captures/5/refunds": followBody, "/pts/v2/credits": signedBody,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			bySignature, byToken := mustSigner(t), mustSigner(t)
			token := byToken.token(t, body, "")
			for range 3 { // as long as the token lives
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

// A token without a nonce covers no path: another way to write the same one, or the other path of the same operation, is no other request.
// The same operation on another payment is.
func TestTokenAtAnotherPath(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	for _, path := range []string{
		"/pts/v2/payments/5/refunds", "/pts/v2/payments/5/refunds/", "/pts/v2/payments/5/refunds?a=b", "/pts/v2/payments/%35/refunds",
		"/pts/v2/captures/5/refunds",
	} {
		s.handler.ServeHTTP(deaf{http.Header{}}, tokened(t, path, followBody, s.token(t, followBody, "")))
	}
	if got := s.distinct(); got != 1 {
		t.Errorf("got %d refunds, want 1: %q", got, s.names)
	}
	s.take(t, tokened(t, "/pts/v2/payments/6/refunds", followBody, s.token(t, followBody, "")))
	if got := s.distinct(); got != 2 {
		t.Errorf("of two payments: got %d refunds, want 2: %q", got, s.names)
	}
}

package providerb_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// reversalOfT9 reverses or voids by a transactionId.
const reversalOfT9 = `{"clientReferenceInformation":{"transactionId":"T-9"},` +
	`"reversalInformation":{"amountDetails":{"totalAmount":"1.00"}}}`

// forbidden is a request that is refused for a missing scope.
type forbidden struct{ path, body, lacks string }

// forbiddens returns one request for each operation with an effect and each scope that it needs.
func forbiddens() []forbidden {
	reversalBody := `{"reversalInformation":{"amountDetails":{"totalAmount":"1.00"}}}`
	storing := `{"processingInformation":{"actionList":["TOKEN_CREATE"]},` + strings.TrimPrefix(signedBody, "{")
	var all []forbidden
	for path, request := range map[string]forbidden{
		"payments":             {lacks: "payments:authorize", body: signedBody},
		"payments/5/captures":  {lacks: "payments:capture", body: followBody},
		"payments/5/reversals": {lacks: "payments:authorize", body: reversalBody},
		"payments/5/refunds":   {lacks: "refunds:create", body: followBody},
		"captures/5/refunds":   {lacks: "refunds:create", body: followBody},
		"payments/5/voids":     {lacks: "payments:authorize", body: followBody},
		"captures/5/voids":     {lacks: "payments:authorize", body: followBody},
		"credits":              {lacks: "refunds:create", body: signedBody},
		"reversals":            {lacks: "payments:authorize", body: reversalOfT9},
		"voids":                {lacks: "payments:authorize", body: reversalOfT9},
	} {
		request.path = "/pts/v2/" + path
		all = append(all, request, forbidden{request.path, request.body, "compat:use"})
	}
	return append(all, forbidden{"/pts/v2/payments", storing, "customers:write"})
}

// TestForbiddenRequestIsFinal: a request was refused for a missing scope. It has no effect after
// the API key got the scope, at any proxy and by any login, with a client's name or without.
func TestForbiddenRequestIsFinal(t *testing.T) {
	t.Parallel()
	for _, f := range forbiddens() {
		for _, by := range []string{"signature", "nonce", "token"} {
			for _, named := range []bool{false, true} {
				t.Run(fmt.Sprint(f.path, " without ", f.lacks, " by ", by, named), func(t *testing.T) {
					t.Parallel()
					s := mustSigner(t)
					request := func() *http.Request { return s.requestBy(t, by, f, named) }
					s.lacks = f.lacks
					s.refused(t, 0, request(), http.StatusForbidden)
					s.lacks = ""
					for i := range 2 {
						s.refused(t, i, request(), http.StatusBadRequest)
						// The header is not signed, so an attacker can remove or add it.
						s.refused(t, i, s.requestBy(t, by, f, !named), http.StatusBadRequest)
					}
					if got := s.distinct(); got != 0 {
						t.Errorf("got %d effects, want none: %q", got, s.names)
					}
				})
			}
		}
	}
}

// A credit that the login may not make has no effect after the login may.
func TestForbiddenCreditIsFinal(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"signature", "nonce", "token"} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprint(by, named), func(t *testing.T) {
				t.Parallel()
				s := mustSigner(t)
				s.replicas = append(s.replicas, s.proxy(t, false))
				request := func() *http.Request {
					return s.requestBy(t, by, forbidden{path: "/pts/v2/credits", body: signedBody}, named)
				}
				if got := s.refused(t, 2, request(), http.StatusBadRequest); !strings.Contains(got, "ACCOUNT_NOT_ALLOWED_CREDIT") {
					t.Errorf("got %s, want ACCOUNT_NOT_ALLOWED_CREDIT", got)
				}
				if got := s.refused(t, 0, request(), http.StatusBadRequest); !strings.Contains(got, "INVALID_DATA") {
					t.Errorf("got %s, want INVALID_DATA", got)
				}
				if got := s.distinct(); got != 0 {
					t.Errorf("got %d credits, want none: %q", got, s.names)
				}
			})
		}
	}
}

// A refusal that v1 did not store is not final: the client gets an error and may send the same
// bytes again.
func TestForbiddenRequestDuringAnOutage(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"signature", "nonce", "token"} {
		s := mustSigner(t)
		s.lacks, s.down = "payments:authorize", true
		f := forbidden{path: "/pts/v2/payments", body: signedBody}
		s.refused(t, 0, s.requestBy(t, by, f, false), http.StatusBadGateway)
		s.lacks, s.down = "", false
		s.take(t, s.requestBy(t, by, f, false))
	}
}

// A void and a reversal under one transactionId are different requests.
func TestVoidAndReversalUnderOneName(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	for _, path := range []string{"/pts/v2/payments/5/reversals", "/pts/v2/payments/5/voids", "/pts/v2/captures/5/voids"} {
		s.handler.ServeHTTP(httptest.NewRecorder(), s.requestTo(t.Context(), path, reversalOfT9))
	}
	if got := s.distinct(); got != 2 {
		t.Errorf("got %d effects, want 2: %q", got, s.names)
	}
}

// After a refusal, a retry that is signed again is executed, even under its client's name.
func TestForbiddenRequestSignedAnew(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"", "K-1"} {
		s := mustSigner(t)
		for i, lacks := range []string{"payments:authorize", ""} {
			s.lacks = lacks
			r := tokened(t, "/pts/v2/payments", signedBody, s.token(t, signedBody, fmt.Sprint("n-", i)))
			r.Header.Set("v-c-idempotency-id", header)
			if lacks == "" {
				s.take(t, r)
			} else {
				s.refused(t, 0, r, http.StatusForbidden)
			}
		}
		if got := s.distinct(); got != 1 {
			t.Errorf("under %q: got %d payments, want 1", header, got)
		}
	}
}

// requestBy returns the request with that login. If named is set, it has an idempotency header.
func (s *signer) requestBy(t *testing.T, by string, f forbidden, named bool) *http.Request {
	t.Helper()
	var r *http.Request
	switch by {
	case "signature":
		r = s.requestTo(t.Context(), f.path, f.body)
	case "nonce":
		r = tokened(t, f.path, f.body, s.token(t, f.body, "n-1"))
	default:
		r = tokened(t, f.path, f.body, s.token(t, f.body, ""))
	}
	if named {
		r.Header.Set("v-c-idempotency-id", "K-1")
	}
	return r
}

// refused sends a request to that replica and returns the response's body. It checks the status.
func (s *signer) refused(t *testing.T, replica int, r *http.Request, status int) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.replicas[replica].ServeHTTP(w, r)
	if w.Code != status {
		t.Errorf("%s: got %d %s, want %d", r.URL.Path, w.Code, w.Body, status)
	}
	return w.Body.String()
}

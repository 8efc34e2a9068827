package providerb_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// spellings returns the Authorization value with every possible last character of its token's
// header. The value itself comes first.
func spellings(authorization string) []string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	header, rest, _ := strings.Cut(authorization, ".")
	all := []string{authorization}
	for _, c := range alphabet {
		all = append(all, header[:len(header)-1]+string(c)+"."+rest)
	}
	return all
}

// TestRecordedTokenInOtherSpellings: a recorded token without a nonce has one effect under every
// last character of its header, for any length of it. That holds under other idempotency headers,
// and at other payments.
func TestRecordedTokenInOtherSpellings(t *testing.T) {
	t.Parallel()
	for remainder, kind := range []string{"JWT", "J", "JW"} {
		for path, body := range map[string]string{"/pts/v2/payments": signedBody, "/pts/v2/payments/%d/refunds": followBody} {
			for _, named := range []bool{false, true} {
				t.Run(fmt.Sprint(remainder, path, named), func(t *testing.T) {
					t.Parallel()
					s := mustSigner(t)
					token := s.tokenOf(t, body, "", map[jose.HeaderKey]any{"typ": kind})
					requireRemainder(t, token, remainder)
					for i, spelling := range spellings(token) {
						at := path
						if strings.Contains(path, "%d") {
							at = fmt.Sprintf(path, 5+i)
						}
						r := tokened(t, at, body, spelling)
						if named {
							r.Header.Set("v-c-idempotency-id", fmt.Sprint("K-", i))
						}
						w := httptest.NewRecorder()
						s.replicas[i%2].ServeHTTP(w, r)
						if created := w.Code == http.StatusCreated; created != (i == 0) && spelling != token {
							t.Errorf("spelling %d: got %d %s", i, w.Code, w.Body)
						}
					}
					if got := s.distinct(); got != 1 {
						t.Errorf("got %d effects, want 1: %q", got, s.names)
					}
				})
			}
		}
	}
}

// requireRemainder checks the length of the token's header modulo 3, on which the number of its
// spellings depends.
func requireRemainder(t *testing.T, authorization string, remainder int) {
	t.Helper()
	header, _, _ := strings.Cut(strings.TrimPrefix(authorization, "Bearer "), ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil || len(text)%3 != remainder {
		t.Fatalf("header %s of %d bytes: want %d modulo 3", text, len(text), remainder)
	}
}

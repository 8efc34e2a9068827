package jwe_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

// TestHints checks that the hint names the fault of a header that go-jose rejects, and repeats none
// of it.
func TestHints(t *testing.T) {
	t.Parallel()
	const alg, key, enc = `"alg":"ECDH-ES+A256KW"`, `"epk":{"kty":"EC","crv":"P-256","x":"` + zeros + `","y":"` + zeros +
		`"}`, `"enc":"A256GCM"`
	for name, c := range map[string]struct {
		header string
		reason jwe.Reason
		hint   string
	}{
		"a member twice":             {`{` + alg + `,` + enc + `,` + alg + `}`, jwe.ReasonHeader, "repeated"},
		"a member of a member twice": {`{` + alg + `,` + enc + `,"foo":{"a":1,"a":2}}`, jwe.ReasonHeader, "repeated"},
		"one deep inside twice": {
			`{` + alg + `,` + enc + `,"foo":[{"b":[{"a":1,"a":2}]}]}`, jwe.ReasonHeader,
			"repeated",
		},
		"crv twice": {`{` + alg + `,` + enc + `,` + strings.Replace(key, `"x"`, `"crv":"P-256","x"`, 1) +
			`}`, jwe.ReasonHeader, "repeated"},
		"a number out of range":  {`{` + alg + `,` + enc + `,"foo":1e999}`, jwe.ReasonHeader, "number"},
		"another alg":            {`{"alg":"dir",` + enc + `}`, jwe.ReasonAlg, "algorithms"},
		"another alg, and more":  {`{"alg":"dir",` + enc + `,"foo":{"a":1,"a":2}}`, jwe.ReasonHeader, "repeated"},
		"a kid that is a number": {`{` + alg + `,` + enc + `,"kid":5}`, jwe.ReasonKID, "kid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			segment := func(n int) string { return base64.RawURLEncoding.EncodeToString(make([]byte, n)) }
			token := strings.Join([]string{
				base64.RawURLEncoding.EncodeToString([]byte(c.header)), segment(40), segment(12),
				segment(2), segment(16),
			}, ".")
			_, err := jwe.Parse([]byte(token), limits)
			var got *jwe.Error
			if !errors.As(err, &got) || got.Reason != c.reason || !strings.Contains(got.Hint, c.hint) {
				t.Errorf("got %v, want %s and %q in it", err, c.reason, c.hint)
			}
		})
	}
}

const zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

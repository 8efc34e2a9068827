package idempotency_test

import (
	"regexp"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/idempotency"
)

var nameForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// TestName: each key has a name that does not show it. Equal keys have equal names, and a key that
// came with a publishable API key has another one.
func TestName(t *testing.T) {
	t.Parallel()
	keyOf := map[string]string{}
	for _, pepper := range []string{"pepper", "salt"} {
		for _, key := range []string{
			"a", "order-1042", "8e03978e-40d5-43e8-bc93-6894a57f9324", "4111111111111111", "4111111111111111-1",
			"4111 1111-1111 1111",
			"7-4111111111111111", "4111111111111112", "\x01a", "\x02a", "POST\x00/\x00{}\x00",
		} {
			for _, publishable := range []bool{false, true} {
				name := idempotency.Name([]byte(pepper), key, publishable)
				if !nameForm.MatchString(name) {
					t.Errorf("%q: got %q, want 32 hexadecimal digits", key, name)
				}
				if again := idempotency.Name([]byte(pepper), key, publishable); again != name {
					t.Errorf("%q: got %q, then %q", key, name, again)
				}
				if other, taken := keyOf[name]; taken {
					t.Errorf("%q and %q have the name %s", key, other, name)
				}
				keyOf[name] = key
			}
		}
	}
}

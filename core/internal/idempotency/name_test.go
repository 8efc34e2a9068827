package idempotency_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/idempotency"
)

func TestName(t *testing.T) {
	t.Parallel()
	secret := []byte("pepper")
	for key, shown := range map[string]bool{
		"order-1042":                           true,
		"8e03978e-40d5-43e8-bc93-6894a57f9324": true,
		"4111111111111112":                     true, // of no card
		"41111111111":                          true,
		"4111111111111111":                     false,
		"pay 4111 1111-1111 1111 now":          false,
		"x5424000000000015":                    false,
		"5424000000000015x4":                   false,
		"12345678901234567890":                 false, // may have one in it
		"370000000000002":                      false,
	} {
		name := idempotency.Name(secret, key, false)
		if got := name == key; got != shown {
			t.Errorf("%s: kept as it is: got %t, want %t", key, got, shown)
		}
		if !shown && strings.Contains(name, key) {
			t.Errorf("%s: got %q", key, name)
		}
		if again := idempotency.Name(secret, key, false); again != name {
			t.Errorf("%s: got %q, then %q", key, name, again)
		}
		if public := idempotency.Name(secret, key, true); public == name || !strings.HasSuffix(public, name) {
			t.Errorf("%s with a publishable key: got %q beside %q", key, public, name)
		}
	}
	if a, b := idempotency.Name(secret, "4111111111111111", false), idempotency.Name([]byte("salt"), "4111111111111111", false); a == b {
		t.Error("the name does not depend on the secret")
	}
}

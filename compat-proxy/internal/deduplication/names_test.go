package deduplication_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestFingerprintIsNoCardNumber: v1 rejects a reservation with a card number in its purpose. The
// digits of this secret's fingerprint alone would be one.
func TestFingerprintIsNoCardNumber(t *testing.T) {
	t.Parallel()
	const digits = "2671908434409601"
	fingerprint := deduplication.SecretFingerprint(secret.New("00000000000000000000000000060704"))
	if !strings.HasSuffix(fingerprint, digits) {
		t.Fatalf("got %s, want one that ends in %s", fingerprint, digits)
	}
	if _, found := v1.CardNumberInText([]byte(`{"purpose":"` + fingerprint + `"}`)); found {
		t.Errorf("v1 rejects %s as a purpose", fingerprint)
	}
}

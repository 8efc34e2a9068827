package providerb_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
)

// TestHeader compares signatures with the vectors of the wire contract.
func TestHeader(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/example-a.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := base64.StdEncoding.DecodeString("ZXhhbXBsZS1zaGFyZWQtc2VjcmV0LTMyLWJ5dGVzISE=")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2025, 12, 1, 5, 4, 23, 0, time.UTC)
	const details = "/tss/v2/transactions/7345678901236789404951"
	for _, c := range []struct {
		auth, method, path string
		body               []byte
		field, part        string
	}{
		{
			providerb.AuthSignature, "POST", "/pts/v2/payments", body,
			"Signature", `keyid="11112222-3333-4444-5555-666677778888", algorithm="HmacSHA256", ` +
				`headers="host date request-target digest v-c-merchant-id", ` +
				`signature="g9jXpp4OWBbzx/JlkF2HCBG1U1AfogTKyHabJvhJXb8="`,
		},
		{
			providerb.AuthSignature, "POST", "/pts/v2/payments", body,
			"Digest", "SHA-256=EevpJgi+qLh7EYdgH2o8JGPovZLOW6pu7Qi81jO6mY4=",
		},
		{providerb.AuthSignature, "GET", details, nil, "Signature", `"/zeAKWzLkvr0elewTNWmXMeQCiC1xx2NQErdE85wO5c="`},
		{
			providerb.AuthJWT, "POST", "/pts/v2/payments", body,
			"Authorization", ".bl5p6Z1EnzIL5DPGX_bMhnzlT2ObFfhNBDSUdaLcmUg",
		},
	} {
		got := providerb.Header(c.auth, c.method, c.path, c.body, key, now).Get(c.field)
		if !strings.HasSuffix(got, c.part) {
			t.Errorf("%s %s: got %s %q, want %q", c.method, c.path, c.field, got, c.part)
		}
	}
}

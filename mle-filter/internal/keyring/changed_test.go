package keyring_test

import (
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestKeyOfAnotherProgram: clients see no key whose public half another program has put into the
// store, with or without its id.
func TestKeyOfAnotherProgram(t *testing.T) {
	t.Parallel()
	thief := newMerchantKey(t)
	text, err := thief.jwk.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"jwk = %s", "jwk = %s, kid = '" + thief.jwk.KeyID + "'"} {
		source := storetest.Engines()[0].Source(t)
		f := open(t, source, clock.NewFake(birth))
		if _, err := f.Current(t.Context(), shop, ec); err != nil {
			t.Fatal(err)
		}
		MustExec(t, source, "UPDATE mle_keys SET "+fmt.Sprintf(change, "CAST('"+string(text)+"' AS BLOB)"))
		again := open(t, source, f.clock)
		if p, err := again.Current(t.Context(), shop, ec); err == nil {
			t.Errorf("%s: got the current key %s", change, p.Current.Kid)
		}
		if keys, err := again.Keys(t.Context(), shop); err == nil {
			t.Errorf("%s: got the keys %v", change, keys)
		}
	}
}

// TestResponseKeyOfAnotherProgram: no response is encrypted to a key that another program has put
// into the store. It is a row that looks proven, or another key in a proven row. A merchant's proof
// does not activate it either.
func TestResponseKeyOfAnotherProgram(t *testing.T) {
	t.Parallel()
	thief := newMerchantKey(t)
	text, err := thief.jwk.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	blob := "CAST('" + string(text) + "' AS BLOB)"
	for _, change := range []string{
		"UPDATE mle_response_keys SET jwk = " + blob,
		"UPDATE mle_response_keys SET jwk = " + blob + ", kid = '" + thief.jwk.KeyID + "'",
		"UPDATE mle_response_keys SET tenant = '" + other + "'",
		"INSERT INTO mle_response_keys (tenant, kid, alg, jwk, created_at, proven_at, proven_revision, revision) " +
			"VALUES ('" + shop + "', '" + thief.jwk.KeyID + "', 'ECDH-ES+A256KW', " + blob + ", 1, 1, 99, 1)",
	} {
		source := storetest.Engines()[0].Source(t)
		f, own := open(t, source, clock.NewFake(birth)), newMerchantKey(t)
		if err := f.prove(t, own, f.register(t, own)); err != nil {
			t.Fatal(err)
		}
		f.wantResponseKey(t, shop, "", own.jwk.KeyID)
		MustExec(t, source, change)
		again := open(t, source, f.clock)
		for _, tenant := range []string{shop, other} {
			got, err := again.ResponseKey(t.Context(), tenant, "")
			if err == nil && (got.KeyID != own.jwk.KeyID || tenant == other) {
				t.Errorf("%s: got the key %s of %s", change, got.KeyID, tenant)
			}
		}
	}
	source := storetest.Engines()[0].Source(t)
	f, own := open(t, source, clock.NewFake(birth)), newMerchantKey(t)
	plaintext := f.register(t, own)
	MustExec(t, source, "UPDATE mle_response_keys SET jwk = "+blob)
	if err := f.prove(t, own, plaintext); err == nil {
		t.Error("a merchant's proof made another key active")
	}
}

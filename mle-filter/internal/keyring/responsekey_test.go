package keyring_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
)

// merchantKey is a key pair of a merchant.
type merchantKey struct {
	private *ecdsa.PrivateKey
	jwk     jose.JSONWebKey
}

func newMerchantKey(t *testing.T) merchantKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	jwk := jose.JSONWebKey{Key: private.Public(), Algorithm: string(ec), Use: "enc"}
	if jwk.KeyID, err = keyring.Thumbprint(jwk); err != nil {
		t.Fatal(err)
	}
	return merchantKey{private, jwk}
}

// register registers a key and returns the plaintext of its challenge.
func (f filter) register(t *testing.T, k merchantKey) string {
	t.Helper()
	var shown keyring.ResponseKey
	_, err := f.Register(
		t.Context(), shop, k.jwk, keyring.Once{},
		func(r keyring.ResponseKey) keyring.Response { shown = r; return keyring.Response{} },
	)
	if err != nil {
		t.Fatal(err)
	}
	return decrypted(t, shown.Challenge, k.private)
}

func (f filter) prove(t *testing.T, k merchantKey, plaintext string) error {
	t.Helper()
	_, err := f.Prove(
		t.Context(), shop, k.jwk.KeyID, plaintext, keyring.Once{},
		func(keyring.ResponseKey) keyring.Response { return keyring.Response{} },
	)
	return err
}

// wantResponseKey checks the key that responses are encrypted to; "" for none.
func (f filter) wantResponseKey(t *testing.T, tenant, kid, want string) {
	t.Helper()
	got, err := f.ResponseKey(t.Context(), tenant, kid)
	if got.KeyID != want || (want == "") != errors.Is(err, engine.ErrNoKey) || want != "" && err != nil {
		t.Errorf("response key %q: got %q, %v, want %q", kid, got.KeyID, err, want)
	}
}

// TestResponseShared checks that another filter immediately uses a proven key, and no longer uses a
// deleted one.
func TestResponseShared(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			a, b := two(t, e.Source(t))
			b.wantResponseKey(t, shop, "", "") // the filter remembers that the tenant has none
			one, two := newMerchantKey(t), newMerchantKey(t)
			plaintext := a.register(t, one)
			b.wantResponseKey(t, shop, "", "")
			b.wantResponseKey(t, shop, one.jwk.KeyID, "")
			if err := b.prove(t, one, plaintext); err != nil {
				t.Fatal(err)
			}
			for _, f := range []filter{a, b} {
				f.wantResponseKey(t, shop, "", one.jwk.KeyID)
				f.wantResponseKey(t, shop, one.jwk.KeyID, one.jwk.KeyID)
				f.wantResponseKey(t, other, one.jwk.KeyID, "")
				f.wantResponseKey(t, other, "", "")
			}
			if err := b.prove(t, two, b.register(t, two)); err != nil {
				t.Fatal(err)
			}
			a.wantResponseKey(t, shop, two.jwk.KeyID, two.jwk.KeyID)
			a.wantResponseKey(t, shop, "", two.jwk.KeyID)
			if err := a.DeleteResponseKey(t.Context(), shop, two.jwk.KeyID); err != nil {
				t.Fatal(err)
			}
			for _, f := range []filter{a, b} {
				f.wantResponseKey(t, shop, "", one.jwk.KeyID)
				f.wantResponseKey(t, shop, two.jwk.KeyID, "")
			}
			if err := a.DeleteResponseKey(t.Context(), shop, two.jwk.KeyID); !errors.Is(err, engine.ErrNoKey) {
				t.Errorf("again: got %v", err)
			}
		})
	}
}

// TestProveTogether checks that only one of several concurrent proofs makes the key active.
func TestProveTogether(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			a, b := two(t, e.Source(t))
			k := newMerchantKey(t)
			plaintext := a.register(t, k)
			var wg sync.WaitGroup
			var done atomic.Int32
			for i := range 6 {
				f := []filter{a, b}[i%2]
				wg.Go(func() {
					switch err := f.prove(t, k, plaintext); {
					case err == nil:
						done.Add(1)
					case !errors.Is(err, keyring.ErrKeyExists):
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got := done.Load(); got != 1 {
				t.Errorf("got %d, want 1", got)
			}
		})
	}
}

package keyring_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var birth = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const (
	shop  = "mer_01jd8m3k2q4r5/live"
	other = "mer_01jd8m3k2q4r6/live"
	ec    = engine.ECDHESA256KW
	rsa   = engine.RSAOAEP256
	day   = 24 * time.Hour
)

// filter is one of the filters on a store.
type filter struct {
	*keyring.Keyring
	db    *keystore.DB
	clock *clock.Fake
}

func kek(fill byte) []byte { return bytes.Repeat([]byte{fill}, keyring.KEKSize) }

// open starts a filter on a store.
func open(tb testing.TB, source string, c *clock.Fake, change ...func(*keyring.Config)) filter {
	tb.Helper()
	db, err := keystore.Open(tb.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open, Clock: c})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	cfg := keyring.Config{Store: db, KEK: kek(1), Clock: c, RSABits: 2048, Spares: 1}
	for _, f := range change {
		f(&cfg)
	}
	r, err := keyring.Open(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return filter{r, db, c}
}

// two starts two filters that share a store and a clock.
func two(t *testing.T, source string) (a, b filter) {
	t.Helper()
	c := clock.NewFake(birth)
	return open(t, source, c), open(t, source, c)
}

func (f filter) current(tb testing.TB, alg engine.Alg) keyring.Pair {
	tb.Helper()
	p, err := f.Current(tb.Context(), shop, alg)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func (f filter) must(t *testing.T, do func(context.Context) error) {
	t.Helper()
	if err := do(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// rotate rotates and returns the result.
func (f filter) rotate(t *testing.T, in keyring.Rotate) keyring.Rotated {
	t.Helper()
	var out keyring.Rotated
	if _, err := f.Rotate(
		t.Context(), in, func(r keyring.Rotated) keyring.Response { out = r; return keyring.Response{} },
	); err != nil {
		t.Fatal(err)
	}
	return out
}

// works returns nil if a message encrypted to the key can be read, or else the error.
func (f filter) works(t *testing.T, tenant string, k keyring.Key) error {
	t.Helper()
	private, alg, err := f.Private(t.Context(), tenant, k.Kid)
	if err != nil {
		return err
	}
	if alg != k.Alg {
		t.Errorf("alg: got %s, want %s", alg, k.Alg)
	}
	if got := decrypted(t, MustEncrypt(t, k.JWK, "secret"), private); got != "secret" {
		t.Errorf("got %q, want the plaintext", got)
	}
	return nil
}

func MustEncrypt(tb testing.TB, jwk jose.JSONWebKey, text string) string {
	tb.Helper()
	e, err := jose.NewEncrypter(
		jose.A256GCM, jose.Recipient{Algorithm: jose.KeyAlgorithm(jwk.Algorithm), Key: jwk.Key, KeyID: jwk.KeyID}, nil,
	)
	if err != nil {
		tb.Fatal(err)
	}
	obj, err := e.Encrypt([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := obj.CompactSerialize()
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func decrypted(tb testing.TB, jwe string, private any) string {
	tb.Helper()
	obj, err := jose.ParseEncryptedCompact(
		jwe, []jose.KeyAlgorithm{jose.RSA_OAEP_256, jose.ECDH_ES_A256KW}, []jose.ContentEncryption{jose.A256GCM},
	)
	if err != nil {
		tb.Fatal(err)
	}
	if agrees, ok := private.(*ecdh.PrivateKey); ok { // go-jose does not support it
		if private, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), agrees.Bytes()); err != nil {
			tb.Fatal(err)
		}
	}
	text, err := obj.Decrypt(private)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

package jwe_test

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestEncryptAndDecrypt(t *testing.T) {
	t.Parallel()
	for name, key := range mustKeys(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"", "{}", strings.Repeat("x", 1000)} {
				message, err := jwe.Parse(mustEncrypt(t, key, text), limits)
				if err != nil {
					t.Fatal(err)
				}
				if err := message.Bind(key.private, key.alg); err != nil {
					t.Fatal(err)
				}
				got, err := message.Decrypt()
				if err != nil || string(got) != text {
					t.Errorf("got %q, %v, want %q", got, err, text)
				}
				if h := message.Header; h.KID != "k" || h.Alg != key.alg || h.IssuedAt == nil || *h.IssuedAt != noon.Unix() {
					t.Errorf("got %+v, want the encrypted header", h)
				}
			}
		})
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	keys := mustKeys(t)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x25519, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		encrypted string
		private   any
		alg       jwe.Alg
		explained bool // the fault is explained to the sender
	}{
		"another algorithm":             {"RSA", keys["P-256"].private, jwe.ECDHESA256KW, true},
		"another algorithm, elliptic":   {"P-256", keys["RSA"].private, jwe.RSAOAEP256, true},
		"an unknown algorithm":          {"RSA", keys["RSA"].private, "RSA1_5", true},
		"a larger key":                  {"RSA", keys["RSA-3072"].private, jwe.RSAOAEP256, true},
		"a key of another kind":         {"RSA", keys["P-256"].private, jwe.RSAOAEP256, false},
		"a key of another kind, agreed": {"RSA", keys["agreed"].private, jwe.RSAOAEP256, false},
		"an RSA key for ECDH":           {"P-256", keys["RSA"].private, jwe.ECDHESA256KW, false},
		"another curve":                 {"P-256", p384, jwe.ECDHESA256KW, false},
		"X25519":                        {"P-256", x25519, jwe.ECDHESA256KW, false},
		"bytes":                         {"P-256", []byte("key"), jwe.ECDHESA256KW, false},
	} {
		message, err := jwe.Parse(mustEncrypt(t, keys[c.encrypted], "{}"), limits)
		if err != nil {
			t.Fatal(err)
		}
		err = message.Bind(c.private, c.alg)
		var explained *jwe.Error
		if err == nil || errors.As(err, &explained) != c.explained {
			t.Errorf("%s: got %v, want an explained error: %v", name, err, c.explained)
		}
	}
}

// TestAnotherKey checks that a message to another key of the same type gets the common error.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	others := mustKeys(t)
	var texts []string
	for name, key := range mustKeys(t) {
		message, err := jwe.Parse(mustEncrypt(t, key, "{}"), limits)
		if err != nil {
			t.Fatal(err)
		}
		if err := message.Bind(others[name].private, key.alg); err != nil {
			t.Fatal(err)
		}
		_, err = message.Decrypt()
		var refusal *jwe.Error
		if !errors.As(err, &refusal) || refusal.Reason != jwe.ReasonDecrypt {
			t.Fatalf("%s: got %v, want that it cannot be decrypted", name, err)
		}
		texts = append(texts, refusal.Hint)
	}
	for _, text := range texts {
		if text != texts[0] {
			t.Errorf("got %q and %q, want one text", text, texts[0])
		}
	}
}

func TestNewRecipientRefuses(t *testing.T) {
	t.Parallel()
	keys := mustKeys(t)
	good := keys["P-256"].public
	signs, unnamed, private := good, good, good
	signs.Use, unnamed.Algorithm, private.Key = "sig", "", keys["P-256"].private
	symmetric := jose.JSONWebKey{Key: []byte("0123456789abcdef"), Algorithm: "A128KW"}
	for name, key := range map[string]jose.JSONWebKey{
		"signs": signs, "no algorithm": unnamed, "private": private,
		"symmetric": symmetric, "empty": {},
	} {
		if _, err := jwe.NewRecipient(key); err == nil {
			t.Errorf("%s: got a recipient", name)
		}
	}
}

type testKey struct {
	private any
	public  jose.JSONWebKey
	alg     jwe.Alg
}

func mustKeys(tb testing.TB) map[string]testKey {
	tb.Helper()
	out := map[string]testKey{}
	for name, bits := range map[string]int{"RSA": 2048, "RSA-3072": 3072} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = testKey{key, jose.JSONWebKey{
			Key: &key.PublicKey, KeyID: "k", Algorithm: string(jwe.RSAOAEP256),
			Use: "enc",
		}, jwe.RSAOAEP256}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	agreed, err := key.ECDH()
	if err != nil {
		tb.Fatal(err)
	}
	public := jose.JSONWebKey{Key: &key.PublicKey, KeyID: "k", Algorithm: string(jwe.ECDHESA256KW)}
	out["P-256"] = testKey{key, public, jwe.ECDHESA256KW}
	out["agreed"] = testKey{agreed, public, jwe.ECDHESA256KW}
	return out
}

func mustEncrypt(tb testing.TB, key testKey, text string) []byte {
	tb.Helper()
	r, err := jwe.NewRecipient(key.public)
	if err != nil {
		tb.Fatal(err)
	}
	encrypted, err := r.Encrypt([]byte(text), "application/json", noon)
	if err != nil {
		tb.Fatal(err)
	}
	return encrypted
}

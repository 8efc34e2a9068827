package envelope_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/envelope"
)

// ring is what opens requests in these tests.
type ring map[string]*rsa.PrivateKey

func (r ring) ProviderBDecryptionKey(_ context.Context, kid string) (*rsa.PrivateKey, bool) {
	k, ok := r[kid]
	return k, ok
}

// key is made once for all tests.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

const plain = `{"clientReferenceInformation":{"code":"ORD-1001"}}`

// encrypted is plain, encrypted as a client does, with more in its header.
func encrypted(tb testing.TB, to any, alg jose.KeyAlgorithm, enc jose.ContentEncryption,
	more map[jose.HeaderKey]any,
) string {
	tb.Helper()
	options := &jose.EncrypterOptions{ExtraHeaders: more}
	if more["zip"] != nil {
		options = &jose.EncrypterOptions{Compression: jose.DEFLATE}
	}
	e, err := jose.NewEncrypter(enc, jose.Recipient{Algorithm: alg, Key: to, KeyID: "1700000000000999"}, options)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := e.Encrypt([]byte(plain))
	if err != nil {
		tb.Fatal(err)
	}
	compact, err := out.CompactSerialize()
	if err != nil {
		tb.Fatal(err)
	}
	return compact
}

func TestDecrypt(t *testing.T) {
	t.Parallel()
	keys := ring{"1700000000000999": key()}
	for _, alg := range []jose.KeyAlgorithm{jose.RSA_OAEP_256, jose.RSA_OAEP} {
		for _, enc := range []jose.ContentEncryption{jose.A256GCM, jose.A128GCM} {
			compact := encrypted(t, key().Public(), alg, enc, map[jose.HeaderKey]any{"iat": 1764565463, "cty": "JWT"})
			got, err := envelope.Decrypt(t.Context(), keys, compact)
			if err != nil || string(got) != plain {
				t.Errorf("%s, %s: got %q and %v, want %q", alg, enc, got, err, plain)
			}
		}
	}
}

func TestDecryptRefuses(t *testing.T) {
	t.Parallel()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := encrypted(t, key().Public(), jose.RSA_OAEP_256, jose.A256GCM, nil)
	parts := strings.Split(good, ".")
	change := func(i int, text string) string {
		p := append([]string(nil), parts...)
		p[i] = text
		return strings.Join(p, ".")
	}
	for name, compact := range map[string]string{
		"another key":   encrypted(t, other.Public(), jose.RSA_OAEP_256, jose.A256GCM, nil),
		"RSA 1.5":       encrypted(t, key().Public(), jose.RSA1_5, jose.A256GCM, nil),
		"CBC":           encrypted(t, key().Public(), jose.RSA_OAEP_256, jose.A256CBC_HS512, nil),
		"direct":        encrypted(t, []byte("0123456789abcdef0123456789abcdef"), jose.DIRECT, jose.A256GCM, nil),
		"compressed":    encrypted(t, key().Public(), jose.RSA_OAEP_256, jose.A256GCM, map[jose.HeaderKey]any{"zip": "DEF"}),
		"nothing":       "",
		"a word":        "word",
		"a header only": parts[0],
		"a part less":   strings.Join(parts[:4], "."),
		"no header":     change(0, ""),
		"unknown kid": change(0,
			base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RSA-OAEP-256","enc":"A256GCM","kid":"x"}`))),
		"header changed": change(0,
			base64.RawURLEncoding.EncodeToString(
				[]byte(`{"alg":"RSA-OAEP-256","enc":"A256GCM","kid":"1700000000000999","a":1}`))),
		"key cut":    change(1, parts[1][:40]),
		"other text": change(3, parts[3][:len(parts[3])-2]),
		"other tag":  change(4, strings.Repeat("A", len(parts[4]))),
	} {
		got, err := envelope.Decrypt(t.Context(), ring{"1700000000000999": key()}, compact)
		if !errors.Is(err, envelope.ErrDecrypt) || got != nil {
			t.Errorf("%s: got %q and %v, want %v", name, got, err, envelope.ErrDecrypt)
		}
		if err != nil && err.Error() != envelope.ErrDecrypt.Error() {
			t.Errorf("%s: %v contains the reason", name, err)
		}
	}
}

// TestWrongContentKey checks that a content key that cannot be decrypted, or has a wrong length,
// is replaced by a random one. The message then fails at its tag, like a message with a wrong tag.
func TestWrongContentKey(t *testing.T) {
	t.Parallel()
	short, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &key().PublicKey, make([]byte, 24), nil)
	if err != nil {
		t.Fatal(err)
	}
	for enc, size := range map[jose.ContentEncryption]int{jose.A256GCM: 32, jose.A128GCM: 16} {
		for name, encrypted := range map[string][]byte{
			"no padding": make([]byte, key().Size()), "cut": short[1:], "another length": short, "empty": nil,
		} {
			for _, alg := range []jose.KeyAlgorithm{jose.RSA_OAEP_256, jose.RSA_OAEP} {
				seen := map[string]bool{}
				for range 2 {
					got, err := envelope.ContentKey(key(), enc).DecryptKey(encrypted, jose.Header{Algorithm: string(alg)})
					if err != nil || len(got) != size {
						t.Errorf("%s, %s, %s: got %d bytes and %v, want %d", enc, alg, name, len(got), err, size)
					}
					seen[string(got)] = true
				}
				if len(seen) != 2 {
					t.Errorf("%s, %s, %s: got the same key twice", enc, alg, name)
				}
			}
		}
	}
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"encryptedRequest":"a.b.c.d.e"}`:            "a.b.c.d.e",
		" { \"encryptedRequest\" : \"a.b.c.d.e\" }\n": "a.b.c.d.e",
		`{"encryptedRequest":""}`:                     "",
	} {
		if got, ok := envelope.Wrapped([]byte(body)); !ok || got != want {
			t.Errorf("%s: got %q, %v, want %q", body, got, ok, want)
		}
	}
	for _, body := range []string{
		"", "{}", plain, `{"encryptedRequest":null}`, `{"encryptedRequest":1}`, `{"encryptedRequest":"a","code":"b"}`,
		`["encryptedRequest"]`, `{"encryptedRequest":"a"`, `{"encryptedRequest":"a","encryptedRequest":"b"}`,
		`{"comment":"encryptedRequest"}`,
	} {
		if got, ok := envelope.Wrapped([]byte(body)); ok {
			t.Errorf("%s: got %q, want that it is not an encrypted request", body, got)
		}
	}
}

func TestEncrypt(t *testing.T) {
	t.Parallel()
	body, err := envelope.Encrypt([]byte(plain), "1700000000000456", &key().PublicKey, time.Unix(1764565463, 0))
	if err != nil {
		t.Fatal(err)
	}
	var w map[string]string
	if err := json.Unmarshal(body, &w); err != nil || len(w) != 1 {
		t.Fatalf("%v; members = %d, want 1, in %s", err, len(w), body)
	}
	first, _, _ := strings.Cut(w["encryptedResponse"], ".")
	header, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"alg":"RSA-OAEP-256"`, `"enc":"A256GCM"`, `"kid":"1700000000000456"`,
		`"iat":1764565463`,
	} {
		if !strings.Contains(string(header), want) {
			t.Errorf("header = %s, want %s in it", header, want)
		}
	}
	got, err := envelope.Decrypt(t.Context(), ring{"1700000000000456": key()}, w["encryptedResponse"])
	if err != nil || string(got) != plain {
		t.Errorf("got %q and %v, want %q", got, err, plain)
	}
}

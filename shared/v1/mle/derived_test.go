package mle_test

import (
	"crypto"
	"crypto/aes"
	"crypto/ecdsa"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	josecipher "github.com/go-jose/go-jose/v4/cipher"

	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// keeper decrypts the content key of a request, and keeps it.
type keeper struct {
	private    any
	contentKey []byte
}

func (k *keeper) DecryptKey(encrypted []byte, header jose.Header) (key []byte, err error) {
	switch private := k.private.(type) {
	case *rsa.PrivateKey:
		key, err = rsa.DecryptOAEP(sha256.New(), nil, private, encrypted, nil)
	case *ecdsa.PrivateKey:
		var epk jose.JSONWebKey
		text, err := json.Marshal(header.ExtraHeaders["epk"])
		if err := errors.Join(err, epk.UnmarshalJSON(text)); err != nil {
			return nil, err
		}
		kek := josecipher.DeriveECDHES(mle.ECDHESA256KW, nil, nil, private, epk.Key.(*ecdsa.PublicKey), 32)
		block, err := aes.NewCipher(kek)
		if err != nil {
			return nil, err
		}
		key, err = josecipher.KeyUnwrap(block, encrypted)
		if err != nil {
			return nil, err
		}
	}
	k.contentKey = key
	return key, err
}

// derivation is the encryption of a response under a derived key. Tests change its members.
type derivation struct {
	kid, request string
	salt         any
	alg          jose.KeyAlgorithm
}

// respond encrypts the response to a request.
func respond(t *testing.T, service jose.JSONWebKey, sent, text string, change func(*derivation)) string {
	t.Helper()
	object, err := jose.ParseEncryptedCompact(sent, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW, jose.RSA_OAEP_256},
		[]jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatal(err)
	}
	kept := &keeper{private: service.Key}
	if body, err := object.Decrypt(kept); err != nil || string(body) != sale {
		t.Fatalf("got %q, %v", body, err)
	}
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // it never fails
	d := derivation{
		kid: service.KeyID, request: sent, salt: base64.RawURLEncoding.EncodeToString(salt), alg: jose.DIRECT,
	}
	change(&d)
	hash := sha256.Sum256([]byte(d.request))
	key, err := hkdf.Key(sha256.New, kept.contentKey, salt, "causeway response v1"+service.KeyID+string(hash[:]), 32)
	if err != nil {
		t.Fatal(err)
	}
	e, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: d.alg, Key: key, KeyID: d.kid},
		(&jose.EncrypterOptions{}).WithHeader("salt", d.salt))
	if err != nil {
		t.Fatal(err)
	}
	response, err := e.Encrypt([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	token, err := response.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// rsaKey makes an RSA key of the service.
func rsaKey(t *testing.T) jose.JSONWebKey {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private, Algorithm: mle.RSAOAEP256, Use: "enc"}
	print, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	key.KeyID = base64.RawURLEncoding.EncodeToString(print)
	return key
}

// TestDerived demands encrypted responses without a registered key.
func TestDerived(t *testing.T) {
	t.Parallel()
	for alg, key := range map[string]jose.JSONWebKey{mle.ECDHESA256KW: newKey(t), mle.RSAOAEP256: rsaKey(t)} {
		t.Run(alg, func(t *testing.T) {
			t.Parallel()
			s, base := open(t)
			s.setKey(key)
			s.response = func(w http.ResponseWriter, sent string) {
				jwe(w, respond(t, key, sent, `{"id":"x"}`, func(*derivation) {}))
			}
			status, text, err := pay(t, base, mle.Config{Alg: alg, EncryptedResponses: true})
			if err != nil || status != 200 || text != `{"id":"x"}` {
				t.Errorf("got %d %s, %v", status, text, err)
			}
			kids := s.fields.Values("X-Svc-Mle-Response-Kid")
			if s.fields.Get("X-Svc-Mle-Response") != "required" || len(kids) != 0 {
				t.Errorf("got %v, want a demand without a key", s.fields)
			}
			object, err := jose.ParseEncryptedCompact(s.sent[0], []jose.KeyAlgorithm{jose.KeyAlgorithm(alg)},
				[]jose.ContentEncryption{jose.A256GCM})
			if err != nil || object.Header.ExtraHeaders["rsp"] != "required" {
				t.Errorf("got %+v, %v, want the demand in the header", object, err)
			}
			if body, err := object.Decrypt(key.Key); err != nil || string(body) != sale { // as go-jose reads it
				t.Errorf("got %q, %v", body, err)
			}
		})
	}
}

// TestDerivedRefuses sends responses that are not encrypted under the derived key.
func TestDerivedRefuses(t *testing.T) {
	t.Parallel()
	for name, respond := range map[string]func(t *testing.T, s *service, sent string) string{
		"our own request": func(_ *testing.T, _ *service, sent string) string { return sent },
		"to a registered key": func(t *testing.T, s *service, _ string) string {
			t.Helper()
			return seal(t, s.key, "{}")
		},
		"to another request": changed(func(d *derivation) { d.request += "A" }),
		"another kid":        changed(func(d *derivation) { d.kid = "another" }),
		"another alg":        changed(func(d *derivation) { d.alg = jose.A256KW }),
		"another salt":       changed(func(d *derivation) { d.salt = strings.Repeat("A", 43) }),
		"a short salt":       changed(func(d *derivation) { d.salt = "AAAA" }),
		"no salt":            changed(func(d *derivation) { d.salt = 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, base := open(t)
			s.response = func(w http.ResponseWriter, sent string) { jwe(w, respond(t, s, sent)) }
			status, text, err := pay(t, base, mle.Config{EncryptedResponses: true})
			if !errors.Is(err, mle.ErrResponse) {
				t.Errorf("got %d %s, %v", status, text, err)
			}
		})
	}
	s, base := open(t)
	s.response = func(w http.ResponseWriter, _ string) { _, _ = w.Write([]byte(`{"id":"x"}`)) }
	if _, text, err := pay(t, base, mle.Config{EncryptedResponses: true}); !errors.Is(err, mle.ErrResponse) {
		t.Errorf("in the clear: got %s, %v", text, err)
	}
}

func changed(change func(*derivation)) func(t *testing.T, s *service, sent string) string {
	return func(t *testing.T, s *service, sent string) string {
		t.Helper()
		return respond(t, s.key, sent, "{}", change)
	}
}

// TestDerivedWithoutBody sends a request without a body, from which no key can be derived.
func TestDerivedWithoutBody(t *testing.T) {
	t.Parallel()
	s, base := open(t)
	s.response = func(w http.ResponseWriter, _ string) { _, _ = w.Write([]byte("{}")) }
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/transactions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := mle.New(mle.Config{EncryptedResponses: true}).RoundTrip(r)
	if err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", answer, err)
	}
	if demand := s.fields.Get("X-Svc-Mle-Response"); demand != "" {
		t.Errorf("got the demand %q, want none", demand)
	}
}

package specification_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// TestEncryption has the rows of message-level encryption, with a JOSE library that is not ours.
func TestEncryption(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"the whole request and response body may be wrapped in a JWE envelope (RFC 7516)", testWrapped},
		{"MLE is optional", func(s *service) {
			s.post("/v1/transactions", s.Keys.SKTest, payment).want(http.StatusCreated, `"status":"captured"`)
		}},
		{"mle_kid_unknown | The key identifier in the JWE header is unknown", func(s *service) {
			key := currentKey(s)
			key.KeyID = "unknown"
			s.sealed(seal(s, key, payment)).want(http.StatusBadRequest, `"code":"mle_kid_unknown"`, `"type":"mle_error"`)
		}},
		{"mle_decrypt_failed | The JWE body could not be decrypted", func(s *service) {
			token := strings.Split(seal(s, currentKey(s), strings.Replace(payment, "1250", "4321", 1)), ".")
			for _, part := range []int{1, 3, 4} { // the encrypted key, the text, the tag
				changed := append([]string{}, token...)
				first := "A"
				if strings.HasPrefix(changed[part], first) {
					first = "B"
				}
				changed[part] = first + changed[part][1:]
				s.sealed(strings.Join(changed, ".")).
					want(http.StatusBadRequest, `"code":"mle_decrypt_failed"`, `"type":"mle_error"`)
			}
			if made := s.get("/v1/transactions", s.Keys.SKTest); strings.Contains(made.body, `"amount":4321`) {
				s.Error("a body that cannot be decrypted was paid")
			}
		}},
	})
}

// currentKey fetches the merchant's public key.
func currentKey(s *service) jose.JSONWebKey {
	s.Helper()
	return decode[struct {
		JWK jose.JSONWebKey `json:"jwk"`
	}](s.get("/v1/mle/keys/current", s.Keys.SKTest).want(http.StatusOK)).JWK
}

// seal returns the compact serialization of a JWE with alg, enc and kid in its protected header.
func seal(s *service, key jose.JSONWebKey, body string) string {
	s.Helper()
	encrypter, err := jose.NewEncrypter(jose.A256GCM,
		jose.Recipient{Algorithm: jose.KeyAlgorithm(mle.ECDHESA256KW), Key: key}, nil)
	if err != nil {
		s.Fatal(err)
	}
	object, err := encrypter.Encrypt([]byte(body))
	if err != nil {
		s.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		s.Fatal(err)
	}
	return token
}

// sealed posts a payment with the header fields of the specification's procedure.
func (s *service) sealed(token string) response {
	s.Helper()
	return s.post("/v1/transactions", s.Keys.SKTest, token,
		"Content-Type", "application/jose", "Accept", "application/jose", "X-SVC-MLE", "v1", "X-SVC-MLE-Response", "required")
}

// testWrapped follows the procedure of the specification, without any other call: first with our
// client, which also decrypts the response.
func testWrapped(s *service) {
	made := &http.Client{Transport: mle.New(mle.Config{EncryptedResponses: true})}
	own := &service{s.T, s.Ready, made}
	own.post("/v1/transactions", s.Keys.SKTest, payment).want(http.StatusCreated, `"status":"captured"`)
	got := s.sealed(seal(s, currentKey(s), payment))
	if kind := got.header.Get("Content-Type"); kind != "application/jose" || strings.Count(got.body, ".") != 4 {
		s.Errorf("got %s %s, want an encrypted response", kind, got.body)
	}
	if strings.Contains(got.body, "captured") {
		s.Errorf("the response is in the clear: %s", got.body)
	}
}

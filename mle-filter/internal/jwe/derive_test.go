package jwe_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

// given is a decrypter that returns a content key.
type given []byte

func (g given) DecryptKey([]byte, jose.Header) ([]byte, error) { return g, nil }

// mustForge returns a message whose content key is a copy of contentKey, its text, and that copy.
func mustForge(t *testing.T, contentKey []byte) (*jwe.Message, string, []byte) {
	t.Helper()
	key := enginetest.NewKey(t, jwe.ECDHESA256KW, 0)
	token := enginetest.Forge{Key: key, CEK: contentKey}.Encrypt(t, "{}")
	message, err := jwe.Parse([]byte(token), limits)
	if err != nil {
		t.Fatal(err)
	}
	bound := slices.Clone(contentKey)
	message.BindTo(given(bound))
	return message, token, bound
}

// TestResponseKey checks that each response has its own key, which the sender of the request can
// derive.
func TestResponseKey(t *testing.T) {
	t.Parallel()
	contentKey := bytes.Repeat([]byte("k"), 32)
	salts := map[any]bool{}
	for range 2 {
		message, token, _ := mustForge(t, contentKey)
		plaintext, key, err := message.DecryptDerive()
		if err != nil || string(plaintext) != "{}" {
			t.Fatalf("got %q, %v", plaintext, err)
		}
		response, err := key.Encrypt([]byte("text"), "text/plain", noon)
		if err != nil {
			t.Fatal(err)
		}
		header, text := enginetest.DecryptDerived(t, contentKey, token, string(response))
		if text != "text" || header.KeyID != message.Header.KID || header.ExtraHeaders["cty"] != "text/plain" {
			t.Errorf("got %q under %+v", text, header)
		}
		salts[header.ExtraHeaders["salt"]] = true
	}
	if len(salts) != 2 {
		t.Errorf("got %d salts, want 2", len(salts))
	}
}

// TestKeysAreWiped checks that no content key and no derived key outlives its use, and that a
// derived key encrypts one response.
func TestKeysAreWiped(t *testing.T) {
	t.Parallel()
	contentKey, zero := bytes.Repeat([]byte("k"), 32), make([]byte, 32)
	message, _, bound := mustForge(t, contentKey)
	if _, err := message.Decrypt(); err != nil || !bytes.Equal(bound, zero) {
		t.Errorf("Decrypt: %v, the content key remains", err)
	}
	message, _, bound = mustForge(t, contentKey)
	_, key, err := message.DecryptDerive()
	if err != nil || !bytes.Equal(bound, zero) {
		t.Fatalf("DecryptDerive: %v, the content key remains", err)
	}
	derived := key.Bytes()
	if bytes.Equal(derived, zero) {
		t.Fatal("got an empty response key")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%x"} {
		for _, holder := range []any{key, struct{ k *jwe.ResponseKey }{key}} {
			printed := fmt.Sprintf(verb, holder)
			for _, form := range []string{
				strings.Trim(fmt.Sprintf("%d", derived), "[]"), hex.EncodeToString(derived),
				strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", derived), "[]byte{"), "}"),
			} {
				if strings.Contains(printed, form) {
					t.Errorf("%s prints the key: %s", verb, printed)
				}
			}
		}
	}
	if _, err := key.Encrypt(nil, "", noon); err != nil || !bytes.Equal(derived, zero) {
		t.Errorf("Encrypt: %v, the response key remains", err)
	}
	if _, err := key.Encrypt(nil, "", noon); err == nil {
		t.Error("a second response was encrypted")
	}
}

// TestNoKeyWithoutDecryption checks that a message that cannot be decrypted gives no response key.
func TestNoKeyWithoutDecryption(t *testing.T) {
	t.Parallel()
	message, _, _ := mustForge(t, bytes.Repeat([]byte("k"), 32))
	message.BindTo(given(make([]byte, 32)))
	if plaintext, key, err := message.DecryptDerive(); err == nil || plaintext != nil || key != nil {
		t.Errorf("got %q, %v, %v, want an error", plaintext, key, err)
	}
}

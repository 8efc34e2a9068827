package jwe_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

// accepted are the valid vectors with supported algorithms.
var accepted = []int{66, 90}

var limits = jwe.Limits{Header: 2 << 10, Plaintext: 192 << 10}

type vectors struct {
	TestGroups []struct {
		Private json.RawMessage
		Tests   []struct {
			ID    int    `json:"tcId"`
			Token any    `json:"jwe"` // a string, or an object in JSON serialization
			Text  string `json:"pt"`
		}
	}
}

func TestWycheproof(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/wycheproof/json_web_encryption_test.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(file, &v); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, group := range v.TestGroups {
		var key jose.JSONWebKey
		if err := json.Unmarshal(group.Private, &key); err != nil {
			t.Fatal(err)
		}
		for _, test := range group.Tests {
			seen++
			plaintext, err := open(t, test.Token, key)
			if slices.Contains(accepted, test.ID) {
				if err != nil || hex.EncodeToString(plaintext) != test.Text {
					t.Errorf("%d: got %x, %v, want %s", test.ID, plaintext, err, test.Text)
				}
				continue
			}
			var refusal *jwe.Error
			if !errors.As(err, &refusal) || refusal.Hint == "" {
				t.Errorf("%d: got %v, want a refusal", test.ID, err)
			}
		}
	}
	if seen != 139 {
		t.Errorf("got %d vectors, want 139", seen)
	}
}

func open(t *testing.T, token any, key jose.JSONWebKey) ([]byte, error) {
	t.Helper()
	text, ok := token.(string)
	if !ok {
		b, err := json.Marshal(token)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	message, err := jwe.Parse([]byte(text), limits)
	if err != nil {
		return nil, err
	}
	if err := message.Bind(key.Key, jwe.Alg(key.Algorithm)); err != nil {
		return nil, err
	}
	return message.Decrypt()
}

package auth_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
)

// member is one member of a header or of claims; a nil value leaves it out.
type member struct {
	name  string
	value any
}

// jwt is a token before it is signed, and the request that it comes with.
type jwt struct {
	auth.Request
	header, claims []member
	signer         func(alg, content string) []byte
}

// set changes a member, or adds one.
func set(list []member, name string, value any) []member {
	i := slices.IndexFunc(list, func(m member) bool { return m.name == name })
	if i < 0 {
		return append(slices.Clone(list), member{name, value})
	}
	list = slices.Clone(list)
	list[i].value = value
	return list
}

func encode(tb testing.TB, list []member) string {
	tb.Helper()
	var parts []string
	for _, m := range list {
		if m.value == nil {
			continue
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			tb.Fatal(err)
		}
		parts = append(parts, strconv.Quote(m.name)+":"+string(value))
	}
	return base64.RawURLEncoding.EncodeToString([]byte("{" + strings.Join(parts, ",") + "}"))
}

// signed returns the request with its token.
func (j jwt) signed(tb testing.TB) auth.Request {
	tb.Helper()
	alg := ""
	for _, m := range j.header {
		if m.name == "alg" {
			alg, _ = m.value.(string)
		}
	}
	content := encode(tb, j.header) + "." + encode(tb, j.claims)
	r := j.Request
	r.Header = r.Header.Clone()
	r.Header.Set("Authorization", "Bearer "+content+"."+base64.RawURLEncoding.EncodeToString(j.signer(alg, content)))
	return r
}

// bySecret signs with the shared secret of the vectors.
func bySecret(alg, content string) []byte {
	key, _ := base64.StdEncoding.DecodeString(sharedSecret)
	return hmacWith(key)(alg, content)
}

func hmacWith(key []byte) func(alg, content string) []byte {
	return func(alg, content string) []byte {
		hashes := map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New}
		of, ok := hashes[alg]
		if !ok {
			return nil
		}
		mac := hmac.New(of, key)
		mac.Write([]byte(content))
		return mac.Sum(nil)
	}
}

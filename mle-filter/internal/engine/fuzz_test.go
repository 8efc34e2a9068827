package engine_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

// fuzzKeys returns the same keys each time, so that the messages of the corpus still open.
func fuzzKeys(tb testing.TB) (ec, rsa enginetest.Key) {
	tb.Helper()
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{7}, 32))
	if err != nil {
		tb.Fatal(err)
	}
	ec = enginetest.Key{KID: "ec", Alg: engine.ECDHESA256KW, Private: private}
	var vectors struct {
		TestGroups []struct{ Private jose.JSONWebKey }
	}
	if err := json.Unmarshal(
		mustRead(tb, "../jwe/testdata/wycheproof/json_web_encryption_test.json"), &vectors,
	); err != nil {
		tb.Fatal(err)
	}
	for _, group := range vectors.TestGroups {
		if group.Private.Algorithm == string(engine.RSAOAEP256) {
			rsa = enginetest.Key{KID: "rsa", Alg: engine.RSAOAEP256, Private: group.Private.Key}
		}
	}
	return ec, rsa
}

// TestCorpus checks that the valid messages of the corpus open. So the other messages are rejected
// for their own faults, and not for their key.
func TestCorpus(t *testing.T) {
	t.Parallel()
	ec, rsa := fuzzKeys(t)
	ring := &enginetest.Ring{}
	ring.Add(enginetest.Merchant, ec)
	ring.Add(enginetest.Merchant, rsa)
	x := mustNeedBody(t, mustEngine(t, engine.Config{Keys: ring}))
	for name, want := range map[string]string{
		"ec": "{}", "ec-apu": "", "ec-empty": "", "escaped": "{}", "rsa": "{}", "rsa-full": "{}",
	} {
		text := strings.TrimPrefix(string(mustRead(t, "testdata/fuzz/FuzzUnwrap/"+name)), "go test fuzz v1\n[]byte(")
		token, err := strconv.Unquote(strings.TrimSuffix(text, ")\n"))
		if err != nil {
			t.Fatal(err)
		}
		body, p := x.Unwrap(t.Context(), []byte(token))
		if name == "ec-apu" { // encrypted without the apu of its header, so apu must count
			if p == nil || p.Reason != string(jwe.ReasonDecrypt) {
				t.Errorf("%s: got %+v, want a decrypt failure", name, p)
			}
			continue
		}
		if p != nil || string(body.Bytes) != want {
			t.Errorf("%s: got %+v, want %q", name, p, want)
		}
	}
}

// FuzzUnwrap looks for a body that makes the engine panic, that gets an unexpected rejection, or
// that is accepted in a non-canonical encoding. The messages of its corpus are for fuzzKeys.
func FuzzUnwrap(f *testing.F) {
	ec, rsa := fuzzKeys(f)
	ring := &enginetest.Ring{}
	ring.Add(enginetest.Merchant, ec)
	ring.Add(enginetest.Merchant, rsa)
	e := mustEngine(f, engine.Config{Keys: ring})
	f.Add([]byte("...."))
	f.Add([]byte(`{"protected":"e30"}`))
	f.Fuzz(func(t *testing.T, sent []byte) {
		body, p := mustNeedBody(t, e).Unwrap(t.Context(), sent)
		if p != nil {
			if !slices.Contains([]string{engine.CodeDecryptFailed, engine.CodeKIDUnknown, engine.CodeTooLarge}, p.Code) ||
				p.Cause != nil {
				t.Errorf("got %+v, want a rejection of the body", p)
			}
			return
		}
		for _, segment := range strings.Split(string(sent), ".") {
			decoded, err := base64.RawURLEncoding.DecodeString(segment)
			if err != nil || base64.RawURLEncoding.EncodeToString(decoded) != segment {
				t.Errorf("took %q, which can be written otherwise", segment)
			}
		}
		if strings.Count(string(sent), ".") != 4 || len(body.Bytes) > len(sent) {
			t.Errorf("got %d bytes of %q", len(body.Bytes), sent)
		}
	})
}

package engine_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// TestWycheproof sends the vectors of package jwe through the engine, each with its key in the
// ring. None has the kid that the engine requires, so each is rejected with one of three codes.
// Package jwe tests that the two valid vectors open.
func TestWycheproof(t *testing.T) {
	t.Parallel()
	var vectors struct {
		TestGroups []struct {
			Private jose.JSONWebKey
			Tests   []struct {
				ID    int `json:"tcId"`
				Token any `json:"jwe"`
			}
		}
	}
	if err := json.Unmarshal(
		mustRead(t, "../jwe/testdata/wycheproof/json_web_encryption_test.json"), &vectors,
	); err != nil {
		t.Fatal(err)
	}
	for _, group := range vectors.TestGroups {
		ring := &enginetest.Ring{}
		key := group.Private
		ring.Add(enginetest.Merchant, enginetest.Key{KID: key.KeyID, Alg: engine.Alg(key.Algorithm), Private: key.Key})
		x := mustNeedBody(t, mustEngine(t, engine.Config{Keys: ring}))
		for _, test := range group.Tests {
			token, ok := test.Token.(string)
			if !ok {
				token = `{"protected":""}`
			}
			_, p := x.Unwrap(t.Context(), []byte(token))
			if p == nil ||
				!slices.Contains([]string{engine.CodeDecryptFailed, engine.CodeKIDUnknown, engine.CodeRequired}, p.Code) {
				t.Errorf("%d: got %+v, want one of the three codes", test.ID, p)
			}
		}
	}
}

// mustNeedBody begins a request with an encrypted body.
func mustNeedBody(tb testing.TB, e *engine.Engine) *engine.Exchange {
	tb.Helper()
	x, p := e.Begin(tb.Context(), engine.RequestHead{
		Method: "POST", Path: enginetest.Path, Body: true, Length: -1,
		Fields: http.Header{"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}},
	}, enginetest.Call(enginetest.Merchant))
	if p != nil {
		tb.Fatal(p.Reason)
	}
	return x
}

func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

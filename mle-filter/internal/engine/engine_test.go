package engine_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/clock"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func caller(context.Context) (string, *engine.Problem) { return enginetest.Merchant, nil }

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, alg := range []engine.Alg{engine.RSAOAEP256, engine.ECDHESA256KW} {
		t.Run(string(alg), func(t *testing.T) {
			t.Parallel()
			ring := &enginetest.Ring{}
			ours, theirs := enginetest.NewKey(t, alg, 2048), enginetest.NewKey(t, alg, 2048)
			ring.Add(enginetest.Merchant, ours)
			ring.AddResponse(enginetest.Merchant, theirs.Public())
			e := mustEngine(t, engine.Config{Keys: ring})
			x, p := e.Begin(t.Context(), engine.RequestHead{
				Method: "POST", Path: "/v1/transactions", Body: true, Length: -1, Fields: http.Header{
					"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}, "X-Svc-Mle-Response": {"required"},
				},
			}, caller)
			if p != nil || !x.NeedsBody() || !x.WrapsResponse() {
				t.Fatalf("got %+v, want an exchange with both bodies", p)
			}
			body, p := x.Unwrap(t.Context(), mustEncrypt(t, ours, `{"amount":1}`))
			if p != nil || string(body.Bytes) != `{"amount":1}` {
				t.Fatalf("unwrap: got %+v, want the plaintext", p)
			}
			response, p := x.BeginResponse(
				engine.ResponseHead{Status: 201, Body: true, Length: -1, Fields: http.Header{"Content-Type": {"application/json"}}},
			)
			if p != nil || !response.Wrap {
				t.Fatalf("response: got %+v, want one to wrap", p)
			}
			body, p = x.Wrap([]byte(`{"id":"txn"}`))
			if p != nil {
				t.Fatalf("wrap: got %+v", p)
			}
			if got := mustDecrypt(t, theirs, body.Bytes); got != `{"id":"txn"}` {
				t.Errorf("got %q, want the response", got)
			}
		})
	}
}

func mustEngine(tb testing.TB, cfg engine.Config) *engine.Engine {
	tb.Helper()
	if cfg.Policy == nil {
		table, err := policy.New(policy.Config{})
		if err != nil {
			tb.Fatal(err)
		}
		cfg.Policy = table
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.NewFake(noon)
	}
	e, err := engine.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func mustEncrypt(tb testing.TB, k enginetest.Key, text string) []byte {
	tb.Helper()
	r, err := jwe.NewRecipient(k.Public())
	if err != nil {
		tb.Fatal(err)
	}
	encrypted, err := r.Encrypt([]byte(text), "application/json", noon)
	if err != nil {
		tb.Fatal(err)
	}
	return encrypted
}

func mustDecrypt(tb testing.TB, k enginetest.Key, encrypted []byte) string {
	tb.Helper()
	object, err := jose.ParseEncryptedCompact(
		string(encrypted), []jose.KeyAlgorithm{jose.KeyAlgorithm(k.Alg)}, []jose.ContentEncryption{jose.A256GCM},
	)
	if err != nil {
		tb.Fatal(err)
	}
	plaintext, err := object.Decrypt(k.Private)
	if err != nil {
		tb.Fatal(err)
	}
	return string(plaintext)
}

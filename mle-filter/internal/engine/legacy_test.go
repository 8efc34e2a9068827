package engine_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestProofIsForCore checks that core alone receives the filter's proof. compat-proxy receives the
// report of an encryption.
func TestProofIsForCore(t *testing.T) {
	t.Parallel()
	e := mustEngine(t, engine.Config{Keys: &enginetest.Ring{}, Secret: secret.New("proof")})
	for path, want := range map[string]string{
		"/v1/transactions": "proof", "/compat/rpc": "", "/compat/provider-a/xml": "", "/xml/v1/request.api": "",
		"/pts/v2/payments": "", "/tss/v2/transactions/1": "", "/%63ompat/rpc": "", "/compat": "", "/%2563ompat/rpc": "proof",
		"/flex/v2/sessions": "", "/xml/v1/request.api/x": "", "/compat/provider-a": "", "/pts": "",
		"/xml/v1/other": "proof",
	} {
		x, p := e.Begin(t.Context(), engine.RequestHead{Method: "POST", Path: path, Fields: http.Header{}}, caller)
		if p != nil {
			t.Fatalf("%s: got %+v", path, p)
		}
		h := http.Header{"X-Svc-Int-Proof": {"a client's"}}
		apply(h, x.Ops())
		if got := h.Get("X-Svc-Int-Proof"); got != want {
			t.Errorf("%s: got proof %q, want %q", path, got, want)
		}
	}
}

// TestAnnounced checks the requests that an announced requirement refuses.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	due := func(method, path string, now time.Time) bool {
		return method == "POST" && path == "/v1/tokens" && now.Equal(noon)
	}
	strict := policy.Config{Merchants: map[string]policy.Merchant{enginetest.Strict: {MLE: policy.Required}}}
	for _, cfg := range []policy.Config{{}, strict} {
		table, err := policy.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		checkAnnounced(t, mustEngine(t, engine.Config{Keys: &enginetest.Ring{}, Announced: due, Policy: table}))
	}
}

// checkAnnounced sends requests without an API key.
func checkAnnounced(t *testing.T, e *engine.Engine) {
	t.Helper()
	for _, tt := range []struct{ method, path, legacy, want string }{
		{"POST", "/v1/tokens", "", engine.CodeRequired},
		{"POST", "/v1/tokens", engine.LegacyClear, ""},
		{"POST", "/v1/tokens", engine.LegacyEncrypted, ""},
		{"POST", "/v1/tokens", "another", engine.CodeRequired},
		{"GET", "/v1/tokens", "", ""},
		{"POST", "/v1/transactions", "", ""},
	} {
		head := engine.RequestHead{Method: tt.method, Path: tt.path, Legacy: tt.legacy, Fields: http.Header{}, Body: true}
		_, p := e.Begin(t.Context(), head, caller)
		got := ""
		if p != nil {
			got = p.Code
		}
		if got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}

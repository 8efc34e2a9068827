package providerb_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// scenario is testdata/<case>/case.json. The same folder has request.json, if the request has a
// body. Its golden files are commands.json, the decoded request, and response.json, the status and
// body.
type scenario struct {
	// Method and Path are the request's; POST /pts/v2/payments by default. Ids may be written as
	// "cap:123" in the case and the body.
	Method string `json:"method,omitzero"`
	Path   string `json:"path,omitzero"`
	// Headers are further headers of the request. Authorization has the caller's key by default.
	Headers map[string]string `json:"headers,omitzero"`
	// Scopes are the scopes of the caller's key; all by default.
	Scopes []string `json:"scopes,omitzero"`
	// Mode is the mode of the caller's key; test by default.
	Mode v1.Mode `json:"mode,omitzero"`
	// Sandbox sends the request with the signature of a sandbox login.
	Sandbox bool `json:"sandbox,omitzero"`
	// V1 is the requests that v1 gets, in order, and its responses.
	V1 []goldentest.Exchange `json:"v1,omitzero"`
}

func TestGolden(t *testing.T) {
	t.Parallel()
	goldentest.Run(t, runGolden)
}

func runGolden(t *testing.T, dir string) {
	t.Helper()
	request, err := os.ReadFile(filepath.Join(dir, "request.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	commands, response := responseTo(t, mustScenario(t, filepath.Join(dir, "case.json")), request)
	goldentest.Compare(t, filepath.Join(dir, "commands.json"), commands)
	goldentest.Compare(t, filepath.Join(dir, "response.json"), response)
}

// binder records the commands and binds evidence.
type binder struct {
	*goldentest.Recorder

	executor *executor.Executor
}

func (b binder) Bind(
	ctx context.Context, key secret.String, evidence command.Binding, purpose []string,
) command.Result {
	return b.executor.Bind(ctx, key, evidence, purpose)
}

// responseTo sends a case's request. It returns the commands that v1 got, and the response.
func responseTo(t *testing.T, s scenario, request []byte) (commands, response []byte) {
	t.Helper()
	script := goldentest.NewScript(t, s.V1, s.Scopes)
	script.Mode = s.Mode
	executor := goldentest.MustExecutor(t, script)
	recorder := binder{&goldentest.Recorder{Executor: executor}, executor}
	handler := mustHandler(t, recorder)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, s.request(t, request))
	if left := script.Remaining(); left != 0 {
		t.Errorf("v1 did not get %d requests of the case", left)
	}
	for i, c := range recorder.Seen {
		if named, ok := c.(command.Named); ok && s.Sandbox { // its name is a signature
			recorder.Seen[i] = named.Command
		}
	}
	return recorder.Commands(t), golden(t, w)
}

// request returns the case's request with that body.
func (s scenario) request(t *testing.T, body []byte) *http.Request {
	t.Helper()
	method, path := http.MethodPost, "/pts/v2/payments"
	if s.Method != "" {
		method = s.Method
	}
	if s.Path != "" {
		path = goldentest.WithIDs(s.Path)
	}
	if s.Sandbox {
		return signedBy(t.Context(), sandboxSecret, "sandbox", "sandbox", path, goldentest.WithIDs(string(body)))
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(goldentest.WithIDs(string(body))))
	r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
	for name, value := range s.Headers {
		r.Header.Set(name, value)
	}
	return r
}

// golden returns the stored form of a response. It checks the headers that every response has.
func golden(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/hal+json") {
		t.Errorf("content type: got %q", got)
	}
	if w.Header().Get("V-C-Correlation-Id") == "" {
		t.Error("no correlation id")
	}
	if bytes.Contains(w.Body.Bytes(), []byte("null")) {
		t.Errorf("a response with a null: %s", w.Body)
	}
	out, err := json.Marshal(struct {
		Status int            `json:"status"`
		Body   jsontext.Value `json:"body"`
	}{w.Code, w.Body.Bytes()}, jsontext.WithIndent("  "))
	if err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return append(out, '\n')
}

// sandboxSecret is the shared secret of the sandbox login.
var sandboxSecret = []byte("a shared secret of a sandbox log")

func mustHandler(tb testing.TB, x dialect.Executor) *providerb.Handler {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "credentials.yaml")
	yaml := "provider_b:\n  - {merchant_id: sandbox, api_key: " + goldentest.APIKey + ", sandbox: true, " +
		"keys: [{id: sandbox, shared_secret: " + base64.StdEncoding.EncodeToString(sandboxSecret) + "}]}\n"
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		tb.Fatal(err)
	}
	c := clock.NewFake(goldentest.Today)
	logins, err := credentials.Open(path, c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return providerb.New(providerb.Config{
		Verifier: auth.New(auth.Config{Keys: logins, Clock: c}),
		Config: dialect.Config{
			Executor: x, Clock: c, Currency: "usd", MaxBytes: 256 << 10,
			NewNumber: func() string { return "7345678905236789804" },
		},
	})
}

func mustScenario(t *testing.T, path string) scenario {
	t.Helper()
	var s scenario
	goldentest.Case(t, path, &s)
	return s
}

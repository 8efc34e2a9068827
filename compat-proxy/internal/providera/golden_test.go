package providera_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera"
	"github.com/causeway-pay/causeway/shared/clock"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// scenario is testdata/<case>/case.json. The same folder has request.xml or request.json. Its
// golden files are commands.json, the decoded request, and response.xml or response.json.
type scenario struct {
	// Authorization is the request's header of that name.
	Authorization string `json:"authorization,omitzero"`
	// Scopes are the scopes of the caller's key; all by default.
	Scopes []string `json:"scopes,omitzero"`
	// Mode is the mode of the caller's key; test by default.
	Mode v1.Mode `json:"mode,omitzero"`
	// V1 is the requests that v1 gets, in order, and its responses. Ids may be written as "txn:123".
	V1 []goldentest.Exchange `json:"v1,omitzero"`
}

func TestGolden(t *testing.T) {
	t.Parallel()
	goldentest.Run(t, runGolden)
}

func runGolden(t *testing.T, dir string) {
	t.Helper()
	request, ext := mustRequest(t, dir)
	commands, response := responseTo(t, mustScenario(t, filepath.Join(dir, "case.json")), request)
	goldentest.Compare(t, filepath.Join(dir, "commands.json"), commands)
	goldentest.Compare(t, filepath.Join(dir, "response"+ext), response)
}

// mustRequest returns a case's request and the ending of its file.
func mustRequest(t *testing.T, dir string) (request []byte, ext string) {
	t.Helper()
	request, err := os.ReadFile(filepath.Join(dir, "request.xml"))
	if err != nil {
		return goldentest.MustRead(t, filepath.Join(dir, "request.json")), ".json"
	}
	return request, ".xml"
}

// responseTo sends a case's request. It returns the commands that v1 got, and the response.
func responseTo(t *testing.T, s scenario, request []byte) (commands, response []byte) {
	t.Helper()
	script := goldentest.NewScript(t, s.V1, s.Scopes)
	script.Mode = s.Mode
	recorder := &goldentest.Recorder{Executor: goldentest.MustExecutor(t, script)}
	handler := mustHandler(t, recorder)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/compat/provider-a/xml", bytes.NewReader(request))
	if s.Authorization != "" {
		r.Header.Set("Authorization", s.Authorization)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if got, want := w.Code, http.StatusOK; got != want {
		t.Errorf("status: got %d, want %d", got, want)
	}
	if left := script.Remaining(); left != 0 {
		t.Errorf("v1 did not get %d requests of the case", left)
	}
	return recorder.Commands(t), w.Body.Bytes()
}

func mustHandler(tb testing.TB, x dialect.Executor) *providera.Handler {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "credentials.yaml")
	yaml := "provider_a:\n  - {name: demoLogin1, transaction_key: demoKey000000001, api_key: " + goldentest.APIKey +
		"}\n" +
		"  - {name: refunder, transaction_key: demoKey000000002, api_key: " + goldentest.APIKey +
		", unlinked_refunds: true}\n" +
		"  - {name: sandbox, transaction_key: demoKey000000003, api_key: " + goldentest.APIKey +
		", unlinked_refunds: true, sandbox: true}\n" +
		"  - {name: signed, transaction_key: demoKey000000004, api_key: " + goldentest.APIKey +
		", signature_key: " + signatureKey + "}\n"
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		tb.Fatal(err)
	}
	c := clock.NewFake(goldentest.Today)
	logins, err := credentials.Open(path, c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return providera.New(providera.Config{
		Logins: logins,
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

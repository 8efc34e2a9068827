package providera_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The window is 120 seconds unless the request has a valid number that is not too great. 0 is
// valid.
func TestDuplicateWindow(t *testing.T) {
	t.Parallel()
	request, _ := mustRequest(t, filepath.Join("testdata", "duplicate-window-zero"))
	const window = `{"settingName": "duplicateWindow", "settingValue": "0"}`
	if !strings.Contains(string(request), window) {
		t.Fatalf("got %s, want the setting in it", request)
	}
	for value, want := range map[string]int{
		`"0"`: 0, `0`: 0, `"00"`: 0, `"1"`: 1, `120`: 120, `"28799"`: 28799, `"28800"`: 28800, `"28801"`: 28800,
		`"99999"`: 28800, `""`: 120, `"-1"`: 120, `"1.5"`: 120, `"abc"`: 120, `"99999999999999999999"`: 120, `null`: 120,
	} {
		changed := strings.Replace(string(request), window, `{"settingName": "duplicateWindow", "settingValue": `+value+`}`,
			1)
		if got := windowOf(t, changed); got != want {
			t.Errorf("%s: got %d, want %d", value, got, want)
		}
	}
	if got, want := windowOf(t, strings.Replace(string(request), window, `{"settingName": "emailCustomer", `+
		`"settingValue": "0"}`, 1)), 120; got != want {
		t.Errorf("no window: got %d, want %d", got, want)
	}
}

// windowOf returns the window of the payment that a request decodes to.
func windowOf(t *testing.T, request string) int {
	t.Helper()
	seen := &goldentest.Recorder{Executor: approving{}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/compat/provider-a/xml", strings.NewReader(request))
	mustHandler(t, seen).ServeHTTP(httptest.NewRecorder(), r)
	if len(seen.Seen) != 1 {
		t.Fatalf("%s: got %d commands, want one", request, len(seen.Seen))
	}
	payment, ok := seen.Seen[0].(command.Authorize)
	if !ok {
		t.Fatalf("%s: got a %s, want a payment", request, seen.Seen[0].Kind())
	}
	return payment.Deduplication.Window
}

// approving approves everything.
type approving struct{}

// Identify implements dialect.Executor.
func (approving) Identify(context.Context, secret.String) (v1.APIKey, command.Result) {
	return v1.APIKey{Scopes: strings.Split(strings.Trim(strings.ReplaceAll(goldentest.FullScopes, `"`, ""), "[]"), ",")},
		command.Result{Outcome: command.Done}
}

// Execute implements dialect.Executor.
func (approving) Execute(context.Context, secret.String, command.Command) command.Result {
	return command.Result{Outcome: command.Done, Transaction: &v1.Transaction{}}
}

// Bind implements dialect.Executor.
func (approving) Bind(context.Context, secret.String, command.Binding, []string) command.Result {
	return command.Result{Outcome: command.Done}
}

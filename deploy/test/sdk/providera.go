package sdk

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// LoginA is a login of a provider-a client.
type LoginA struct{ Name, Key string }

// Strict is the login of provider-a's script without the rules of a sandbox and without unlinked
// refunds.
var Strict = LoginA{"strict", "strictKey0000001"}

// MapStrict maps Strict to an API key.
func MapStrict(t *testing.T, logins Issuer, apiKey string) {
	t.Helper()
	dir := t.TempDir()
	file, transactionKey := filepath.Join(dir, "api-key"), filepath.Join(dir, "transaction-key")
	for path, text := range map[string]string{file: apiKey, transactionKey: Strict.Key} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	logins.Run(t, "map", "--name", Strict.Name, "--transaction-key-file", transactionKey, "--api-key-file", file)
}

// WalkA runs all steps of provider-a's script with a client, and compares each response with v1.
func WalkA(t *testing.T, s *System, c Client) {
	t.Helper()
	walk(t, s, c, c.open(t, s), readScript(t, "providera/steps.json"), providerA{})
}

// NodeA returns the Node client with a program; "" is the program for the script.
func NodeA(t *testing.T, s *System, program string) Client {
	t.Helper()
	return node(t, "node", "providera", program, "NODE_EXTRA_CA_CERTS="+s.CA, gatewayA(s))
}

// PythonA returns the Python client with a program; "" is the program for the script.
func PythonA(t *testing.T, s *System, program string) Client {
	t.Helper()
	packages := programtest.MustInstallPython(t, "python", absolute(t, "providera/python"))
	return python(t, "providera", program, "PYTHONPATH="+packages, "REQUESTS_CA_BUNDLE="+s.CA, gatewayA(s))
}

// JavaA returns the Java client with a program; "" is the program for the script.
func JavaA(t *testing.T, s *System, program string) Client {
	t.Helper()
	return java(t, s, "java", "providera", program, gatewayA(s))
}

// gatewayA returns the variable with the URL of the service.
func gatewayA(s *System) string { return "SDK_GATEWAY=" + s.HTTPS + "/xml/v1/request.api" }

// providerA is the common part of all clients of provider-a.
type providerA struct{}

func (providerA) number() string { return "trans_id" }

func (providerA) complete(w *walker, step string, send values) (sent, want values) {
	ref := ("ref-" + step)[:min(len(step)+4, 20)]
	sent = values{"login": w.s.A.Name, "key": w.s.A.Key, "step": step, "ref_id": ref}
	maps.Copy(sent, send)
	// the client's own name for the payment
	if (sent["zip"] != "" || sent["invoice"] != "") && sent["method"] == "transaction" {
		sent["invoice"] = w.name + "-" + cmp.Or(sent["invoice"], step)
	}
	return sent, values{"ref_id": ref}
}

// check checks that v1 has only the payments and refunds whose numbers the client read.
func (providerA) check(t *testing.T, w *walker, payments map[string]v1.Transaction) {
	t.Helper()
	got, want := 0, 0
	for number := range w.ids {
		if payments[transaction(t, number)].ID == "" {
			got++
		}
	}
	for _, s := range w.script.Steps {
		if slices.Contains([]string{"refunded", "reviewed", "unsent"}, s.Response) {
			want++
		}
	}
	if got != want {
		t.Errorf("got %d numbers without a payment in v1, want %d: one of each refund and each decline before v1", got, want)
	}
}

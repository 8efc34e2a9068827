package sdk

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// LoginA is what a client of provider-a logs in with.
type LoginA struct{ Name, Key string }

// Refunder is the login of provider-a's script that may refund a card without naming a payment.
var Refunder = LoginA{"refunder", "refunderKey00001"}

// MapRefunder maps it to an API key.
func MapRefunder(t *testing.T, logins Issuer, apiKey string) {
	t.Helper()
	dir := t.TempDir()
	file, own := filepath.Join(dir, "api-key"), filepath.Join(dir, "transaction-key")
	for path, text := range map[string]string{file: apiKey, own: Refunder.Key} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	logins.Run(t, "map", "--name", Refunder.Name, "--transaction-key-file", own, "--api-key-file", file, "--unlinked-refunds")
}

// WalkA has a client of provider-a do all of its script, and looks at each step from both sides.
func WalkA(t *testing.T, s *System, c Client) {
	t.Helper()
	walk(t, s, c, readScript(t, "providera/steps.json"), providerA{})
}

// NodeA is the Node client with a program, the one that walks if that is "".
func NodeA(t *testing.T, s *System, program string) Client {
	t.Helper()
	return Client{
		Name: "node", Command: []string{"node", cmp.Or(program, absolute(t, "providera/node/walk.js"))},
		Env: []string{"NODE_PATH=" + InstallNode(t, "node", absolute(t, "providera/node")), "NODE_EXTRA_CA_CERTS=" + s.CA, gatewayA(s)},
	}
}

// PythonA is the Python client with a program, the one that walks if that is "".
func PythonA(t *testing.T, s *System, program string) Client {
	t.Helper()
	return Client{
		Name: "python", Command: []string{"python3", cmp.Or(program, absolute(t, "providera/python/walk.py"))},
		Env: []string{
			"PYTHONPATH=" + InstallPython(t, "python", absolute(t, "providera/python")), "PYTHONDONTWRITEBYTECODE=1", "REQUESTS_CA_BUNDLE=" + s.CA, gatewayA(s),
		},
	}
}

// JavaA is the Java client with a program, the one that walks if that is "".
func JavaA(t *testing.T, s *System, program string) Client {
	t.Helper()
	libraries := installJava(t, "java", absolute(t, "providera/java"))
	return Client{
		Name: "java", Command: javaCommand(t, s, libraries, cmp.Or(program, absolute(t, "providera/java/Walk.java"))), Env: []string{gatewayA(s)},
	}
}

// javaCommand runs a program with a trust store of the development authority, made as a user would.
func javaCommand(t *testing.T, s *System, libraries, program string) []string {
	t.Helper()
	store := t.TempDir() + "/trust.p12"
	//nolint:gosec // the program is the JDK's
	keytool := exec.CommandContext(t.Context(), "keytool", "-importcert", "-noprompt", "-alias", "causeway", "-file", s.CA,
		"-keystore", store, "-storetype", "PKCS12", "-storepass", "changeit")
	if out, err := keytool.CombinedOutput(); err != nil {
		t.Fatalf("keytool: %v\n%s", err, out)
	}
	return []string{
		"java", "-XX:TieredStopAtLevel=1", "-Djavax.net.ssl.trustStore=" + store, "-Djavax.net.ssl.trustStorePassword=changeit",
		"-cp", libraries + "/*", program,
	}
}

// gatewayA tells a walking client where to send to.
func gatewayA(s *System) string { return "SDK_GATEWAY=" + s.HTTPS + "/xml/v1/request.api" }

// providerA is what clients of provider-a have in common.
type providerA struct{}

func (providerA) number() string { return "trans_id" }

func (providerA) complete(w *walker, step string, send values) (sent, want values) {
	ref := ("ref-" + step)[:min(len(step)+4, 20)]
	sent = values{"login": w.s.A.Name, "key": w.s.A.Key, "step": step, "ref_id": ref}
	maps.Copy(sent, send)
	if (sent["zip"] != "" || sent["invoice"] != "") && sent["method"] == "transaction" { // the client's own name for the payment
		sent["invoice"] = w.name + "-" + cmp.Or(sent["invoice"], step)
	}
	return sent, values{"ref_id": ref}
}

// check wants no numbers but those of payments and of the refunds the client made.
func (providerA) check(t *testing.T, w *walker, payments map[string]v1.Transaction) {
	t.Helper()
	got, want := 0, 0
	for number := range w.ids {
		if payments[transaction(t, number)].ID == "" {
			got++
		}
	}
	for _, s := range w.script.Steps {
		if s.Answer == "refunded" {
			want++
		}
	}
	if got != want {
		t.Errorf("numbers that are no payment in v1 = %d, want those of the %d refunds", got, want)
	}
}

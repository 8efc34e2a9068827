package main_test

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestClients sends unmodified clients of provider-a through the days of a merchant, side by side, over HTTPS by the development authority.
func TestClients(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	mapRefunder(t, p, filepath.Join(data, "compat-credentials.yaml"))
	steps := script(t, "sdktest/providera/steps.json")
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		walk(t, p, nodeClient(t, p, "sdktest/providera/node/walk.js"), steps, providerA{})
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		walk(t, p, pythonClient(t, p, "sdktest/providera/python/walk.py"), steps, providerA{})
	})
	t.Run("java", func(t *testing.T) {
		t.Parallel()
		walk(t, p, javaClient(t, p, "sdktest/providera/java/Walk.java"), steps, providerA{})
	})
}

// mapRefunder gives the running proxy a second login, which may refund a card without naming a payment.
func mapRefunder(t *testing.T, p *process, logins string) {
	t.Helper()
	apiKey, own := filepath.Join(t.TempDir(), "api-key"), filepath.Join(t.TempDir(), "transaction-key")
	for path, text := range map[string]string{apiKey: p.Keys.SKTest, own: "refunderKey00001"} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	credentialsOf(t, logins, "map", "--name", "refunder", "--transaction-key-file", own, "--api-key-file", apiKey, "--unlinked-refunds")
	(&loginDesk{p: p, proxy: &replica{base: p.HTTP, stderr: p.stderr}}).until(t, "refunder", "refunderKey00001", "1/1")
}

func nodeClient(t *testing.T, p *process, program string) sdk {
	t.Helper()
	return sdk{
		name: "node", command: []string{"node", absolute(t, program)},
		env: []string{"NODE_PATH=" + installNode(t, "node", "sdktest/providera/node"), "NODE_EXTRA_CA_CERTS=" + p.CA, gatewayA(p)},
	}
}

func pythonClient(t *testing.T, p *process, program string) sdk {
	t.Helper()
	return sdk{
		name: "python", command: []string{"python3", absolute(t, program)},
		env: []string{"PYTHONPATH=" + installPython(t, "python", "sdktest/providera/python"), "PYTHONDONTWRITEBYTECODE=1", "REQUESTS_CA_BUNDLE=" + p.CA, gatewayA(p)},
	}
}

func javaClient(t *testing.T, p *process, program string) sdk {
	t.Helper()
	return sdk{name: "java", command: javaCommand(t, p, installJava(t, "java", "sdktest/providera/java"), program), env: []string{gatewayA(p)}}
}

// javaCommand runs a program with a trust store of the development authority, made as a user would.
func javaCommand(t *testing.T, p *process, libraries, program string) []string {
	t.Helper()
	store := t.TempDir() + "/trust.p12"
	keytool := exec.CommandContext(t.Context(), "keytool", "-importcert", "-noprompt", "-alias", "causeway", "-file", p.CA,
		"-keystore", store, "-storetype", "PKCS12", "-storepass", "changeit")
	if out, err := keytool.CombinedOutput(); err != nil {
		t.Fatalf("keytool: %v\n%s", err, out)
	}
	return []string{
		"java", "-XX:TieredStopAtLevel=1", "-Djavax.net.ssl.trustStore=" + store, "-Djavax.net.ssl.trustStorePassword=changeit",
		"-cp", libraries + "/*", absolute(t, program),
	}
}

// gatewayA tells a walking client where to send to.
func gatewayA(p *process) string { return "SDK_GATEWAY=" + p.HTTPS + "/xml/v1/request.api" }

// providerA is what clients of provider-a have in common.
type providerA struct{}

func (providerA) number() string { return "trans_id" }

func (providerA) complete(w *sdkWalk, step string, send values) (sent, want values) {
	ref := ("ref-" + step)[:min(len(step)+4, 20)]
	sent = values{"login": w.p.ProviderA.Name, "key": w.p.ProviderA.TransactionKey, "step": step, "ref_id": ref}
	maps.Copy(sent, send)
	if (sent["zip"] != "" || sent["invoice"] != "") && sent["method"] == "transaction" { // the client's own name for the payment
		sent["invoice"] = w.name + "-" + cmp.Or(sent["invoice"], step)
	}
	return sent, values{"ref_id": ref}
}

// check wants no numbers but those of payments and of the refunds the client made.
func (providerA) check(t *testing.T, w *sdkWalk, payments map[string]v1.Transaction) {
	t.Helper()
	got, want := 0, 0
	for number := range w.ids {
		if payments[txn(t, number)].ID == "" {
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

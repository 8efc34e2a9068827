package standalone_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
)

// TestClients_readme runs the programs of compat-proxy's pages for merchants, unchanged.
func TestClients_readme(t *testing.T) {
	t.Parallel()
	text := ""
	for _, page := range []string{"authorize-net.md", "cybersource.md"} {
		content, err := os.ReadFile(filepath.Join("../../../compat-proxy/docs", page))
		if err != nil {
			t.Fatal(err)
		}
		text += string(content)
	}
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir()) // one for each, because all send the same sale
		path := writeExample(t, p, text, "js", "authorizenet", "sale.js")
		client := sdk.NodeA(t, system(t, p), path)
		runExample(t, p, client, "1")
		refuseExample(t, client, path, "4111111111111111", "4000000000000002", "2 ")
		refuseExample(t, client, path, p.ProviderA.TransactionKey, "aWrongKey", "E00007")
		refuseExample(t, client, path, p.HTTPS, "http://127.0.0.1:1", "ECONNREFUSED")
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir())
		path := writeExample(t, p, text, "python", "authorizenet", "sale.py")
		client := sdk.PythonA(t, system(t, p), path)
		runExample(t, p, client, "1")
		refuseExample(t, client, path, "4111111111111111", "4000000000000002", "2 ")
		refuseExample(t, client, path, p.ProviderA.TransactionKey, "aWrongKey", "E00007")
		refuseExample(t, client, path, p.HTTPS, "http://127.0.0.1:1", "no response")
	})
	t.Run("java", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir())
		path := writeExample(t, p, text, "java", "net.authorize", "Sale.java")
		client := sdk.JavaA(t, system(t, p), path)
		runExample(t, p, client, "1")
		refuseExample(t, client, path, "4111111111111111", "4000000000000002", "2 ")
	})
	t.Run("node-providerb", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir())
		client := sdk.NodeB(t, system(t, p), writeExample(t, p, text, "js", "cybersource", "sale.js")).Client
		runExample(t, p, client, "AUTHORIZED")
		wantOrder(t, p)
	})
	t.Run("python-providerb", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir())
		runExample(t, p, sdk.PythonB(t, system(t, p), writeExample(t, p, text, "python", "CyberSource", "sale.py")).
			Client, "AUTHORIZED")
		wantOrder(t, p)
	})
}

// wantOrder checks that v1 has the order number of the programs for provider-b. Without it, two
// orders within a second are one payment.
func wantOrder(t *testing.T, p *process) {
	t.Helper()
	if got := named(t, merchantOf(t, p), "order-1001"); len(got) != 1 {
		t.Errorf("payments of the order: got %d, want 1", len(got))
	}
}

// writeExample writes the program of a language and a client in a document into a file, with a
// running system's address and login.
func writeExample(t *testing.T, p *process, document, language, client, file string) string {
	t.Helper()
	found := []string{}
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(document, -1) {
		if strings.Contains(block[1], client) {
			found = append(found, block[1])
		}
	}
	if len(found) != 1 {
		t.Fatalf("programs in %s for %s = %d, want 1", language, client, len(found))
	}
	program := strings.NewReplacer(
		"127.0.0.1:8443", strings.TrimPrefix(p.HTTPS, "https://"), "'CA'", strconv.Quote(p.CA),
		"your-login", p.ProviderA.Name, "your-key-id", p.ProviderB.KeyID, "your-key", p.ProviderA.TransactionKey,
		"your-merchant-id", p.ProviderB.MerchantID, "your-shared-secret", p.ProviderB.SharedSecret,
	).Replace(found[0])
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refuseExample runs a program with another value, which must fail, and checks that it prints why.
func refuseExample(t *testing.T, client sdk.Client, path, value, other, reason string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.ReplaceAll(string(text), value, other)
	if err := os.WriteFile(path, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, client.Command[0], client.Command[1:]...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), client.Env...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), reason) {
		t.Errorf("%s printed %q and ended with %v, want %q and an error", client.Name, out, err, reason)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// runExample checks that the program gets an approval and prints it in its dialect's form.
func runExample(t *testing.T, p *process, client sdk.Client, approval string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, client.Command[0], client.Command[1:]...)
	cmd.Dir = t.TempDir() // clients write log files into their working directory
	cmd.Env = append(os.Environ(), client.Env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	code, number, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || code != approval || txn(t, number) == "" {
		t.Errorf("%s printed %q, %v, want an approval and its number\n%s\n%s", client.Name, out, err, stderr.String(), p.Log)
	}
}

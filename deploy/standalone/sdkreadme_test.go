package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClients_readme runs the programs that compat-proxy's README has for a merchant, as they stand there.
func TestClients_readme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compat-proxy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir()) // one for each, for all send the same sale
		runExample(t, p, nodeClient(t, p, writeExample(t, p, string(text), "js", "sale.js")))
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir())
		runExample(t, p, pythonClient(t, p, writeExample(t, p, string(text), "python", "sale.py")))
	})
	t.Run("java", func(t *testing.T) {
		t.Parallel()
		p := start(t, t.TempDir())
		runExample(t, p, javaClient(t, p, writeExample(t, p, string(text), "java", "Sale.java")))
	})
}

// writeExample writes the one program of a language in a document into a file, with a running system's address and login in it.
func writeExample(t *testing.T, p *process, document, language, file string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(document, -1)
	if len(found) != 1 {
		t.Fatalf("programs in %s = %d, want 1", language, len(found))
	}
	program := strings.NewReplacer(
		"https://pay.example.com", p.HTTPS, "your-login", p.ProviderA.Name, "your-key", p.ProviderA.TransactionKey,
	).Replace(found[0][1])
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runExample wants the program to be told of an approval.
func runExample(t *testing.T, p *process, client sdk) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, client.command[0], client.command[1:]...)
	cmd.Dir = t.TempDir() // clients leave log files where they run
	cmd.Env = append(os.Environ(), client.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	code, number, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || code != "1" || txn(t, number) == "" {
		t.Errorf("%s printed %q, %v, want an approval and its number\n%s\n%s", client.name, out, err, stderr.String(), p.stderr)
	}
}

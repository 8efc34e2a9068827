package standalone_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestEmptyOperatorToken starts on an empty file of the operator token. The start makes a token
// that authenticates, and the next start keeps it.
func TestEmptyOperatorToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "operator-token")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, first := startOperated(t, dir)
	if status, text := first.post(t, "/admin/v1/merchants", `{"name":"Shop 1"}`); status != http.StatusCreated {
		t.Errorf("with the token of the first start: %d %s, want 201", status, text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the token: %v, %v, want mode 0600", info, err)
	}
	p.Stop(t)
	p, second := startOperated(t, dir)
	if second.token != first.token {
		t.Error("the second start replaced the token")
	}
	if status, text := second.post(t, "/admin/v1/merchants", `{"name":"Shop 2"}`); status != http.StatusCreated {
		t.Errorf("with the token of the second start: %d %s, want 201", status, text)
	}
	p.Stop(t)
}

// TestStaleOperatorToken removes the store under the operator token: the next start replaces the
// token. A start without the file revokes the lost token.
func TestStaleOperatorToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, first := startOperated(t, dir)
	p.Stop(t)
	if err := os.RemoveAll(filepath.Join(dir, "core")); err != nil {
		t.Fatal(err)
	}
	p, second := startOperated(t, dir)
	if status, text := second.post(t, "/admin/v1/merchants", `{"name":"Shop"}`); status != http.StatusCreated {
		t.Errorf("with the token of the new store: %d %s, want 201", status, text)
	}
	p.Stop(t)
	if err := os.Remove(filepath.Join(dir, "operator-token")); err != nil {
		t.Fatal(err)
	}
	p, third := startOperated(t, dir)
	lost := operators{third.url, second.token}
	if status, text := lost.post(t, "/admin/v1/merchants", `{"name":"Shop"}`); status != http.StatusUnauthorized {
		t.Errorf("with the lost token: %d %s, want 401", status, text)
	}
	if first.token == second.token || second.token == third.token {
		t.Error("a token was not replaced")
	}
	p.Stop(t)
}

// TestEmptySecretFile checks that a start reports an empty file of a secret, with its remedy.
func TestEmptySecretFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "deduplication.secret")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := programtest.Output(t.Context(), programtest.Command{
		Path: standalone(), Args: []string{"--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0"},
	})
	if err == nil || !strings.Contains(stderr, file+" is empty: restore it, or remove it") {
		t.Errorf("got %v, %s", err, stderr)
	}
}

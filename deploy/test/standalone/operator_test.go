package standalone_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestEmptyOperatorToken starts on an empty operator token, as after a crash during its write. The
// start makes a token that authenticates, and the next start keeps it.
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

package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
)

// mover runs the program with the environment of a move.
type mover struct{ data, url, kek string }

// run returns the exit code and what was said. Nothing of it may show the URL.
func (m mover) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), mainVariable+"=1", "CAUSEWAY_STORE_FILE="+m.url, "CAUSEWAY_VAULT_KEK="+m.kek)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	_ = cmd.Run() // the code tells
	if said := out.String() + err.String(); strings.Contains(said, "postgres://") && !strings.Contains(said, "postgres://…") || strings.Contains(said, "search_path") {
		t.Errorf("%v shows the URL: %s", args, said)
	}
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

// want runs the program and wants a text in what it says.
func (m mover) want(t *testing.T, code int, text string, args ...string) {
	t.Helper()
	got, stdout, stderr := m.run(t, args...)
	if got != code || !strings.Contains(stdout+stderr, text) {
		t.Errorf("%v: got %d, %q, %q, want %d and %q", args, got, stdout, stderr, code, text)
	}
}

// TestMigrateData walks the way of the README, and back.
func TestMigrateData(t *testing.T) {
	t.Parallel()
	m := mover{data: t.TempDir(), url: filepath.Join(t.TempDir(), "url"), kek: base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))}
	if err := os.WriteFile(m.url, []byte(pgtest.Schema(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	merchant := MustPrint(t, "merchants", "create", "Shop", "--data", m.data)
	MustTokens(t, m.data, MustPrint(t, "keys", "create", "--data", m.data, "--merchant", merchant), 3)

	m.want(t, 0, "--finish", "migrate-data", "--data", m.data)
	m.want(t, 1, "a move into it has not ended", "merchants", "list")
	serving(t, m.data, func(string) { m.want(t, 1, "stop it first", "migrate-data", "--data", m.data, "--finish") })
	m.want(t, 0, "closed for", "migrate-data", "--data", m.data, "--finish")
	m.want(t, 0, "moved there already", "migrate-data", "--data", m.data, "--finish")
	m.want(t, 0, merchant, "merchants", "list")
	if code, _, stderr := run(t, "merchants", "list", "--data", m.data); code != 1 || !strings.Contains(stderr, "core migrate-data --undo") {
		t.Errorf("the old store: got %d, %q", code, stderr)
	}

	m.want(t, 0, "taken back", "migrate-data", "--data", m.data, "--undo")
	m.want(t, 1, "a move into it has not ended", "merchants", "list")
	if got := MustPrint(t, "keys", "create", "--data", m.data, "--merchant", merchant); got == "" {
		t.Error("the old store is not back")
	}
	m.want(t, 0, "closed for", "migrate-data", "--data", m.data, "--finish")
	m.want(t, 0, merchant, "merchants", "update", merchant, "--name", "A second shop")
	m.want(t, 1, "would be lost", "migrate-data", "--data", m.data, "--undo")
	m.want(t, 0, "taken back", "migrate-data", "--data", m.data, "--undo", "--force")
}

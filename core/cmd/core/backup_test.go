package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	data, to, back := t.TempDir(), filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	merchant := MustPrint(t, "merchants", "--data", data, "create", "Shop")
	MustPrint(t, "keys", "--data", data, "create", "--merchant", merchant)
	if got := MustPrint(t, "backup", "--data", data, "--to", to); got != to {
		t.Errorf("got %s, want %s", got, to)
	}
	MustPrint(t, "restore", "--from", to, "--data", back)
	_, want, _ := run(t, "keys", "--data", data, "list", "--merchant", merchant)
	if code, got, stderr := run(t, "keys", "--data", back, "list", "--merchant", merchant); code != 0 || got != want || !strings.Contains(got, "key_") {
		t.Errorf("got %d, %q, %q, want %q", code, got, stderr, want)
	}
	for _, args := range [][]string{
		{"backup", "--data", data, "--to", to},
		{"restore", "--from", to, "--data", data},
		{"restore", "--from", data, "--data", t.TempDir()},
	} {
		if code, stdout, stderr := run(t, args...); code != 1 || stdout != "" || !strings.HasPrefix(stderr, "core: ") {
			t.Errorf("%v: got %d, %q, %q", args[0], code, stdout, stderr)
		}
	}
}

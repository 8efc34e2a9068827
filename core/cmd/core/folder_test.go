package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// needStore lists the commands that need an existing store, without their --data.
func needStore(backup string) [][]string {
	return [][]string{
		{"merchants", "list"},
		{"merchants", "update", "mer_0000000000001", "--name", "Shop"},
		{"merchants", "disable", "mer_0000000000001"},
		{"merchants", "enable", "mer_0000000000001"},
		{"keys", "create", "--merchant", "mer_0000000000001"},
		{"keys", "list", "--merchant", "mer_0000000000001"},
		{"keys", "roll", "key_0000000000001"},
		{"keys", "revoke", "key_0000000000001"},
		{"vault", "rotate"},
		{"vault", "rewrap"},
		{"backup", "--to", backup},
	}
}

// TestNoStoreIsMadeInPassing checks that a mistyped --data is reported and creates nothing.
func TestNoStoreIsMadeInPassing(t *testing.T) {
	t.Parallel()
	backup := filepath.Join(t.TempDir(), "backup")
	for _, args := range needStore(backup) {
		data, empty := filepath.Join(t.TempDir(), "typo"), t.TempDir()
		for _, dir := range []string{data, empty} {
			code, stdout, stderr := run(t, append(args, "--data", dir)...)
			if code != 1 || stdout != "" || !strings.Contains(stderr, "no store in "+dir) {
				t.Errorf("%v: got %d, %q, %q, want it to name the folder", args, code, stdout, stderr)
			}
		}
		if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: made the folder", args)
		}
		if left, err := os.ReadDir(empty); err != nil || len(left) != 0 {
			t.Errorf("%v: left %v, %v", args, left, err)
		}
	}
	if _, err := os.Stat(backup); !errors.Is(err, os.ErrNotExist) {
		t.Error("made a backup of nothing")
	}
}

// TestStandalonesFolder checks the folder of a standalone as --data. The error names the folder of
// its store, and no second store is created.
func TestStandalonesFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	store := filepath.Join(data, "core")
	MustPrint(t, "merchants", "create", "Shop", "--data", store)
	commands := append(needStore(filepath.Join(t.TempDir(), "backup")), []string{"merchants", "create", "Shop"}, []string{"migrate"}, []string{"serve"})
	for _, args := range commands {
		code, stdout, stderr := run(t, append(args, "--data", data)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "--data "+store) {
			t.Errorf("%v: got %d, %q, %q, want it to name %s", args, code, stdout, stderr, store)
		}
	}
	if left, err := os.ReadDir(data); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v, want the store's folder alone", left, err)
	}
	MustPrint(t, "backup", "--data", store, "--to", filepath.Join(t.TempDir(), "backup"))
}

// TestFirstCommandsMakeTheStore checks that the commands that may be first create the store.
func TestFirstCommandsMakeTheStore(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"migrate"}, {"merchants", "create", "Shop"}} {
		data := filepath.Join(t.TempDir(), "new")
		if code, _, stderr := run(t, append(args, "--data", data)...); code != 0 {
			t.Errorf("%v: got %d, %q", args, code, stderr)
		}
		if _, err := os.Stat(filepath.Join(data, "causeway.db")); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

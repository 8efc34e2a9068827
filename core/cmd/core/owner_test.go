package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOwnerOfTheDataFolder checks that commands of root leave all files of the data folder to its
// owner, the user of the service.
func TestOwnerOfTheDataFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	data := t.TempDir()
	merchant := MustPrint(t, "merchants", "--data", data, "create", "Shop")
	MustTokens(t, data, MustPrint(t, "keys", "--data", data, "create", "--merchant", merchant), 1)
	if err := os.Chown(data, 10701, 10700); err != nil {
		t.Fatal(err)
	}
	for _, path := range mustList(t, data) {
		if strings.HasSuffix(path, ".lock") { // as in a folder before its first command
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.Chown(path, 10701, 10700); err != nil {
			t.Fatal(err)
		}
	}
	kek := "CAUSEWAY_VAULT_KEK=" + strings.Repeat("A", 43) + "="
	for _, command := range []string{"secrets rotate", "vault rewrap", "vault rotate"} {
		c := exec.CommandContext(t.Context(), os.Args[0], append(strings.Fields(command), "--data", data)...)
		c.Env = append(os.Environ(), mainVariable+"=1", kek)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		for _, path := range mustList(t, data) {
			wantOwner(t, path, 10701, 10700)
		}
	}
}

// TestOwnerOfTheFirstFiles checks a command of root before the first start of the service. All its
// files belong to the owner of the folder above.
func TestOwnerOfTheFirstFiles(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	parent := t.TempDir()
	if err := os.Chown(parent, 10701, 10700); err != nil {
		t.Fatal(err)
	}
	data, copied := filepath.Join(parent, "new", "data"), filepath.Join(parent, "backup")
	restored := filepath.Join(parent, "restored")
	MustPrint(t, "merchants", "--data", data, "create", "Shop")
	MustPrint(t, "backup", "--data", data, "--to", copied)
	MustPrint(t, "restore", "--data", restored, "--from", copied)
	for _, folder := range []string{data, copied, restored} {
		for _, path := range append(mustList(t, folder), folder, filepath.Dir(folder)) {
			wantOwner(t, path, 10701, 10700)
		}
	}
}

func mustList(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("files: %v, %v", paths, err)
	}
	return paths
}

func wantOwner(t *testing.T, path string, uid, gid int) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("no owner in %T", info.Sys())
	}
	if int(got.Uid) != uid || int(got.Gid) != gid {
		t.Errorf("owner of %s = %d:%d, want %d:%d", path, got.Uid, got.Gid, uid, gid)
	}
}

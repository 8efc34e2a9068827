//go:build unix

package durable_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/durable"
)

// TestOwner: a file that root writes for a program keeps the program's user. Without this the
// program could not read its own file after a command of root.
func TestOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 10701, 10700); err != nil {
		t.Fatal(err)
	}
	created, written := filepath.Join(dir, "created"), filepath.Join(dir, "written")
	replaced := filepath.Join(dir, "replaced")
	if err := durable.CreateFile(created, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(written, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(replaced, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(replaced, 10702, 10703); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(replaced, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	f, err := durable.OpenFile(filepath.Join(dir, "opened"), os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, created, 10701, 10700)
	wantOwner(t, written, 10701, 10700)
	wantOwner(t, f.Name(), 10701, 10700)
	wantOwner(t, replaced, 10702, 10703)
	mustHave(t, dir, 4)
}

// TestOwnerOfFolders: folders that root creates belong to the owner of the nearest existing parent
// folder. An existing folder keeps its owner.
func TestOwnerOfFolders(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 10701, 10700); err != nil {
		t.Fatal(err)
	}
	made, below := filepath.Join(dir, "made"), filepath.Join(dir, "a", "b")
	if err := durable.Mkdir(made, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{below, below + "/", kept} {
		if err := durable.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	temporary, err := durable.MkdirTemp(dir, ".new-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{made, filepath.Dir(below), below, temporary} {
		wantOwner(t, path, 10701, 10700)
	}
	wantOwner(t, kept, 0, os.Getegid())
}

// TestOpenFileOfAnotherUser: only a file that OpenFile created changes its owner. Otherwise the
// owner of the folder could link there a file of root, and get it.
func TestOpenFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.Chown(dir, 10701, 10700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	f, err := durable.OpenFile(link, os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, other, 0, os.Getegid())
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

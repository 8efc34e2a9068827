package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/durable"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	for name, perm := range map[string]os.FileMode{"private": 0o600, "public": 0o644} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			for _, content := range []string{"first", "second, longer", ""} {
				if err := durable.WriteFile(path, []byte(content), perm); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(path)
				if got, want := string(data), content; err != nil || got != want {
					t.Fatalf("content = %q, %v, want %q", got, err, want)
				}
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := info.Mode().Perm(), perm; got != want {
				t.Errorf("mode = %v, want %v", got, want)
			}
		})
	}
}

func TestWriteFileLeavesNothingBehindOnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil { // a folder: the rename must fail
		t.Fatal(err)
	}
	if err := durable.WriteFile(path, []byte("x"), 0o600); err == nil {
		t.Fatal("error = nil, want one")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(entries), 1; got != want {
		t.Errorf("entries = %d, want %d: %v", got, want, entries)
	}
}

// TestSameError: a caller that fails twice for the same reason gets the same text.
func TestSameError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	first, second := durable.WriteFile(path, nil, 0o600), durable.WriteFile(path, nil, 0o600)
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("got %v, and then %v", first, second)
	}
	absent := filepath.Join(dir, "absent", "file")
	first, second = durable.WriteFile(absent, nil, 0o600), durable.WriteFile(absent, nil, 0o600)
	if !errors.Is(first, fs.ErrNotExist) || first.Error() != second.Error() {
		t.Errorf("got %v, and then %v", first, second)
	}
}

func TestCreateFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := durable.CreateFile(path, []byte("first"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := durable.CreateFile(path, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: got error %v, want ErrExist", err)
	}
	data, err := os.ReadFile(path)
	if got, want := string(data), "first"; err != nil || got != want {
		t.Errorf("content = %q, %v, want %q", got, err, want)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode().Perm(), fs.FileMode(0o640); got != want {
		t.Errorf("mode = %v, want %v", got, want)
	}
	mustHave(t, filepath.Dir(path), 1)
	if err := durable.Remove(path); err != nil {
		t.Fatal(err)
	}
	mustHave(t, filepath.Dir(path), 0)
	if err := durable.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove again: got error %v, want ErrNotExist", err)
	}
}

// TestOpenFileExclusively: with os.O_EXCL an existing file is an error, and is not changed.
func TestOpenFileExclusively(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.OpenFile(path, os.O_RDWR|os.O_TRUNC|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got error %v, want ErrExist", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "kept" {
		t.Errorf("content = %q, %v, want %q", data, err, "kept")
	}
}

// TestMkdirAllBehindAFile: a file where a folder should be is an error.
func TestMkdirAllBehindAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{path, filepath.Join(path, "below")} {
		if err := durable.MkdirAll(folder, 0o700); err == nil {
			t.Errorf("%s: got no error, want one", folder)
		}
	}
}

// mustHave checks the number of files in a folder, including hidden ones.
func mustHave(t *testing.T, folder string, want int) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if got := len(entries); err != nil || got != want {
		t.Errorf("entries = %d, %v, want %d: %v", got, err, want, entries)
	}
}

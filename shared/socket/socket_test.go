package socket_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/socket"
)

// folder returns a folder with a short name, because the path of a socket must be short.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "x") //nolint:usetesting // t.TempDir's name is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func mustListen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := socket.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestListen(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	path := filepath.Join(dir, "s")
	l := mustListen(t, path)
	if got := l.Addr().String(); got != path {
		t.Errorf("address: got %s, want %s", got, path)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != os.ModeSocket|0o660 {
		t.Errorf("got %v, %v, want a socket for its owner and group", info, err)
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := socket.Listen(t.Context(), path); err == nil {
		t.Error("took the place of a socket that is being served")
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("after the end: got %v, %v", left, err)
	}
}

// TestSuccessor: a new listener replaces the socket of a dead one, and the old listener does not
// remove the new socket.
func TestSuccessor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t), "s")
	died := mustListen(t, path+"1")
	if err := os.Rename(path+"1", path); err != nil {
		t.Fatal(err)
	}
	if err := died.Close(); !errors.Is(err, fs.ErrNotExist) { // as if its process had died: the socket stays
		t.Fatalf("got %v, want to hear that the socket was gone", err)
	}
	l := mustListen(t, path)
	if err := died.Close(); err == nil {
		t.Error("got no error the second time")
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the successor's socket: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestOthersAreLeft: another file at the socket's path is not changed, and neither is a later file.
func TestOthersAreLeft(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	const text = "keys"
	if err := errors.Join(os.WriteFile(at("file"), []byte(text), 0o600), os.Symlink("file", at("link")),
		os.Mkdir(at("folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link", "folder"} {
		if _, err := socket.Listen(t.Context(), at(name)); err == nil ||
			!strings.Contains(err.Error(), at(name)+" exists and is not a socket") {
			t.Errorf("%s: got %v, want an error that it is not a socket", name, err)
		}
	}
	if got, err := os.ReadFile(at("link")); err != nil || string(got) != text {
		t.Errorf("the file: got %q, %v", got, err)
	}
	l := mustListen(t, at("s"))
	if err := os.Rename(at("file"), at("s")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err == nil {
		t.Error("got no error, want to hear that something else is in its place")
	}
	if got, err := os.ReadFile(at("s")); err != nil || string(got) != text {
		t.Errorf("the file that came later: got %q, %v", got, err)
	}
	if left, err := filepath.Glob(at(".s*")); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v, want nothing left", left, err)
	}
}

// TestUncertainSocket: a socket that a process may still serve is not replaced.
func TestUncertainSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t), "s")
	l := mustListen(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := socket.Listen(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoFolder(t *testing.T) {
	t.Parallel()
	if _, err := socket.Listen(t.Context(), filepath.Join(folder(t), "none", "s")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

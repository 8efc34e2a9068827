package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// mode lets in those who share the group, and nobody else.
const mode = 0o660

// Listen makes a socket, in a folder of its own first, so that nobody gets in before it has its mode. What a process that died left in its
// place goes; one that lives keeps it. Closing the listener removes the socket.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	var dialer net.Dialer
	if c, err := dialer.DialContext(ctx, "unix", path); err == nil {
		return nil, errors.Join(fmt.Errorf("%s is being served", path), c.Close())
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing of worth is in it
	var cfg net.ListenConfig
	made := filepath.Join(dir, "s")
	l, err := cfg.Listen(ctx, "unix", made)
	if err != nil {
		return nil, err
	}
	if unix, ok := l.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // it would look for the name it was made by
	}
	if err := errors.Join(os.Chmod(made, mode), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{Listener: l, path: path}, nil
}

type listener struct {
	net.Listener

	path   string
	once   sync.Once
	closed error
}

// Close removes the socket and takes no more connections. The socket goes first, while it is ours for certain: a successor may make its own
// as soon as nobody answers here.
func (l *listener) Close() error {
	l.once.Do(func() { l.closed = errors.Join(os.Remove(l.path), l.Listener.Close()) })
	return l.closed
}

// Addr is where the socket stands.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// mode admits the owner and the group.
const mode = 0o660

// Listen makes a socket. It makes it in a private folder first, so that no client connects before
// the socket has its mode. Listen replaces the socket of a process that died. A socket that is or
// may be in use stays, and so does any other file: both are errors. Closing the listener removes
// the socket.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := free(ctx, path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it contains nothing of value
	var cfg net.ListenConfig
	made := filepath.Join(dir, "s")
	l, err := cfg.Listen(ctx, "unix", made)
	if err != nil {
		return nil, err
	}
	if unix, ok := l.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // it would remove the path in the private folder
	}
	if err := errors.Join(os.Chmod(made, mode), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{Listener: l, path: path}, nil
}

// free returns the reason why no socket can be made at path, or nil.
func free(ctx context.Context, path string) error {
	if err := onlySocket(path); err != nil {
		return err
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%s: another process listens on this socket: stop it first", path), c.Close())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil
	}
	return fmt.Errorf("cannot determine whether a process serves %s: %w", path, err)
}

// onlySocket rejects a path that holds another file than a socket, such as a file of keys.
func onlySocket(path string) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket: remove it, or choose another path", path)
	}
	return nil
}

type listener struct {
	net.Listener

	path   string
	once   sync.Once
	closed error
}

// Close removes the socket and then stops listening. It removes the socket first, while it
// certainly belongs to this listener: a successor may create another one as soon as this listener
// stops.
func (l *listener) Close() error {
	l.once.Do(func() { l.closed = errors.Join(l.remove(), l.Listener.Close()) })
	return l.closed
}

func (l *listener) remove() error {
	if err := onlySocket(l.path); err != nil {
		return err
	}
	return os.Remove(l.path)
}

// Addr returns the path of the socket.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

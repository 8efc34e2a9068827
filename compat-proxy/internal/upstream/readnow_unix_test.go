//go:build unix

package upstream_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
)

// TestClosedWhileKept: the server closes a kept connection, or sends unexpected bytes on it. The
// transport notices that before it uses the connection, so even a request that must not be repeated
// succeeds.
func TestClosedWhileKept(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]step{
		"Closed": ok + end,
		"Spoken": ok + "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFar(t, []step{after}, []step{ok, ok})
			var dialed []net.Conn
			tr := newTransport(t, upstream.Config{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
				dialed = append(dialed, c)
				return c, err
			}})
			mustDo(t, tr, mustRequest(t, "POST", "http://"+f.addr+"/", "body"), "200 ok")
			awaitInput(t, dialed[0])
			for range 2 {
				mustDo(t, tr, mustRequest(t, "POST", "http://"+f.addr+"/", "body"), "200 ok")
			}
			if got, want := len(dialed), 2; got != want {
				t.Errorf("connections: got %d, want %d", got, want)
			}
		})
	}
}

// awaitInput returns when there is something to read on c, or its end, without reading it. It is
// not there yet only for a moment.
func awaitInput(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool {
			_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
			return !errors.Is(err, syscall.EAGAIN)
		})
	}
	if err != nil && !errors.Is(err, net.ErrClosed) { // closed: it was noticed before the connection was kept
		t.Fatal(err)
	}
}

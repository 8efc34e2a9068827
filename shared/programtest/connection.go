package programtest

import (
	"crypto/rand"
	"encoding/base64"
	"net"
)

// Reset closes a connection by a reset: the other side sees a broken connection, not an end.
func Reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it may be broken already
	}
	_ = conn.Close()
}

// Secret returns a new secret for a program: 32 random bytes in base64.
func Secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.StdEncoding.EncodeToString(b)
}

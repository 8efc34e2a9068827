package programtest

import (
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// claimed is the port that marks a loopback address as taken by a test.
const claimed = 65535

// hosts counts the addresses that this process has tried.
var hosts atomic.Int32

// Host returns a loopback address of Linux that no other test uses until this one ends. So each of
// its ports is free, and is free again after its program has ended.
func Host(tb testing.TB) string {
	tb.Helper()
	for range 250 {
		pid, n := os.Getpid(), hosts.Add(1)
		host := fmt.Sprintf("127.%d.%d.%d", 1+(pid>>8)%254, pid&0xff, 1+n%250)
		l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", fmt.Sprintf("%s:%d", host, claimed))
		if err == nil {
			tb.Cleanup(func() { _ = l.Close() })
			return host
		}
	}
	tb.Fatal("there is no free loopback address")
	return ""
}

// claims is the loopback address of Linux at which processes claim ports of 127.0.0.1.
const claims = "127.255.255.254"

// ports are the claimed ports of this process. The claims end with the process.
var ports struct {
	mu     sync.Mutex
	next   int
	claims []net.Listener
}

// MustPort returns a port of 127.0.0.1, as host:port, on which nothing listens. It is below the
// ports that the system gives to connections, and no other test of any process gets it.
func MustPort(tb testing.TB) string {
	tb.Helper()
	ports.mu.Lock()
	defer ports.mu.Unlock()
	const first, count = 21000, 11000
	for range count {
		port := first + (os.Getpid()*100+ports.next)%count
		ports.next++
		claim, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", fmt.Sprintf("%s:%d", claims, port))
		if err != nil {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", address); err == nil {
			ports.claims = append(ports.claims, claim)
			_ = l.Close() // it got no connection
			return address
		}
		_ = claim.Close() // another program has the port
	}
	tb.Fatal("there is no free port")
	return ""
}

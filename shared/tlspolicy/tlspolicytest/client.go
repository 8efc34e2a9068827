package tlspolicytest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// Calls compares a client with the policy. call makes the client request an https URL, which closes
// each connection, so the request must fail. The client's hello must offer no more than the policy.
func Calls(tb testing.TB, p tlspolicy.Policy, call func(url string)) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), programtest.Patience)
	defer cancel()
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	hellos := make(chan *tls.ClientHelloInfo, 1)
	go hangUp(ctx, ln, hellos)
	call("https://" + ln.Addr().String())
	select {
	case hello := <-hellos:
		for _, version := range hello.SupportedVersions {
			if !slices.ContainsFunc(p.Versions(), func(v tlspolicy.Version) bool { return v.ID == version }) {
				tb.Errorf("the client offers %s", tls.VersionName(version))
			}
		}
		for _, suite := range hello.CipherSuites {
			if !slices.ContainsFunc(p.Suites(), func(s tlspolicy.Suite) bool { return s.ID == suite }) {
				tb.Errorf("the client offers %s", tls.CipherSuiteName(suite))
			}
		}
	case <-ctx.Done():
		tb.Error("the client said nothing")
	}
}

var errHeard = errors.New("heard")

// hangUp reads the first hello and rejects the connection.
func hangUp(ctx context.Context, ln net.Listener, hellos chan<- *tls.ClientHelloInfo) {
	cfg := &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			select {
			case hellos <- hello:
			default:
			}
			return nil, errHeard
		},
	}
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		_ = tls.Server(conn, cfg).HandshakeContext(ctx)
		_ = conn.Close()
	}
}

package rollout

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
)

var errOther = errors.New("rollout: another certificate is served")

// Probe returns a function that makes a handshake at an address, by the name of a host. It fails
// unless the server presents one of the pairs.
func Probe(address, host string) func(context.Context, []*certfile.Pair) error {
	return func(ctx context.Context, pairs []*certfile.Pair) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		dialer := &tls.Dialer{Config: &tls.Config{
			ServerName: host, MinVersion: tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // compared with the pushed certificate
		}}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("rollout: probe: %w", err)
		}
		defer conn.Close() //nolint:errcheck // nothing was sent
		served := conn.(*tls.Conn).ConnectionState().PeerCertificates
		for _, p := range pairs {
			if len(served) > 0 && bytes.Equal(served[0].Raw, p.Leaf().Raw) {
				return nil
			}
		}
		return errOther
	}
}

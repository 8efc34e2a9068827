package account_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// failing is a connector whose check fails.
type failing struct {
	account.Connector
	err error
}

func (f failing) Check(context.Context) error { return f.err }

// TestReasons: the reason of a failed check names the base URL, the cause and what to check.
func TestReasons(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const host = "https://host.example.com"
	for want, err := range map[string]error{
		host + " refused the login (E00007): check the settings and the credentials": fmt.Errorf(
			"providera: %w: E00007", acquirer.ErrLogin),
		host + " cannot be reached (connection refused): check the base URL and the firewall": fmt.Errorf(
			"upstream: connect: %w: connection refused", acquirer.ErrUnavailable),
		host + " was reached, but its certificate has expired, is for another host, or is of an unknown authority " +
			"(authenticateTest: the certificate is not trusted): compare this machine's clock. " +
			"A firewall that opens TLS or a private host needs its authority in SSL_CERT_FILE": fmt.Errorf(
			"providera: authenticateTest: upstream: connect: %w: the certificate is not trusted", acquirer.ErrUnavailable),
		host + " responded HTTP status 503: it may be in maintenance, so try later. Otherwise check the base URL": fmt.Errorf(
			"providera: %w: HTTP status 503", acquirer.ErrUnknown),
		host + " responded HTTP 502: it may be in maintenance, so try later. Otherwise check the base URL": fmt.Errorf(
			"provider-b: %w: HTTP 502, want the provider's 404", acquirer.ErrUnknown),
		host + " did not respond as the acquirer does (HTTP status 500): is the base URL right?": fmt.Errorf(
			"providera: %w: HTTP status 500", acquirer.ErrUnknown),
		host + " did not respond as the acquirer does (malformed response): is the base URL right?": fmt.Errorf(
			"providera: %w: malformed response", acquirer.ErrUnknown),
		host + ": the host does not accept the key [redacted]": errors.New("the host does not accept the key " + firstKey),
	} {
		accounts := account.New(account.Config{
			Store: b.DB, Vault: b.MustVault(t), Clock: b.Clock, Kinds: account.Kinds{
				coretest.HostKind: {Open: func(account.Settings) (account.Connector, error) { return failing{err: err}, nil }},
			},
		})
		var failed *account.CheckError
		if _, _, err := accounts.Create(t.Context(), b.create()); !errors.As(err, &failed) || failed.Reason != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

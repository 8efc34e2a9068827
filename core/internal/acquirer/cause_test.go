package acquirer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// TestCause: the cause of an error has no names of packages.
func TestCause(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"E00007":             fmt.Errorf("providera: E00007: %w", acquirer.ErrUnavailable),
		"unavailable":        acquirer.ErrUnavailable,
		"outcome unknown":    fmt.Errorf("simulator: %w", acquirer.ErrUnknown),
		"no such reference":  acquirer.ErrNotFound,
		"HTTP 404: no proof": fmt.Errorf("provider-b: HTTP 404: %w: %w", acquirer.ErrUnknown, errors.New("no proof")),
		"dial tcp 127.0.0.1:1: connection refused": fmt.Errorf("engine: %w", fmt.Errorf(
			"upstream: connect: %w: %w", acquirer.ErrUnavailable,
			errors.New("dial tcp 127.0.0.1:1: connect: connection refused"))),
		"the acquirer's records do not decide: the account's lists do not have it": fmt.Errorf(
			"engine: still open: %w: %w", acquirer.ErrUndecided, fmt.Errorf(
				"providera: %w: the account's lists do not have it", acquirer.ErrUnknown)),
		"reason 13":              errors.Join(errors.New("engine: still open"), errors.New("providera: reason 13")),
		strings.Repeat("ü", 200): errors.New(strings.Repeat("ü", 201)),
	} {
		if got := acquirer.Cause(err); got != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}

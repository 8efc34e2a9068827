package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// createToken creates a token with a security code.
func createToken(ctx context.Context, s *coretest.Service) error {
	_, err := s.Engine.CreateToken(ctx, s.Request(""), payment.KindCard, []byte("{}"),
		vault.Secrets{Number: secret.New(pan), CVC: secret.New(cvc)})
	return err
}

// TestCodeKeyIsNotWaitedFor: one request reads or makes the key of an hour. A request without that
// key waits no longer than its own context. A request that has the key does not wait.
func TestCodeKeyIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	release := engine.HoldCodeKeys(s.Engine)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := createToken(gone, s); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: got %v", err)
	}
	release()
	MustToken(t, s, cvc)
	defer engine.HoldCodeKeys(s.Engine)()
	MustToken(t, s, cvc)
	if got := s.Number(t, "SELECT COUNT(*) FROM code_keys"); got != 1 {
		t.Errorf("keys: got %d, want one", got)
	}
}

// TestCodeKeyThatIsGone: if the store has lost the hour's key, and in the next hour, a code is
// sealed by a new key and opens.
func TestCodeKeyThatIsGone(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	MustToken(t, s, cvc)
	lost := s.Number(t, "SELECT id FROM code_keys")
	s.MustExec(t, "DELETE FROM code_keys")
	for range 2 {
		token := MustToken(t, s, cvc)
		if got, err := s.Engine.Stored(t.Context(), s.Tenant, token); err != nil || got.Secrets.CVC.Reveal() != cvc {
			t.Errorf("got %+v, %v, want the code", got.Drawn, err)
		}
		if got := s.Number(t, "SELECT MAX(id) FROM code_keys"); got == lost {
			t.Errorf("the code is sealed by a key that is gone")
		}
		lost = s.Number(t, "SELECT MAX(id) FROM code_keys")
		s.Clock.Advance(time.Hour)
	}
}

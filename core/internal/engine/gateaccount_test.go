package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// hanging are two accounts. Inquiries at otherAccount hang until the other account has one.
type hanging struct {
	*coretest.Acquirer

	id      int64
	other   *hanging
	asked   chan struct{}
	expired atomic.Int64 // inquiries that hung for the whole time of an attempt
}

func (u *hanging) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	if u.id == otherAccount {
		select {
		case <-u.asked:
		case <-ctx.Done():
			u.expired.Add(1)
		}
		return acquirer.Response{}, acquirer.ErrUnknown
	}
	close(u.asked)
	return acquirer.Response{Approved: true, Released: true, Amount: about.Amount}, nil
}

func (*hanging) ForPayment(context.Context, int64, string, acquirer.Method) ([]acquirer.Account, error) {
	return nil, acquirer.ErrNoAccount
}

func (u *hanging) Account(_ context.Context, _, account int64) (acquirer.Account, error) {
	if account == u.id {
		return acquirer.Account{ID: account, Acquirer: u}, nil
	}
	return acquirer.Account{ID: account, Acquirer: u.other}, nil
}

// TestAccountThatHangs: an account that does not respond delays no step of another account.
func TestAccountThatHangs(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	good := &hanging{Acquirer: s.Acquirer, id: coretest.LiveAccount, asked: make(chan struct{})}
	good.other = &hanging{Acquirer: s.Acquirer, id: otherAccount, asked: good.asked}
	s.Engine.Live = good
	now := s.Clock.Now()
	const merchants = 240
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		for i := range int64(merchants + 1) {
			account := int64(otherAccount)
			if i == merchants {
				account = coretest.LiveAccount
			}
			if err := tx.InsertReversal(&payment.Reversal{
				Step:   payment.StepID{Kind: payment.AuthorizeStep, Transaction: 1000 + i},
				Tenant: payment.Tenant{Merchant: 5000 + i, Live: true}, Amount: 100, Currency: "usd", Captured: true,
				Since: now, DueAt: now, Account: account, Tag: "t",
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Engine.NewRecovery().CatchUp(t.Context(), programtest.Patience); err != nil {
		t.Error(err)
	}
	if got := good.other.expired.Load(); got > 0 {
		t.Errorf("%d inquiries hung to their end before the other account had one", got)
	}
}

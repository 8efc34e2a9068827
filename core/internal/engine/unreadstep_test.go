package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
)

// searching is an acquirer that only searches for repeated captures and refunds.
type searching struct {
	*coretest.Acquirer
	prepared func()
	sent     int
}

func (a *searching) Prepare(ctx context.Context) (string, error) {
	if a.prepared != nil {
		a.prepared()
	}
	return a.Acquirer.Prepare(ctx)
}

func (a *searching) Capture(ctx context.Context, f acquirer.Follow) (acquirer.Response, error) {
	if f.Again {
		return acquirer.Response{}, acquirer.ErrUnknown
	}
	a.sent++
	return a.Acquirer.Capture(ctx, f)
}

func (a *searching) Refund(ctx context.Context, f acquirer.Follow) (acquirer.Response, error) {
	if f.Again {
		return acquirer.Response{}, acquirer.ErrNotListed
	}
	a.sent++
	return a.Acquirer.Refund(ctx, f)
}

func (a *searching) Account(context.Context, int64, int64) (acquirer.Account, error) {
	return acquirer.Account{ID: coretest.LiveAccount, Acquirer: a}, nil
}

func (a *searching) ForPayment(context.Context, int64, string, acquirer.Method) ([]acquirer.Account, error) {
	return []acquirer.Account{{ID: coretest.LiveAccount, Acquirer: a}}, nil
}

// TestUnreadStepIsNotSent: the store does not read the payment between the intent of a capture or
// refund and its first request. The step ends as not sent, and a retry is a first request.
func TestUnreadStepIsNotSent(t *testing.T) {
	t.Parallel()
	for name, refund := range map[string]bool{"capture": false, "refund": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			a := &searching{Acquirer: s.Acquirer}
			s.Engine.Live = a
			txn := mustPayByCard(t, s, 100, refund)
			good := s.Texts(t, "SELECT result FROM transactions")[0]
			take := func() (engine.Result, error) {
				if refund {
					return s.Engine.Refund(t.Context(), s.Request("k"), txn, 0, 40, []byte("{}"))
				}
				return s.Engine.Capture(t.Context(), s.Request("k"), txn, 100, true, nil)
			}
			a.prepared = func() { s.MustExec(t, "UPDATE transactions SET result = '{'") }
			if got, err := take(); !errors.Is(err, engine.ErrAcquirerUnavailable) || a.sent != 0 {
				t.Errorf("got %d %s, %v and %d requests, want %v", got.Status, got.Body, err, a.sent, engine.ErrAcquirerUnavailable)
			}
			a.prepared = nil
			s.MustExec(t, "UPDATE transactions SET result = ?", good)
			if got, err := take(); err != nil || got.Status != 201 || a.sent != 1 {
				t.Errorf("a retry: got %d %s, %v and %d requests, want a first request", got.Status, got.Body, err, a.sent)
			}
		})
	}
}

// TestUnreadVoidIsNotSent: the store does not read the captures of a void before its first request.
func TestUnreadVoidIsNotSent(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	txn := mustPayByCard(t, s, 100, false)
	mustCaptureOf(t, s, txn, 100)
	payment := MustTransaction(t, s)
	s.MustExec(t, "ALTER TABLE captures RENAME TO unread")
	err := s.Engine.FirstVoid(t.Context(), payment, s.Acquirer)
	if got := len(s.Acquirer.Calls(coretest.Void)); !errors.Is(err, acquirer.ErrUnavailable) || got != 0 {
		t.Errorf("got %v and %d requests, want %v", err, got, acquirer.ErrUnavailable)
	}
}

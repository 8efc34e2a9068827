package engine_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

func TestAcquirerUnavailable(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for mode, open := range modes() {
			t.Run(st.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := open(t)
				txn := st.MustPrepare(t, s)
				s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); !errors.Is(err, engine.ErrAcquirerUnavailable) {
					t.Fatalf("got %d, %v, want %v", a.Status, err, engine.ErrAcquirerUnavailable)
				}
				st.wantUndone(t, s)
				if got := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys"); got != 0 {
					t.Error("the key is still taken")
				}
				heal(s)
				st.wantResponse(t, s, st.success, false)
				st.wantDone(t, s)
			})
		}
	}
}

func TestLostResponse(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for _, after := range []bool{false, true} {
			name := map[bool]string{false: " before the effect", true: " after the effect"}[after]
			for mode, open := range modes() {
				t.Run(mode+" "+st.name+name, func(t *testing.T) {
					t.Parallel()
					s := open(t)
					txn := st.MustPrepare(t, s)
					lose(s, st.verb, after, nil)
					a, err := st.take(t.Context(), s, s.Request("k"), txn)
					if err != nil || a.Status != 504 {
						t.Fatalf("got %d, %v, want 504", a.Status, err)
					}
					if _, err := st.take(t.Context(), s, s.Request("k"), txn); !errors.Is(err, engine.ErrKeyInUse) {
						t.Errorf("meanwhile: got %v, want %v", err, engine.ErrKeyInUse)
					}
					if st.authorizes() && MustTransaction(t, s).Status != payment.Unknown {
						t.Errorf("status: got %s, want unknown", MustTransaction(t, s).Status)
					}
					heal(s)
					if open := s.Recover(t); open != 0 {
						t.Fatalf("%d stay open", open)
					}
					if st.authorizes() && !after {
						if got := MustTransaction(t, s); got.Status != payment.Failed {
							t.Errorf("status: got %s, want failed", got.Status)
						}
						wantSettledBooks(t, s)
						first := st.success // the key is free, so this is a first request
						if !st.makes {
							first = http.StatusConflict // the payment has ended
						}
						st.wantResponse(t, s, first, false)
						return
					}
					st.wantDone(t, s)
					st.wantResponse(t, s, st.success, true)
				})
			}
		}
	}
}

// TestRecoveryCommitsFirst: recovery has already committed an outcome when the request writes its
// own.
func TestRecoveryCommitsFirst(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			once := false
			recoverAll := recoversAll(t, s)
			s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
				if c.Verb != st.verb || once {
					return nil
				}
				once = true
				recoverAll()
				return nil
			}
			a, err := st.take(t.Context(), s, s.Request("k"), txn)
			if err != nil || a.Status != 504 && a.Status != st.success {
				t.Errorf("got %d, %v: %s", a.Status, err, a.Body)
			}
			st.wantDone(t, s)
			st.wantResponse(t, s, st.success, true)
		})
	}
}

// TestCallerHangsUp: a client that disconnects does not stop a payment half-way.
func TestCallerHangsUp(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			s.Acquirer.Before = func(ctx context.Context, _ coretest.Call) error {
				hangUp()
				if _, bounded := ctx.Deadline(); !bounded {
					t.Error("the call has no deadline")
				}
				return ctx.Err()
			}
			if a, err := st.take(ctx, s, s.Request("k"), txn); err != nil || a.Status != st.success {
				t.Errorf("got %d, %v", a.Status, err)
			}
			st.wantDone(t, s)
		})
	}
}

// TestAcquirerApprovesAnotherAmount: an impossible response decides nothing.
func TestAcquirerApprovesAnotherAmount(t *testing.T) {
	t.Parallel()
	for _, amount := range []int64{-1, 0, 101} {
		s := coretest.Open(t)
		s.Engine.Test = overrule{s.Acquirer, amount}
		if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
			t.Errorf("%d: got %d, %v, want 504", amount, a.Status, err)
		}
		if got := s.Recover(t); got != 1 {
			t.Errorf("%d: %d stay open, want 1", amount, got)
		}
		if got := MustTransaction(t, s); !got.Status.Open() || got.Authorized != 0 {
			t.Errorf("%d: got %s authorized %d", amount, got.Status, got.Authorized)
		}
	}
}

// overrule approves another amount than the requested one.
type overrule struct {
	acquirer.Acquirer
	amount int64
}

func (o overrule) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	a, err := o.Acquirer.Authorize(ctx, r)
	a.Amount = o.amount
	return a, err
}

func (o overrule) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	a, err := o.Acquirer.Inquire(ctx, about)
	a.Amount = o.amount
	return a, err
}

// TestOnlyWhatWaitsExpires: an authorization expires, and its capture does not.
func TestOnlyWhatWaitsExpires(t *testing.T) {
	t.Parallel()
	for _, capture := range []bool{false, true} {
		s := coretest.Open(t)
		if a, err := s.Pay(t.Context(), s.Request(""), 100, capture); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		if got := MustTransaction(t, s).Result.ExpiresAt; got.IsZero() != capture {
			t.Errorf("captured %t: expires at %s", capture, got)
		}
	}
}

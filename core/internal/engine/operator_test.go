package engine_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustOperator makes an operator token, and returns it with a request under it.
func mustOperator(t *testing.T, s *coretest.Service) (token int64, r engine.Request) {
	t.Helper()
	o := payment.OperatorToken{ID: s.IDs.Next(), Name: "alice", Role: auth.RoleOperator, CreatedAt: s.Clock.Now()}
	auth.MintOperator(coretest.Roots(), &o)
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertOperator(&o) }); err != nil {
		t.Fatal(err)
	}
	r = operatorRequest(s)
	r.Actor.Token = o.ID
	return o.ID, r
}

// TestNoStoredResponseUnderAnEndedToken: an operator token is revoked. A retry under the revoked
// token does not get the stored response with another token, by any path.
func TestNoStoredResponseUnderAnEndedToken(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	token, r := mustOperator(t, s)
	r.Key, r.Fingerprint = "k", []byte("fingerprint")
	create := func(ctx context.Context) (engine.Result, error) {
		return s.Engine.CreateOperator(ctx, r, payment.OperatorToken{Name: "bob", Role: auth.RoleOperator})
	}
	paths := map[string]func(context.Context) (engine.Result, error){
		"retry":          create,
		"refused":        func(ctx context.Context) (engine.Result, error) { return s.Engine.StoredResponseInTurn(ctx, r) },
		"without a turn": func(ctx context.Context) (engine.Result, error) { return s.Engine.StoredResponse(ctx, r) },
	}
	if a, err := create(t.Context()); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v, want 201", a.Status, a.Body, err)
	}
	for name, path := range paths {
		if a, err := path(t.Context()); err != nil || !a.Replayed {
			t.Errorf("%s: got %+v, %v, want the stored response", name, a, err)
		}
	}
	if _, err := s.Engine.RevokeOperator(t.Context(), r, token); err != nil { // a token can revoke itself
		t.Fatal(err)
	}
	for name, path := range paths {
		if a, err := path(t.Context()); !errors.Is(err, payment.ErrOperatorEnded) {
			t.Errorf("%s under a revoked token: got %+v, %v, want %v", name, a, err, payment.ErrOperatorEnded)
		}
	}
	if _, err := s.Engine.RevokeOperator(t.Context(), r, token); !errors.Is(err, payment.ErrOperatorEnded) {
		t.Errorf("a revocation under a revoked token: got %v, want %v", err, payment.ErrOperatorEnded)
	}
}

// TestRevocationWaitsForItsOperatorsCommandPostgreSQL: a command under an operator token waits for
// a merchant's row while the token is revoked. It has no effect after the revocation has returned.
func TestRevocationWaitsForItsOperatorsCommandPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	token, r := mustOperator(t, s)
	held, err := s.Database.MustInspect(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Rollback() }) // it changed nothing
	if _, err := held.ExecContext(t.Context(), "SELECT id FROM merchants WHERE id = ? FOR UPDATE", s.Tenant.Merchant); err != nil {
		t.Fatal(err)
	}
	waiting := func() int64 {
		return s.Number(t, `SELECT COUNT(*) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND application_name = 'causeway-core' AND datname = current_database()`)
	}
	disabled, revoked := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.Engine.DisableMerchant(t.Context(), r, s.Tenant.Merchant, true)
		disabled <- err
	}()
	for waiting() < 1 {
		runtime.Gosched()
	}
	go func() {
		_, err := s.Engine.RevokeOperator(t.Context(), engine.Request{}, token)
		revoked <- err
	}()
	for len(revoked) == 0 && waiting() < 2 {
		runtime.Gosched()
	}
	early := len(revoked) > 0
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-revoked; err != nil {
		t.Errorf("revoke: got %v", err)
	}
	if err := <-disabled; early && err == nil {
		t.Error("a command had an effect after the revocation of its token had returned")
	} else if err != nil && !errors.Is(err, payment.ErrOperatorEnded) { // a pass may have waited instead of the command
		t.Errorf("the command before the revocation: got %v", err)
	}
}

// TestTokensThatRevokeEachOther: at most one of two revocations has an effect, and neither fails
// for another reason.
func TestTokensThatRevokeEachOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range coretest.Races(10) {
		one, byOne := mustOperator(t, s)
		two, byTwo := mustOperator(t, s)
		first, second := make(chan error, 1), make(chan error, 1)
		revoke := func(r engine.Request, token int64, done chan<- error) {
			_, err := s.Engine.RevokeOperator(t.Context(), r, token)
			done <- err
		}
		go revoke(byOne, two, first)
		go revoke(byTwo, one, second)
		a, b := <-first, <-second
		if (a == nil) == (b == nil) || a != nil && !errors.Is(a, payment.ErrOperatorEnded) || b != nil && !errors.Is(b, payment.ErrOperatorEnded) {
			t.Errorf("got %v and %v, want one success and one %v", a, b, payment.ErrOperatorEnded)
		}
	}
	if !coretest.Shared() {
		return
	}
	if got := s.DB.Stats().RolledBack["deadlock"]; got != 0 {
		t.Errorf("deadlocks: got %d, want none", got)
	}
}

package auth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustOperator stores an auditor's token that ends after a day.
func mustOperator(t *testing.T, s *coretest.Service, roots *root.Ring) (id int64, token string) {
	t.Helper()
	o := payment.OperatorToken{
		ID: s.IDs.Next(), Name: "ann", Role: auth.RoleAuditor,
		CreatedAt: s.Clock.Now(), ExpiresAt: s.Clock.Now().Add(24 * time.Hour),
	}
	token = auth.MintOperator(roots, &o).Reveal()
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertOperator(&o) }); err != nil {
		t.Fatal(err)
	}
	return o.ID, token
}

// TestOperatorRowOfAnotherProgram: a token is refused if another program has made or changed its
// row, until the row is as it was.
func TestOperatorRowOfAnotherProgram(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	a := auth.New(s.DB, s.Clock, coretest.Roots())
	id, token := mustOperator(t, s, coretest.Roots())
	before := mustRead(t, a, token)
	if before.ID != id || before.Name != "ann" || before.Role != auth.RoleAuditor {
		t.Errorf("got %+v", before)
	}
	for _, change := range []string{
		"role = 'operator'", "name = 'eve'", "expires_at = 0", "created_at = created_at + 1",
	} {
		s.MustExec(t, "UPDATE operators SET "+change+" WHERE id = ?", id)
		wantNoOperator(t, a, token, change)
		s.MustExec(t, "UPDATE operators SET role = ?, name = ?, expires_at = ?, created_at = ?, hash = ? WHERE id = ?",
			before.Role, before.Name, before.ExpiresAt.UnixMilli(), before.CreatedAt.UnixMilli(), before.Hash, id)
		mustRead(t, a, token)
	}
	_, otherToken := mustOperator(t, s, coretest.Roots())
	other := mustRead(t, a, otherToken)
	s.MustExec(t, "UPDATE operators SET hash = ? WHERE id = ?", before.Hash, other.ID)
	wantNoOperator(t, a, otherToken, "the hash of another row")
	s.MustExec(t, "UPDATE operators SET hash = ? WHERE id = ?", other.Hash, other.ID)
	mustRead(t, a, otherToken)
	set, err := root.New(coretest.Birth)
	if err != nil {
		t.Fatal(err)
	}
	_, forged := mustOperator(t, s, root.Of(set, s.Clock))
	wantNoOperator(t, a, forged, "a row under another key")
	for _, wrong := range []string{"", "op_", token[:operatorIDLength], token + "x", "x" + token} {
		wantNoOperator(t, a, wrong, wrong)
	}
	mustRevoke(t, s, other.ID)
	s.MustExec(t, "UPDATE operators SET revoked_at = 0 WHERE id = ?", other.ID)
	wantNoOperator(t, a, otherToken, "after its revocation was removed")
	s.Clock.Advance(24 * time.Hour)
	wantNoOperator(t, a, token, "at its end")
}

// mustRevoke revokes an operator token.
func mustRevoke(t *testing.T, s *coretest.Service, id int64) {
	t.Helper()
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		_, _, err := tx.RevokeOperator(0, id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

const operatorIDLength = 16

func mustRead(t *testing.T, a *auth.Authenticator, token string) *payment.OperatorToken {
	t.Helper()
	o, err := a.Operator(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func wantNoOperator(t *testing.T, a *auth.Authenticator, token, what string) {
	t.Helper()
	if o, err := a.Operator(t.Context(), token); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("%s: got %+v, %v, want %v", what, o, err, payment.ErrNotFound)
	}
}

// TestOperatorTokensOutliveARotation: a rotation of the root secret and the end of its older
// version end no token.
func TestOperatorTokensOutliveARotation(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	set, err := root.New(s.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, token := mustOperator(t, s, root.Of(set, s.Clock))
	if set, err = set.Rotated(s.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	mustRead(t, auth.New(s.DB, s.Clock, root.Of(set, s.Clock)), token)
	if set, err = set.Dropped(set.Newest().From.Add(root.Overlap)); err != nil {
		t.Fatal(err)
	}
	mustRead(t, auth.New(s.DB, s.Clock, root.Of(set, s.Clock)), token)
}

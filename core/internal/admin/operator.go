package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// CreateOperator creates an operator token that never expires if expires is zero. The token is
// returned once and never again.
func (a *Admin) CreateOperator(ctx context.Context, name, role string, expires time.Time) (secret.String, error) {
	if err := checkText("operator's name", name); err != nil {
		return secret.String{}, err
	}
	var until *v1.Time
	if !expires.IsZero() {
		until = &v1.Time{Time: expires}
	}
	made, err := operator.TokenCreate{Name: name, Role: operator.Role(role), ExpiresAt: until}.Token(a.dir.Clock.Now())
	if err != nil {
		return secret.String{}, err
	}
	var token secret.String
	err = a.act(ctx, "operators.create", "", func(r engine.Request) error {
		result, err := a.engine().CreateOperator(ctx, r, made)
		token = result.Credential
		return err
	})
	return token, err
}

// RevokeOperator ends an operator token, opr_…, immediately.
func (a *Admin) RevokeOperator(ctx context.Context, token string) error {
	n, err := id.Parse(id.Operator, token)
	if err != nil {
		return fmt.Errorf("want the id of an operator token: see core operators list: %w", err) // the argument may be a token
	}
	return a.act(ctx, "operators.revoke", token, func(r engine.Request) error {
		_, err := a.engine().RevokeOperator(ctx, r, n)
		if errors.Is(err, payment.ErrNotFound) {
			return fmt.Errorf("operator token %s does not exist: see core operators list", token)
		}
		return err
	})
}

// ListOperators returns all operator tokens, oldest first, ended tokens included.
func (a *Admin) ListOperators(ctx context.Context) ([]operator.Token, error) {
	found, err := a.db.Operators(ctx)
	if err != nil {
		return nil, fmt.Errorf("list operators: %w", err)
	}
	out := make([]operator.Token, 0, len(found))
	for _, o := range found {
		out = append(out, api.ShowOperator(o, a.dir.Clock.Now()))
	}
	return out, nil
}

package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// filterTokenVariable is the environment variable of the filter token; with _FILE behind it, one
// that names a file.
const filterTokenVariable = "CAUSEWAY_FILTER_TOKEN"

// minToken is how many characters 32 random bytes have at least, in base64 without padding.
const minToken = 43

// FilterToken reads the token that mle-filter and the edge send to the operator's API, from
// CAUSEWAY_FILTER_TOKEN or the file that CAUSEWAY_FILTER_TOKEN_FILE names. Its role is
// filter-identify. Returns zero if neither is set.
func FilterToken(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, filterTokenVariable)
}

// checkToken refuses a token that could be guessed, or not be sent.
func checkToken(name string, token secret.String) error {
	text := token.Reveal()
	if text == "" {
		return nil
	}
	if len(text) < minToken {
		return fmt.Errorf("the %s has %d characters: want 32 random bytes, such as `openssl rand -base64 32` gives", name, len(text))
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return fmt.Errorf("the %s has a character that is not printable ASCII", name)
		}
	}
	return nil
}

// The roles of operator tokens.
const (
	RoleOperator = auth.RoleOperator // everything
	RoleAuditor  = auth.RoleAuditor  // reads everything, the audit record included
	RoleFilter   = auth.RoleFilter   // identifies API keys and sends announcements: mle-filter and the edge
)

// OperatorToken is an operator token as the operator's API shows it.
type OperatorToken = operator.Token

// CreateOperator makes an operator token that never expires if expires is zero. The token is
// returned once and never again.
func (a *Admin) CreateOperator(ctx context.Context, name, role string, expires time.Time) (secret.String, error) {
	if err := checkText("operator's name", name); err != nil {
		return secret.String{}, err
	}
	var until *v1.Time
	if !expires.IsZero() {
		until = &v1.Time{Time: expires}
	}
	made, err := api.NewOperator(name, operator.Role(role), until, a.cfg.Clock.Now())
	if err != nil {
		return secret.String{}, fmt.Errorf("operator %q with the role %q: want a name of 1 to 100 characters, a role that is %s, %s or %s, and an end in the future",
			name, role, RoleOperator, RoleAuditor, RoleFilter)
	}
	var token secret.String
	err = a.act(ctx, "operators.create", "", func(r engine.Request) error {
		result, err := a.engine().CreateOperator(ctx, r, made)
		token = result.Credential
		return err
	})
	return token, err
}

// RevokeOperator ends an operator token, opr_…, at once.
func (a *Admin) RevokeOperator(ctx context.Context, token string) error {
	n, err := id.Parse(id.Operator, token)
	if err != nil {
		return fmt.Errorf("this is not the id of an operator token: %w", err) // it may be a token itself: it is not repeated
	}
	return a.act(ctx, "operators.revoke", token, func(r engine.Request) error {
		_, err := a.engine().RevokeOperator(ctx, r, n)
		if errors.Is(err, engine.ErrNotFound) {
			return fmt.Errorf("there is no operator token %s", token)
		}
		return err
	})
}

// ListOperators returns all operator tokens, oldest first, those that ended included.
func (a *Admin) ListOperators(ctx context.Context) ([]OperatorToken, error) {
	found, err := a.db.Operators(ctx)
	if err != nil {
		return nil, fmt.Errorf("list operators: %w", err)
	}
	out := make([]OperatorToken, 0, len(found))
	for _, o := range found {
		out = append(out, api.ShowOperator(o, a.cfg.Clock.Now()))
	}
	return out, nil
}

package api

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (o *Operator) listOperators(w http.ResponseWriter, r *http.Request, _ *trail) error {
	if _, err := query(r); err != nil {
		return err
	}
	found, err := o.Store.Operators(r.Context())
	if err != nil {
		return err
	}
	out := operator.TokenList{Object: "list", Data: make([]operator.Token, 0, len(found))}
	for _, one := range found {
		out.Data = append(out.Data, ShowOperator(one, o.Clock.Now()))
	}
	o.write(w, r, http.StatusOK, encode(&out))
	return nil
}

func (o *Operator) createOperator(c *call, left *trail) (engine.Result, error) {
	c.show = func(out *engine.Result) error { left.operator = resourceOf(out.Body); return nil }
	var in operator.TokenCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	made, err := in.Token(o.Clock.Now())
	if err != nil {
		return engine.Result{}, err
	}
	return o.Engine.CreateOperator(c.Context(), c.request, made)
}

func (o *Operator) revokeOperator(w http.ResponseWriter, r *http.Request, left *trail) error {
	n, err := pathID(r, id.Operator)
	if err != nil {
		return err
	}
	left.operator = id.Format(id.Operator, n)
	if _, err := query(r); err != nil {
		return err
	}
	revoked, err := o.Engine.RevokeOperator(r.Context(), engine.Request{ID: httpx.RequestIDFrom(r.Context()), Actor: o.actor(r)}, n)
	if err != nil {
		return err
	}
	shown := ShowOperator(revoked, o.Clock.Now())
	o.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

// ShowOperator shows the state of an operator token at a time.
func ShowOperator(o *payment.OperatorToken, now time.Time) operator.Token {
	status := operator.TokenActive
	switch {
	case !o.RevokedAt.IsZero():
		status = operator.TokenRevoked
	case !o.Valid(now):
		status = operator.TokenExpired
	}
	return operator.Token{
		ID: id.Format(id.Operator, o.ID), Object: operator.ObjectToken, Name: o.Name, Role: operator.Role(o.Role), Status: status,
		CreatedAt: v1.Time{Time: o.CreatedAt}, ExpiresAt: optionalTime(o.ExpiresAt), RevokedAt: optionalTime(o.RevokedAt),
	}
}

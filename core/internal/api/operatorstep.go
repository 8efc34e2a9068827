package api

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const stepsPath = operator.Root + "/steps"

// listSteps lists unfinished steps and pending reversals, oldest first.
func (o *Operator) listSteps(w http.ResponseWriter, r *http.Request, _ *trail) error {
	q, err := query(r, "kind", "merchant", "limit", "starting_after")
	if err != nil {
		return err
	}
	n, err := limit(q)
	if err != nil {
		return err
	}
	f, err := o.unfinishedFilter(r, q)
	if err != nil {
		return err
	}
	found, err := o.Store.UnfinishedSteps(r.Context(), f, n+1)
	if err != nil {
		return err
	}
	steps := payment.List[payment.Unfinished]{Rows: found[:min(n, len(found))], More: len(found) > n}
	show := func(u payment.Unfinished) operator.UnfinishedStep { return ShowStep(&u, nil) }
	o.write(w, r, http.StatusOK, showList(payment.Page{}, steps, show))
	return nil
}

func (o *Operator) unfinishedFilter(r *http.Request, q url.Values) (f payment.UnfinishedFilter, err error) {
	if f.Kind = payment.StepKind(q.Get("kind")); q.Has("kind") && !slices.Contains(payment.ListedKinds(), f.Kind) {
		return f, &fault{code: codeInvalidValue, param: "kind", message: "The kind must be authorize, void, capture, refund, credit or reversal."}
	}
	if q.Has("merchant") {
		if f.Merchant, err = id.Parse(id.Merchant, q.Get("merchant")); err != nil {
			return f, &fault{code: codeInvalidValue, param: "merchant", message: "The value must be the id of a merchant, such as mer_0123456789abc."}
		}
	}
	if !q.Has("starting_after") {
		return f, nil
	}
	after, err := o.step(r, q.Get("starting_after"))
	if err != nil {
		return f, &fault{code: codeInvalidCursor, param: "starting_after"}
	}
	f.After = *after
	return f, nil
}

// step reads an unfinished step by its name. It returns payment.ErrNotFound if there is none.
func (o *Operator) step(r *http.Request, name string) (*payment.Unfinished, error) {
	f, err := engine.ParseStep(name)
	if err != nil {
		return nil, payment.ErrNotFound
	}
	found, err := o.Store.UnfinishedSteps(r.Context(), f, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, payment.ErrNotFound
	}
	return &found[0], nil
}

func (o *Operator) getStep(w http.ResponseWriter, r *http.Request, _ *trail) error {
	if _, err := query(r); err != nil {
		return err
	}
	name, err := pathSegment(r, "id")
	if err != nil {
		return err
	}
	u, err := o.step(r, name)
	if err != nil {
		return err
	}
	shown := ShowStep(u, nil)
	o.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

// resolveStep ends an unfinished step as the operator decides.
func (o *Operator) resolveStep(c *call, left *trail) (engine.Result, error) {
	name, err := pathSegment(c.Request, "id")
	if err != nil {
		return engine.Result{}, err
	}
	f, err := engine.ParseStep(name)
	if err != nil {
		return engine.Result{}, payment.ErrNotFound
	}
	left.step = name
	var in operator.StepResolve
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	d, err := in.Resolution()
	if err != nil {
		return engine.Result{}, err
	}
	out, err := o.Engine.ResolveStep(c.Context(), c.request, f, d)
	switch {
	case errors.Is(err, engine.ErrStepRunning):
		return out, &fault{code: payment.OperationInProgress, message: "An attempt at the step may be in progress. Retry in a minute."}
	case errors.Is(err, engine.ErrOutdated):
		return out, &fault{code: codeInvalidValue, param: "as_of", message: "Recovery has attempted the step since then, and may have ended it at the acquirer. Read the acquirer's records again."}
	case errors.Is(err, engine.ErrDecision):
		return out, &fault{code: codeInvalidValue, param: "outcome", message: "The outcome of a pending reversal must be released; of every other step, approved, declined or no_effect."}
	}
	return out, err
}

// ShowStep shows an unfinished step as the operator's API has it.
func ShowStep(u *payment.Unfinished, d *engine.Resolution) operator.UnfinishedStep {
	out := operator.UnfinishedStep{
		ID: engine.StepName(u.Step), Reference: engine.StepReference(u), Object: operator.ObjectStep,
		Kind: string(u.Kind()), Merchant: id.Format(id.Merchant, u.Tenant.Merchant), Mode: v1.ModeTest,
		Amount: u.Amount, Currency: u.Currency, Held: u.Held, Attempts: u.Attempts, Refused: u.Refused, Running: u.Running,
		LastError: u.LastError, Since: v1.Time{Time: u.Since}, AttemptedAt: optionalTime(u.BegunAt), NextAttemptAt: optionalTime(u.NextAt),
		ClientAddress: u.Client.Address, WaitsForOperator: d == nil && u.WaitsForOperator(),
	}
	if u.Client.APIKey != 0 {
		out.APIKey = id.Format(id.APIKey, u.Client.APIKey)
	}
	if u.Tenant.Live {
		out.Mode = v1.ModeLive
	}
	if u.Account != 0 {
		out.Account = id.Format(id.Account, u.Account)
	}
	if u.Transaction != 0 {
		out.Transaction = id.Format(id.Transaction, u.Transaction)
	}
	switch {
	case u.WaitsForOperator():
		out.NextAttemptAt = nil
	case u.DueAt.After(u.NextAt):
		out.NextAttemptAt = optionalTime(u.DueAt)
	}
	if d != nil {
		out.Outcome, out.Reason, out.AcquirerID, out.NextAttemptAt = string(d.Decision), d.Reason, d.AcquirerID, nil
	}
	return out
}

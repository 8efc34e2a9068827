package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// ErrNoStep reports that no such unfinished step exists. Recovery may have ended it.
var ErrNoStep = errors.New("the step does not exist, or it has ended: see core steps list")

// Steps returns requests to the acquirer without an outcome, and pending reversals, oldest first,
// at most limit. merchant is mer_… or "" for all. kind is authorize, void, capture, refund,
// credit, reversal or "" for all.
func (a *Admin) Steps(ctx context.Context, merchant, kind string, limit int) ([]operator.UnfinishedStep, error) {
	f := payment.UnfinishedFilter{Kind: payment.StepKind(kind)}
	if merchant != "" {
		n, err := id.Parse(id.Merchant, merchant)
		if err != nil {
			return nil, fmt.Errorf("merchant %q: %w", merchant, err)
		}
		f.Merchant = n
	}
	return a.steps(ctx, f, limit)
}

// Step returns one unfinished step by its name: txn_…, txn_…_2, void_…_…, cap_…, re_… or rev_…. It
// returns ErrNoStep if there is none.
func (a *Admin) Step(ctx context.Context, name string) (operator.UnfinishedStep, error) {
	f, err := engine.ParseStep(name)
	if err != nil {
		return operator.UnfinishedStep{}, fmt.Errorf("step %q: %w", name, err)
	}
	found, err := a.steps(ctx, f, 1)
	if err != nil {
		return operator.UnfinishedStep{}, err
	}
	if len(found) == 0 {
		return operator.UnfinishedStep{}, ErrNoStep
	}
	return found[0], nil
}

func (a *Admin) steps(ctx context.Context, f payment.UnfinishedFilter, limit int) ([]operator.UnfinishedStep, error) {
	found, err := a.db.UnfinishedSteps(ctx, f, limit)
	if err != nil {
		return nil, fmt.Errorf("list steps: %w", err)
	}
	out := make([]operator.UnfinishedStep, 0, len(found))
	for _, u := range found {
		out = append(out, api.ShowStep(&u, nil))
	}
	return out, nil
}

// ResolveStep ends an unfinished step, and returns it as it was.
func (a *Admin) ResolveStep(
	ctx context.Context, name string, in operator.StepResolve,
) (out operator.UnfinishedStep, err error) {
	f, err := engine.ParseStep(name)
	if err != nil {
		return out, fmt.Errorf("step %q: %w", name, err)
	}
	if err := checkText("reason", in.Reason); err != nil {
		return out, err
	}
	d, err := in.Resolution()
	if err != nil {
		return out, err
	}
	found, err := a.steps(ctx, f, 1)
	if err != nil {
		return out, err
	}
	if len(found) > 0 {
		out = found[0]
	}
	return out, a.act(ctx, "steps.resolve", name, func(r engine.Request) error {
		_, err := a.engine().ResolveStep(ctx, r, f, d)
		if errors.Is(err, payment.ErrNotFound) {
			return ErrNoStep
		}
		return err
	})
}

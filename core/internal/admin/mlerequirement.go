package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// AnnounceMLERequirement announces that from a date on, requests to endpoints such as
// "POST /v1/tokens" must be encrypted. It returns the id of the requirement.
func (a *Admin) AnnounceMLERequirement(ctx context.Context, endpoints []string, from time.Time) (string, error) {
	known := api.EncryptableEndpoints() //nolint:contextcheck // it names the routes and calls none
	for i, endpoint := range endpoints {
		if !slices.Contains(known, endpoint) {
			return "", fmt.Errorf("endpoint %q: want one of %s", endpoint, strings.Join(known, ", "))
		}
		if slices.Contains(endpoints[:i], endpoint) {
			return "", fmt.Errorf("endpoint %q: given twice", endpoint)
		}
	}
	var made string
	err := a.act(ctx, "mle_requirements.announce", "", func(r engine.Request) error {
		requirement, err := a.engine().AnnounceMLERequirement(ctx, r, endpoints, from)
		if err != nil {
			return err
		}
		made = id.Format(id.MLERequirement, requirement.ID)
		return nil
	})
	return made, err
}

// WithdrawMLERequirement withdraws a requirement, mlr_…, also one in force.
func (a *Admin) WithdrawMLERequirement(ctx context.Context, requirement string) error {
	n, err := id.Parse(id.MLERequirement, requirement)
	if err != nil {
		return fmt.Errorf("requirement %q: see core mle list: %w", requirement, err)
	}
	return a.act(ctx, "mle_requirements.withdraw", requirement, func(r engine.Request) error {
		err := a.engine().WithdrawMLERequirement(ctx, r, n)
		if errors.Is(err, payment.ErrNotFound) {
			return fmt.Errorf("requirement %s does not exist: see core mle list", requirement)
		}
		return err
	})
}

// ListMLERequirements returns all requirements, oldest first, including withdrawn ones.
func (a *Admin) ListMLERequirements(ctx context.Context) ([]v1.MLERequirement, error) {
	found, err := a.db.MLERequirements(ctx)
	if err != nil {
		return nil, fmt.Errorf("list requirements: %w", err)
	}
	out := make([]v1.MLERequirement, 0, len(found))
	for _, one := range found {
		out = append(out, api.ShowMLERequirement(one))
	}
	return out, nil
}

package providerb

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// mostFailures is how many requests in a row may fail before the reports end.
const mostFailures = 3

// settlements maps a status to its report. TRANSMITTED is in the batch that the provider has sent
// to the processor. Any other status can still settle.
var settlements = map[string]acquirer.SettlementState{
	"TRANSMITTED": acquirer.Settled,
	"REVERSED":    acquirer.SettlementFailed,
	"VOIDED":      acquirer.SettlementFailed,
	"CANCELLED":   acquirer.SettlementFailed,
	"DECLINED":    acquirer.SettlementFailed,
	"FAILED":      acquirer.SettlementFailed,
}

// Settled implements acquirer.Reporter. It reads the details of one operation after the other.
func (c *Connector) Settled(ctx context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
	out := make([]acquirer.Settlement, len(of))
	failures := 0
	for i, about := range of {
		var err error
		if out[i], err = c.settled(ctx, about); err == nil {
			failures = 0
			continue
		}
		if failures++; failures == mostFailures || ctx.Err() != nil {
			return out, err
		}
	}
	return out, nil
}

// settled returns the report of one operation. The error is of a request that failed.
func (c *Connector) settled(ctx context.Context, about acquirer.Sent) (acquirer.Settlement, error) {
	if !validID(about.ID) {
		return acquirer.Settlement{Reason: "no id"}, nil
	}
	response, err := c.get(ctx, about.ID)
	switch {
	case err != nil:
		return acquirer.Settlement{Reason: "no response"}, err
	case response.Status == http.StatusNotFound:
		return acquirer.Settlement{Reason: "not found"}, nil
	case response.Status != http.StatusOK:
		why := fmt.Sprintf("HTTP %d", response.Status)
		return acquirer.Settlement{Reason: why}, fmt.Errorf("provider-b: details: %w: %s", acquirer.ErrUnknown, why)
	}
	body, malformed := parse(response.Body)
	if malformed != nil || body.ID != about.ID {
		return acquirer.Settlement{Reason: "malformed response"}, nil //nolint:nilerr // it is a report
	}
	status := body.state()
	s := acquirer.Settlement{State: settlements[status], Reason: status}
	if _, known := states[status]; !known && !failed[status] {
		s.Reason = "another status"
	}
	n, missing := detailedAmount(body, about)
	if s.State == acquirer.Settled && (missing != nil || n != about.Amount) {
		s = acquirer.Settlement{State: acquirer.SettlementFailed, Reason: "another amount"}
	}
	return s, nil
}

// state returns the status of an operation in its details.
func (b *responseBody) state() string { return cmp.Or(b.Status, b.Application.Status) }

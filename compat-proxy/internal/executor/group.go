package executor

import (
	"context"
	"net/http"
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxGroupPages is the largest number of pages that are read of the payments with a group's
// reference. A page has 100 payments, and an order has a few.
const maxGroupPages = 5

// group is an order that several payments pay. The first was approved for less than the whole
// amount, and the others are for the rest.
type group struct {
	payments []v1.Transaction // the first payment comes first
}

// group reads the order whose first payment has that number. Without one it returns the result to
// give.
func (s session) group(ctx context.Context, n command.Number) (*group, command.Result) {
	first, r := s.target(ctx, n)
	switch {
	case first == nil && r.Outcome == command.NotFound:
		return nil, command.Result{Outcome: command.Unmet, Unmet: command.ConditionGroup}
	case first == nil:
		return nil, r
	case first.Metadata[command.GroupKey] != "" || first.AmountAuthorized == 0 || first.AmountAuthorized >= first.Amount:
		return nil, command.Result{Outcome: command.Unmet, Unmet: command.ConditionGroup}
	}
	g := &group{payments: []v1.Transaction{*first}}
	reference, limit := string(n), 100
	params := &v1.ListTransactionsParams{Reference: &reference, Limit: &limit}
	for range maxGroupPages {
		resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
			return s.x.client.API.ListTransactions(ctx, params, s.WithKey)
		})
		var page v1.TransactionList
		if r, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
			return nil, r
		}
		for i := range page.Data {
			if page.Data[i].Metadata[command.GroupKey] == reference {
				g.payments = append(g.payments, page.Data[i])
			}
		}
		if !page.HasMore || len(page.Data) == 0 {
			break
		}
		params.StartingAfter = &page.Data[len(page.Data)-1].ID
	}
	slices.Reverse(g.payments[1:]) // v1 lists the newest first
	return g, command.Result{}
}

// unpaid returns the unpaid amount of the order, and how much of it uncertain payments may pay.
// Both are 0 for a voided order.
func (g *group) unpaid() (unpaid, pending int64) {
	if !holdsMoney(&g.payments[0]) {
		return 0, 0
	}
	unpaid = g.payments[0].Amount
	for i := range g.payments {
		switch t := &g.payments[i]; {
		case !holdsMoney(t):
		case authorized(t).Outcome == command.Uncertain:
			pending += t.Amount
		default:
			unpaid -= t.AmountAuthorized
		}
	}
	return unpaid, pending
}

// endedStatuses are the final states in which a payment holds no money. An unknown outcome is not
// final.
var endedStatuses = []v1.TransactionStatus{
	v1.TransactionStatusVoided, v1.TransactionStatusDeclined, v1.TransactionStatusFailed, v1.TransactionStatusExpired,
	v1.TransactionStatusCanceled,
}

// holdsMoney reports whether a payment holds money, or may come to hold money, that a void would
// release.
func holdsMoney(t *v1.Transaction) bool { return !slices.Contains(endedStatuses, t.Status) }

// voidGroup voids every payment of an order. It stops at the first that cannot be voided, and a
// retry continues there.
func (s session) voidGroup(ctx context.Context, c command.VoidGroup) command.Result {
	g, r := s.group(ctx, c.First)
	if g == nil {
		return r
	}
	done := command.Result{Outcome: command.Refused, Code: v1.CodeNotVoidable, Transaction: &g.payments[0]}
	for i := range g.payments {
		t := &g.payments[i]
		again := s.named() && t.Status == v1.TransactionStatusVoided // maybe by an earlier request of the name
		if !again && !holdsMoney(t) {
			continue
		}
		key := s.x.cfg.NewKey()
		if s.named() {
			key = s.IdempotencyKey + "-" + t.ID
		}
		r := s.step(key).voidID(ctx, t.ID, nil)
		if again && r.Code == v1.CodeNotVoidable {
			continue
		}
		if r.Outcome != command.Done {
			return r
		}
		g.payments[i] = *r.Transaction
		done = command.Result{Outcome: command.Done, Status: r.Status, Transaction: &g.payments[0]}
	}
	done.Group = g.payments
	return done
}

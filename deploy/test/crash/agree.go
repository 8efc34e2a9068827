package crash

import (
	"context"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Agree holds the acquirer's journal against what v1 at base shows, for a load that was made by others, and returns what is wrong. The
// service must be idle. The place is that of Judge.
func Agree(ctx context.Context, place, base string, keys Keys) ([]string, error) {
	h := &Harness{keys: keys, api: newClient(keys.Secret)}
	h.Attach(base)
	j := &judge{h: h, ctx: ctx, captures: map[string][]v1.Capture{}}
	s, err := openShelf(ctx, place)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.db.Close() }() // it was only read
	if err := h.learnMerchant(ctx); err != nil {
		return nil, err
	}
	if j.journal, err = s.journal(ctx, h.merchant); err != nil {
		return nil, err
	}
	if j.transactions, err = listOf[v1.Transaction](ctx, h.api, "/v1/transactions", ""); err != nil {
		return nil, err
	}
	if j.refunds, err = listOf[v1.Refund](ctx, h.api, "/v1/refunds", ""); err != nil {
		return nil, err
	}
	if err := j.lookAtCaptures(); err != nil {
		return nil, err
	}
	err = j.acquirerAgrees()
	return j.faults, err
}

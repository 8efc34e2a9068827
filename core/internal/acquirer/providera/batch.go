package providera

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// batch is a batch of settled transactions.
type batch struct {
	id        string
	settledAt string // "" if it is not known
}

// complete reports whether the lists certainly have all rows of the batch.
func (b batch) complete(now time.Time) bool {
	at, err := time.Parse(time.RFC3339Nano, b.settledAt)
	return err == nil && now.Sub(at) >= lag
}

// batches returns the batches that were settled from a time on, oldest first, of longestBatchSpan
// at most.
func (c *Connector) batches(ctx context.Context, first, last time.Time) ([]batch, error) {
	if limit := first.Add(longestBatchSpan); last.After(limit) {
		last = limit
	}
	if !last.After(first) {
		return nil, nil
	}
	const method = "getSettledBatchList"
	d, err := c.read(ctx, method, batchListRequest{
		Login: c.login(), First: first.Format(time.RFC3339), Last: last.Format(time.RFC3339),
	})
	if err != nil || d.code() == codeNoRows {
		return nil, err
	}
	if !d.ok() {
		return nil, d.refusal(method)
	}
	if len(d.Batches) > mostBatches {
		return nil, contradiction("number of batches")
	}
	out := make([]batch, 0, len(d.Batches))
	for _, b := range d.Batches {
		id := number(b.ID)
		if id == "" {
			return nil, contradiction("batch")
		}
		out = append(out, batch{id, b.SettledAt.value})
	}
	slices.SortStableFunc(out, func(a, b batch) int { return cmp.Compare(a.settledAt, b.settledAt) })
	return out, nil
}

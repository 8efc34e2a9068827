package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// kinds are all there are.
var kinds = []Kind{
	Create, Confirm, Capture, Void, Refund, Settle, Expire, SettlementRun, ClockAdvance, TokenCreate, CustomerCreate, CustomerUpdate, CustomerDelete,
	MethodAttach, MethodDetach, KeyCreate, KeyRoll, KeyRevoke, EndpointCreate, EndpointUpdate, EndpointDelete, SecretRoll, EventRedelivery,
}

// Missing names the commands that were never acknowledged.
func (f Figures) Missing() []string {
	var out []string
	for _, k := range kinds {
		if f.ByKind[k] == 0 {
			out = append(out, string(k))
		}
	}
	return out
}

// String is the figures in one sentence.
func (f Figures) String() string {
	var each []string
	for _, k := range kinds {
		each = append(each, fmt.Sprintf("%s %d", k, f.ByKind[k]))
	}
	return fmt.Sprintf("%d commands acknowledged (%s); the crashes took %d answers: asked again under their key, %d had stood and %d were done then, "+
		"%d had no key; %d answers were replayed; %d lines of the acquirer's journal agreed; %d events; %d deliveries taken, %d of them again, "+
		"%d of those asked for, %d behind a newer one of their object", f.Commands, strings.Join(slices.Compact(each), ", "), f.Lost, f.Stood, f.Again, f.Unsure, f.Replays,
		f.Authorities, f.Events, f.Deliveries, f.Duplicates, f.Asked, f.Behind)
}

// Integrity asks the storage engine whether the store that a stopped process left in data is whole: "ok", or what is wrong.
func Integrity(ctx context.Context, data string) (string, error) {
	s, err := openShelf(ctx, data)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.db.Close() }() // it was only read
	return s.whole(ctx)
}

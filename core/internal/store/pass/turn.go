package pass

import "context"

// InTurn handles the rows of many tenants, a page of each in turn, so that no tenant waits for all
// rows of another. tenants returns the tenants with rows, before each round. page handles a page of
// a tenant and reports whether more rows are left. It handles only rows that were due at the
// tenant's first turn, or the pass would not end. The last round is the first one after which none
// has more. A tenant whose page fails is skipped, by the id of its merchant, and has no further
// turn.
func InTurn[T comparable](
	ctx context.Context, p *Pass, merchant func(T) int64,
	tenants func() ([]T, error), page func(T) (more bool, err error),
) error {
	failed := map[T]bool{}
	for more := true; more; {
		round, err := tenants()
		if err != nil {
			return err
		}
		more = false
		for _, t := range round {
			if failed[t] {
				continue
			}
			left, err := page(t)
			if err != nil {
				failed[t], left = true, false
			}
			if err := p.Skip(ctx, "merchant", merchant(t), err); err != nil {
				return err
			}
			more = more || left
		}
	}
	return nil
}

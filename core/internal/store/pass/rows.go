package pass

import (
	"context"
	"slices"
)

// commitBytes is about how many bytes one commit of a pass writes.
const commitBytes = 1 << 20

// Rows is how a pass changes rows of one kind.
type Rows[T any] struct {
	Kind string // of Skip
	ID   func(T) int64
	// Bytes returns how many bytes the change of a row writes. Nil if it writes few.
	Bytes func(T) int64
	// Change changes rows from the first one on in one commit, and returns how many, at least one. If
	// it returns an error, no row has changed.
	Change func(context.Context, []T) (int, error)
	// Refused records a skipped row that a later pass would not find. May be nil.
	Refused func(context.Context, T) error
}

// Do changes the rows in their order, as many in each commit as Change does. If a commit fails, it
// changes the first half and the second half in separate commits, and so on. So the rows that
// fail are skipped alone, at the cost of a few commits for each.
func (r Rows[T]) Do(ctx context.Context, p *Pass, rows []T) error {
	var err error
	for len(rows) > 0 && err == nil {
		var n int
		n, err = r.Change(ctx, r.part(rows))
		if err == nil {
			rows = rows[n:]
		}
	}
	if err == nil || p.ends(ctx, err) {
		return err
	}
	if len(rows) > 1 {
		for half := range slices.Chunk(rows, (len(rows)+1)/2) {
			if err := r.Do(ctx, p, half); err != nil {
				return err
			}
		}
		return nil
	}
	if err := p.Skip(ctx, r.Kind, r.ID(rows[0]), err); err != nil || r.Refused == nil {
		return err
	}
	return p.Skip(ctx, r.Kind, r.ID(rows[0]), r.Refused(ctx, rows[0]))
}

// part returns the first rows, of which the change writes commitBytes at most, or the first row
// alone.
func (r Rows[T]) part(rows []T) []T {
	if r.Bytes == nil {
		return rows
	}
	bytes := r.Bytes(rows[0])
	for i, row := range rows[1:] {
		if bytes += r.Bytes(row); bytes > commitBytes {
			return rows[:1+i]
		}
	}
	return rows
}

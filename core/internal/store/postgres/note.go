package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// noteAll writes down what the simulator was asked. It does not wait for the disk: see store.FirstSimulated.
const noteAll = `INSERT INTO simulator_requests (key, line, voided, at)
SELECT n.key, n.line, n.voided, $4::bigint FROM unnest($1::text[], $2::text[], $3::smallint[]) AS n (key, line, voided),
	(SELECT set_config('synchronous_commit', 'off', true)) AS off
ON CONFLICT DO NOTHING RETURNING key`

// Note implements store.grouper.
func (e *engine) Note(ctx context.Context, r store.Simulated) (first, done bool, err error) {
	return e.notes.do(ctx, e, r)
}

// writeNotes takes keys in their order, so that two groups never wait for each other. Of two equal ones, which a reference and its repetition are,
// neither can be told to be the first: both are left to be tried alone.
func (e *engine) writeNotes(ctx context.Context, now time.Time, asked []store.Simulated) ([]answer[bool], error) {
	out := make([]answer[bool], len(asked))
	order := make([]int, 0, len(asked))
	places := make(map[string]int, len(asked)) // -1 for those of equal ones
	for i, r := range asked {
		if _, again := places[r.Key]; again {
			i = -1
		}
		places[r.Key] = i
	}
	for i, r := range asked {
		if places[r.Key] == i {
			order = append(order, i)
			out[i].done = true
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(asked[a].Key, asked[b].Key) })
	scan := func(row pgx.Rows) error {
		var key string
		if err := row.Scan(&key); err != nil {
			return err
		}
		out[places[key]].is = true
		return nil
	}
	err := ask(ctx, e.group, scan, &pgx.QueuedQuery{SQL: noteAll, Arguments: []any{
		column(order, func(i int) string { return asked[i].Key }),
		column(order, func(i int) string { return asked[i].Line }),
		column(order, func(i int) int16 { return small(asked[i].Voided) }),
		now.UnixMilli(),
	}})
	if err != nil {
		return nil, fmt.Errorf("note simulated requests: %w", err)
	}
	return out, nil
}

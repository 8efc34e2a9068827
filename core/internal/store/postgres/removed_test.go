package postgres_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestRemovedPositionsPostgreSQL: a removal stores the position of its row. It deletes the two
// oldest stored positions of its table that are older than 60 days.
func TestRemovedPositionsPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	young, removed := b.ids.Next(), b.ids.Next()
	for _, c := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO merchants (id, name, created_at) VALUES (9, 'shop', 1)`, nil},
		{`INSERT INTO removed_positions
			SELECT 'webhook_endpoints', id, 1 FROM (VALUES (1), (2), (3), ($1::bigint)) AS old (id)`, []any{young}},
		{`INSERT INTO removed_positions VALUES ('transactions', 1, 1)`, nil},
		{`INSERT INTO webhook_endpoints
				(id, merchant_id, live, url, types, details, status, generation, created_at, updated_at, position)
			VALUES ($1, 9, 0, 'https://example.com', '*', '{}', 'deleted', 1, 1, 1, 42)`, []any{removed}},
		{`DELETE FROM webhook_endpoints WHERE id = $1`, []any{removed}},
	} {
		if _, err := b.raw.Exec(t.Context(), c.text, c.args...); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := b.raw.Query(t.Context(),
		"SELECT ARRAY[id, position] FROM removed_positions WHERE source = 'webhook_endpoints' ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[[]int64])
	if want := [][]int64{{3, 1}, {young, 1}, {removed, 42}}; err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

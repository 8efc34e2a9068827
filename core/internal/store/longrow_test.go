package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// scanCounting counts the rows of lists that are scanned.
type scanCounting struct {
	store.Engine
	rows int
}

// Page implements store.Engine.
func (c *scanCounting) Page(
	ctx context.Context, s *store.Statement, newer bool, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	return c.Engine.Page(ctx, s, newer, begin, func(row store.Scanner) error {
		return scan(countedRow{row, &c.rows})
	}, args...)
}

type countedRow struct {
	store.Scanner
	rows *int
}

// Scan implements store.Scanner.
func (r countedRow) Scan(dest ...any) error {
	*r.rows++
	return r.Scanner.Scan(dest...)
}

// TestPageOfLongRows: a page ends after about 1 MiB of rows, and then reports more rows. The pages
// together have every row once, in both directions. A page of exactly the last rows reports none.
func TestPageOfLongRows(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	count := &scanCounting{}
	s.DB.Wrap(func(e store.Engine) store.Engine { count.Engine = e; return count })
	const long, rows, limit, inPage = 250 << 10, 10, 100, 5
	for id := range int64(rows) {
		s.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
			VALUES (?, ?, 0, ?, 1, 0, 0)`, id+1, s.Tenant.Merchant, `{"metadata":{"text":"`+strings.Repeat("x", long)+`"}}`)
	}
	for name, older := range map[string]bool{"older": true, "newer": false} {
		var got []int64
		cursor := int64(rows + 1)
		if !older {
			cursor = 0
		}
		for more := true; more; {
			page := payment.Page{Limit: limit, After: cursor}
			if !older {
				page = payment.Page{Limit: limit, Before: max(cursor, 1)}
			}
			count.rows = 0
			l, err := s.DB.Customers(t.Context(), s.Tenant, payment.CustomerFilter{}, page)
			if err != nil || len(l.Rows) == 0 || count.rows > inPage {
				t.Fatalf("%s: got %d rows after %d scans, %v, want 1 to %d", name, len(l.Rows), count.rows, err, inPage)
			}
			if more = l.More; !older {
				slices.Reverse(l.Rows)
			}
			for _, c := range l.Rows {
				got = append(got, c.ID)
			}
			cursor = got[len(got)-1]
		}
		want := []int64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
		if !older {
			want = []int64{2, 3, 4, 5, 6, 7, 8, 9, 10}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

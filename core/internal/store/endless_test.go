package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// turnPasses are the passes that read the rows of tenants in turn.
var turnPasses = map[string]struct {
	tenants string // the statement that begins a round
	insert  string // n rows that are due at a time, with ids after one
	rows    int
	left    string
	pass    func(*testing.T, *coretest.Service) error
}{
	"expiry": {
		"selectExpiring",
		`INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method,
			amount_authorized, details, created_at, updated_at, expires_at)
			%s SELECT i + ?3, ?1, 0, 'authorized', 0, 100, 'usd', '', 100, '{}', 1, 1, ?4 FROM n`,
		600, "SELECT COUNT(*) FROM transactions WHERE status = 'authorized'",
		func(t *testing.T, s *coretest.Service) error {
			t.Helper()
			_, err := s.Engine.ExpireDue(t.Context())
			return err
		},
	},
	"erasure": {
		"selectErasing",
		`INSERT INTO customer_erasures (customer_id, merchant_id, live, deleted_at, due_at)
			%s SELECT i + ?3, ?1, 0, 1, ?4 FROM n`,
		120, "SELECT COUNT(*) FROM customer_erasures",
		func(t *testing.T, s *coretest.Service) error {
			t.Helper()
			_, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), 0, func(_ string, d []byte) []byte { return d })
			return err
		},
	},
}

// TestPassesEnd: rows of one merchant become due in each round of a pass, more than a round
// handles. The pass ends, so that the work behind it begins. The next pass handles these rows.
func TestPassesEnd(t *testing.T) {
	t.Parallel()
	const rounds = 10
	for name, c := range turnPasses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			s.Clock.Advance(365 * 24 * time.Hour)
			round := 0
			insert := fmt.Sprintf(c.insert, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)")
			watch(s).refuse = func(st *store.Statement, _ []any) error {
				if st.String() == c.tenants && round < rounds {
					round++
					s.MustExec(t, insert, s.Tenant.Merchant, c.rows, round*c.rows, s.Clock.Now().UnixMilli())
					s.Clock.Advance(time.Second)
				}
				return nil
			}
			if err := c.pass(t, s); err != nil || round == rounds {
				t.Fatalf("the first pass: %d rounds, %v; want its end", round, err)
			}
			round = rounds
			if err := errors.Join(c.pass(t, s), c.pass(t, s)); err != nil || s.Number(t, c.left) != 0 {
				t.Errorf("the next passes: %v, %d rows are left", err, s.Number(t, c.left))
			}
		})
	}
}

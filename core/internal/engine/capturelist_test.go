package engine_test

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// capturesBy returns the list of captures with a list filter, which depends on their transaction.
func capturesBy(filter func(of int64) payment.StepFilter) listed {
	return listed{
		of: insertPaymentOf,
		insert: func(tx *store.Tx, s *coretest.Service, n, of int64) (int64, error) {
			return n, tx.InsertCapture(&payment.Capture{
				ID: n, Transaction: of, Tenant: s.Tenant, State: payment.StepSucceeded, Amount: 1, Currency: "usd",
				Details: []byte("{}"), CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now(),
			})
		},
		list: func(ctx context.Context, s *coretest.Service, of int64, p payment.Page) ([]int64, error) {
			l, err := s.DB.Captures(ctx, s.Tenant, filter(of), p)
			return ids(l, err, captureID)
		},
	}
}

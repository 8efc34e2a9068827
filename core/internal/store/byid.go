package store

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// The statements that read many objects by their ids. Their parameters are the ids, as a JSON
// array, and the tenant. The rows are in the order of the ids.
var (
	selectTransactions = declare("selectTransactions")
	selectCaptures     = declare("selectCaptures")
	selectCustomers    = declare("selectCustomers")
	selectMethods      = declare("selectMethods")
	selectTokens       = declare("selectTokens")
)

// TransactionsByID reads transactions of the tenant. Like a list, it waits for the tenant's turn.
func (db *DB) TransactionsByID(
	ctx context.Context, tenant payment.Tenant, ids []int64,
) (payment.Found[*payment.Transaction], error) {
	return byID(ctx, db, tenant, selectTransactions, ids, scanTransaction,
		func(t *payment.Transaction) int64 { return t.ID })
}

// CapturesByID is TransactionsByID for captures.
func (db *DB) CapturesByID(
	ctx context.Context, tenant payment.Tenant, ids []int64,
) (payment.Found[*payment.Capture], error) {
	return byID(ctx, db, tenant, selectCaptures, ids, scanCapture, func(c *payment.Capture) int64 { return c.ID })
}

// CustomersByID is TransactionsByID for customers. It omits deleted ones.
func (db *DB) CustomersByID(
	ctx context.Context, tenant payment.Tenant, ids []int64,
) (payment.Found[*payment.Customer], error) {
	return byID(ctx, db, tenant, selectCustomers, ids, scanCustomer, func(c *payment.Customer) int64 { return c.ID })
}

// MethodsByID is TransactionsByID for payment methods. It omits detached ones.
func (db *DB) MethodsByID(
	ctx context.Context, tenant payment.Tenant, ids []int64,
) (payment.Found[*payment.Method], error) {
	return byID(ctx, db, tenant, selectMethods, ids, scanMethod, func(m *payment.Method) int64 { return m.ID })
}

// TokensByID is TransactionsByID for tokens, without their security codes.
func (db *DB) TokensByID(
	ctx context.Context, tenant payment.Tenant, ids []int64,
) (payment.Found[*payment.Token], error) {
	return byID(ctx, db, tenant, selectTokens, ids, scanToken, func(t *payment.Token) int64 { return t.ID })
}

// byID reads the rows of ids with the bounds of a list: its turn, its time and fullPage.
func byID[T any](
	ctx context.Context, db *DB, tenant payment.Tenant, s *Statement, ids []int64, scan func(Scanner) (T, error),
	of func(T) int64,
) (payment.Found[T], error) {
	wanted, err := json.Marshal(ids)
	if err != nil {
		return payment.Found[T]{}, err
	}
	var (
		out  payment.Found[T]
		last int64
		size int
	)
	begin := func() { out, size = payment.Found[T]{ByID: map[int64]T{}, Read: len(ids)}, 0 }
	err = db.inTurn(ctx, tenant, s, func(ctx context.Context) error {
		return db.engine.Each(ctx, Listing, s, begin, func(row Scanner) error {
			if size >= fullPage {
				out.Read = slices.Index(ids, last) + 1
				return ErrEnough
			}
			v, err := scan(measured{row, &size})
			if err == nil {
				last = of(v)
				out.ByID[last] = v
			}
			return err
		}, string(wanted), tenant.Merchant, tenant.Live)
	})
	return out, err
}

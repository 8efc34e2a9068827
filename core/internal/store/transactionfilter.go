package store

import (
	"context"
	"math"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// The conditions of all filters stand in one text, so that few statements are prepared. What names a customer or a reference is found by its
// terms; an index for each of the others would cost every payment.
const (
	transactionFilter = ` AND created_at > ?5 AND created_at < ?6
		AND (?7 = '' OR status = ?7) AND (?8 = '' OR currency = ?8) AND (?9 < 0 OR amount = ?9)
		AND (?10 = '' OR details ->> '$.customer' = ?10) AND (?11 = '' OR details ->> '$.reference' = ?11)
		AND (?12 = '' OR details ->> '$.card.fingerprint' = ?12)`
	filteredTransactions = `SELECT ` + transactionColumns + ` FROM transactions INDEXED BY transactions_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND id BETWEEN ?3 AND ?4` + transactionFilter
	namedTransactions = `SELECT ` + transactionColumns + ` FROM transaction_terms CROSS JOIN transactions ON id = transaction_id
		WHERE merchant = ?1 AND is_live = ?2 AND kind = ?13 AND term = ?14 AND transaction_id BETWEEN ?3 AND ?4
			AND merchant_id = ?1 AND live = ?2` + transactionFilter
)

// FilteredTransactions lists those of the tenant's transactions that the filter lets through, newest first.
func (db *DB) FilteredTransactions(ctx context.Context, tenant payment.Tenant, f payment.TransactionFilter, p payment.Page) (payment.List[*payment.Transaction], error) {
	if f == (payment.TransactionFilter{}) {
		return db.Transactions(ctx, tenant, p)
	}
	first, last, after, before, amount := int64(0), int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64), int64(-1)
	if !f.After.IsZero() {
		first, after = id.At(f.After.Add(-clockStep)), f.After.UnixMilli()
	}
	if !f.Before.IsZero() {
		last, before = id.At(f.Before.Add(clockStep)), f.Before.UnixMilli()
	}
	if f.Amount != nil {
		amount = *f.Amount
	}
	args := []any{
		tenant.Merchant, tenant.Live, first, last, after, before, string(f.Status), f.Currency, amount, f.Customer, f.Reference, f.CardFingerprint,
	}
	switch {
	case f.Reference != "": // fewer have it than have the customer
		return listBy(ctx, db, "transaction_id", namedTransactions, p, scanTransaction, append(args, termReference, f.Reference)...)
	case f.Customer != "":
		return listBy(ctx, db, "transaction_id", namedTransactions, p, scanTransaction, append(args, termCustomer, f.Customer)...)
	}
	return list(ctx, db, filteredTransactions, p, scanTransaction, args...)
}

package store

import (
	"cmp"
	"context"
	"math"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	listNamedTransactions    = declareList("listNamedTransactions")
	listFilteredTransactions = declareList("listFilteredTransactions")
	listTransactionsOfDay    = declareList("listTransactionsOfDay")
)

// entries returns the entries that a list filter selects by, as a JSON object.
func entries(f payment.MetadataFilter) string { return cmp.Or(string(f), "{}") }

// FilteredTransactions lists the tenant's transactions that match the filter, newest first.
func (db *DB) FilteredTransactions(
	ctx context.Context, tenant payment.Tenant, f payment.TransactionFilter, p payment.Page,
) (payment.List[*payment.Transaction], error) {
	if f == (payment.TransactionFilter{}) {
		return db.Transactions(ctx, tenant, p)
	}
	first, last := int64(0), int64(math.MaxInt64)
	after, before, amount := int64(math.MinInt64), int64(math.MaxInt64), int64(-1)
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
		tenant.Merchant, tenant.Live, first, last, after, before, f.Statuses, f.Currency, amount, f.Customer,
		f.Reference, f.CardFingerprint, entries(f.Metadata), f.Settlements,
	}
	switch {
	case f.Day != 0:
		return list(ctx, db, tenant, listTransactionsOfDay, p, scanTransaction, append(args, f.Day)...)
	case f.Reference != "": // fewer transactions have the reference than the customer
		args = append(args, termReference, f.Reference)
		return list(ctx, db, tenant, listNamedTransactions, p, scanTransaction, args...)
	case f.Customer != "":
		args = append(args, termCustomer, f.Customer)
		return list(ctx, db, tenant, listNamedTransactions, p, scanTransaction, args...)
	}
	return list(ctx, db, tenant, listFilteredTransactions, p, scanTransaction, args...)
}

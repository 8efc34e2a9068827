package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestListPlans: no list sorts, and none scans a table: each seeks in an index, by the tenant at least, and by the customer or reference when
// it is given.
func TestListPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, amount := t.Context(), int64(5)
	transactions := func(f payment.TransactionFilter) func(payment.Page) error {
		return func(p payment.Page) error { _, err := b.db.FilteredTransactions(ctx, tenant, f, p); return err }
	}
	events := func(f payment.EventFilter) func(payment.Page) error {
		return func(p payment.Page) error { _, err := b.db.Events(ctx, tenant, f, p); return err }
	}
	const terms = "SEARCH transaction_terms USING PRIMARY KEY (merchant=? AND is_live=? AND kind=? AND term=? AND transaction_id"
	const tenants = "SEARCH transactions USING INDEX transactions_by_tenant (merchant_id=? AND live=?"
	for name, c := range map[string]struct {
		list func(payment.Page) error
		want string
	}{
		"transactions":              {transactions(payment.TransactionFilter{}), tenants},
		"by reference":              {transactions(payment.TransactionFilter{Reference: "r"}), terms},
		"by customer":               {transactions(payment.TransactionFilter{Customer: "c"}), terms},
		"by all":                    {transactions(payment.TransactionFilter{Customer: "c", Reference: "r", Status: payment.Captured, Amount: &amount, Currency: "usd", CardFingerprint: "f", After: birth, Before: birth}), terms},
		"by status":                 {transactions(payment.TransactionFilter{Status: payment.Voided}), tenants},
		"by fingerprint and time":   {transactions(payment.TransactionFilter{CardFingerprint: "f", After: birth.Add(-time.Hour), Before: birth}), tenants},
		"events":                    {events(payment.EventFilter{}), "SEARCH events USING INDEX events_by_tenant (merchant_id=? AND live=?"},
		"events by type":            {events(payment.EventFilter{Type: "customer.deleted"}), "SEARCH events USING INDEX events_by_tenant (merchant_id=? AND live=?"},
		"events by object and time": {events(payment.EventFilter{Kind: "customer", Object: 5, After: birth, Before: birth}), "SEARCH events USING INDEX events_by_tenant (merchant_id=? AND live=? AND id>"},
		"refunds":                   {func(p payment.Page) error { _, err := b.db.Refunds(ctx, tenant, 0, p); return err }, "SEARCH refunds USING INDEX refunds_by_tenant (merchant_id=? AND live=?"},
		"refunds of a transaction":  {func(p payment.Page) error { _, err := b.db.Refunds(ctx, tenant, 3, p); return err }, "SEARCH refunds USING INDEX refunds_by_transaction (transaction_id=?"},
		"captures":                  {func(p payment.Page) error { _, err := b.db.Captures(ctx, tenant, 3, p); return err }, "SEARCH captures USING INDEX captures_by_transaction (transaction_id=?"},
		"customers": {func(p payment.Page) error {
			_, err := b.db.Customers(ctx, tenant, payment.CustomerFilter{}, p)
			return err
		}, "SEARCH customers USING INDEX customers_by_tenant (merchant_id=? AND live=?"},
		"payment methods":    {func(p payment.Page) error { _, err := b.db.Methods(ctx, tenant, 3, "f", p); return err }, "SEARCH payment_methods USING INDEX payment_methods_by_customer (customer_id=? AND detached_at=?"},
		"api keys":           {func(p payment.Page) error { _, err := b.db.Keys(ctx, tenant, p); return err }, "SEARCH api_keys USING INDEX api_keys_by_tenant (merchant_id=? AND live=?"},
		"webhook endpoints":  {func(p payment.Page) error { _, err := b.db.Endpoints(ctx, tenant, p); return err }, "SEARCH webhook_endpoints USING INDEX webhook_endpoints_by_tenant (merchant_id=? AND live=?"},
		"webhook deliveries": {func(p payment.Page) error { _, err := b.db.Deliveries(ctx, tenant, 3, p); return err }, "SEARCH webhook_deliveries USING INDEX webhook_deliveries_by_endpoint (endpoint_id=?"},
	} {
		for _, p := range []payment.Page{{Limit: 2}, {Limit: 2, After: 9}, {Limit: 2, Before: 9}} {
			plan, err := b.db.Plan(ctx, func() error { return c.list(p) })
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !strings.HasPrefix(plan, c.want) || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s %+v: got\n%s\nwant it to begin with %s", name, p, plan, c.want)
			}
		}
	}
}

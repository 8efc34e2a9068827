package sqlite_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
)

// TestListPlans: no list sorts or scans a table. Each list seeks in an index, by the tenant at
// least, and by the customer or reference if the list filter has one.
func TestListPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := filterPlans(t, b)
	maps.Copy(all, tablePlans(t, b))
	for name, c := range all {
		for _, p := range []payment.Page{{Limit: 2}, {Limit: 2, After: 9}, {Limit: 2, Before: 9}} {
			plan, err := b.engine.Plan(t.Context(), store.Listing, func() error { return c.list(p) })
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			plan = parameterRows.ReplaceAllString(plan, "")
			if !strings.HasPrefix(plan, c.want) || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s %+v: got\n%s\nwant it to begin with %s", name, p, plan, c.want)
			}
		}
	}
}

// TestPlansOfTestHelpers: the reads of a tenant for its test clock and settlement runs seek in an
// index by the tenant. None sorts.
func TestPlansOfTestHelpers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	for name, c := range map[string]struct {
		purpose store.Purpose
		read    func() error
		want    string
	}{
		"lapsed": {store.Background, func() error {
			_, err := b.db.Lapsed(ctx, tenant, birth, store.Due{}, 2)
			return err
		}, search("transactions", "transactions_expiring",
			"merchant_id=? AND live=? AND expires_at>? AND expires_at<?)")},
		"unconfirmed": {store.Background, func() error {
			_, err := b.db.Unconfirmed(ctx, tenant, birth, store.Due{}, 2)
			return err
		}, "USING COVERING INDEX transactions_waiting (merchant_id=? AND live=? AND expires_at>? AND expires_at<?)"},
		"settleable": {store.Listing, func() error {
			_, _, err := b.db.Settleable(ctx, tenant, 2)
			return err
		}, search("captures", "captures_unsettled", "merchant_id=? AND live=?)")},
		"days": {store.Background, func() error {
			_, err := b.db.DaysOf(ctx, tenant.Merchant)
			return err
		}, "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)"},
	} {
		plan, err := b.engine.Plan(ctx, c.purpose, c.read)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(plan, c.want) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: got\n%s\nwant it to have %s, and no sort", name, plan, c.want)
		}
	}
}

// TestPlansOfTurns: the lists of the tenants with due rows, and of a tenant's rows, seek in an
// index by the tenant. None sorts.
func TestPlansOfTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db := b.MustWrite(t)
	for name, want := range map[string][]string{
		"selectExpiring": {
			"INDEX transactions_expiring (merchant_id=? AND live=? AND expires_at>? AND expires_at<?)",
			"INDEX transactions_waiting (merchant_id=? AND live=? AND expires_at<?)",
			"INDEX transactions_waiting (merchant_id=? AND live=? AND expires_at>?)",
		},
		"selectErasing": {
			"INDEX customer_erasures_due (merchant_id=? AND live=? AND due_at>?)",
		},
		"selectErasingByEvents": {
			"INDEX customer_erasures_events_due (merchant_id=? AND live=? AND events_due_at>?)",
		},
		"selectDeletedCustomers": {"INDEX customer_erasures_due (merchant_id=? AND live=? AND due_at>? AND due_at<?)"},
		"selectDeletedCustomersByEvents": {
			"INDEX customer_erasures_events_due (merchant_id=? AND live=? AND events_due_at>? AND events_due_at<?)",
		},
	} {
		text, err := b.engine.TextOf(name)
		if err != nil {
			t.Fatal(err)
		}
		values := slices.Repeat([]any{0}, sqlite.Parameters(text))
		plan := strings.Join(column(t, db, "detail", "EXPLAIN QUERY PLAN "+text, values...), "\n")
		for _, seek := range want {
			if !strings.Contains(plan, seek) {
				t.Errorf("%s: got\n%s\nwant %s", name, plan, seek)
			}
		}
		for _, never := range []string{"SCAN transactions", "SCAN customer_erasures", "TEMP B-TREE"} {
			if strings.Contains(plan, never) {
				t.Errorf("%s: %s in\n%s", name, never, plan)
			}
		}
	}
}

// TestPlansOfKeys: the commands that make or revoke a key read only the tenant's keys in use. A
// merchant can have many ended ones.
func TestPlansOfKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db := b.MustWrite(t)
	for name, want := range map[string]string{
		"countActiveKeys": search("api_keys", "api_keys_in_use", "merchant_id=? AND live=?)"),
		"revokeKey":       search("other", "api_keys_in_use", "merchant_id=? AND live=?)"),
		"deleteEndedKey":  search("api_keys", "api_keys_by_tenant", "merchant_id=? AND live=?)"),
	} {
		text, err := b.engine.TextOf(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := column(t, db, "detail", "EXPLAIN QUERY PLAN "+text, slices.Repeat([]any{0}, sqlite.Parameters(text))...)
		if !slices.Contains(plan, want) {
			t.Errorf("%s: got %q, want %s", name, plan, want)
		}
	}
}

// TestPlanOfARefund: a refund reads only the captures of its transaction.
func TestPlanOfARefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text, err := b.engine.TextOf("reserveRefundOfCapture")
	if err != nil {
		t.Fatal(err)
	}
	values := slices.Repeat([]any{0}, sqlite.Parameters(text))
	plan := column(t, b.MustWrite(t), "detail", "EXPLAIN QUERY PLAN "+text, values...)
	for _, want := range []string{
		search("fit", "captures_by_transaction", "transaction_id=?)"), "SEARCH captures USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		if !slices.Contains(plan, want) {
			t.Errorf("got %q, want %s", plan, want)
		}
	}
}

// parameterRows are the steps of a plan that read the entries of a parameter, or of the metadata of
// one row.
var parameterRows = regexp.MustCompile(`(?m)^SCAN (wanted|entry) VIRTUAL TABLE.*$`)

// planned is a list with the beginning of its plan.
type planned struct {
	list func(payment.Page) error
	want string
}

func search(table, index, columns string) string {
	return "SEARCH " + table + " USING INDEX " + index + " (" + columns
}

func byTenant(table string) string {
	return search(table, table+"_by_tenant", "merchant_id=? AND live=?")
}

// filterPlans are the plans of lists with filters.
func filterPlans(t *testing.T, b *bundle) map[string]planned {
	t.Helper()
	ctx, amount, db := t.Context(), int64(5), b.db
	transactions := func(f payment.TransactionFilter) func(payment.Page) error {
		return func(p payment.Page) error { _, err := db.FilteredTransactions(ctx, tenant, f, p); return err }
	}
	events := func(f payment.EventFilter) func(payment.Page) error {
		return func(p payment.Page) error { _, err := db.Events(ctx, tenant, f, p); return err }
	}
	captures := func(f payment.StepFilter) func(payment.Page) error {
		return func(p payment.Page) error { _, err := db.Captures(ctx, tenant, f, p); return err }
	}
	refunds := func(f payment.StepFilter) func(payment.Page) error {
		return func(p payment.Page) error { _, err := db.Refunds(ctx, tenant, f, p); return err }
	}
	ofTransaction := payment.StepFilter{Transaction: 3}
	const terms = "SEARCH transaction_terms USING PRIMARY KEY " +
		"(merchant=? AND is_live=? AND kind=? AND term=? AND transaction_id"
	ofObject := payment.EventFilter{Kind: "customer", Object: 5, After: birth, Before: birth}
	all := payment.TransactionFilter{
		Customer: "c", Reference: "r", Statuses: "captured", Amount: &amount, Currency: "usd", CardFingerprint: "f",
		After: birth, Before: birth,
	}
	byCard := payment.TransactionFilter{CardFingerprint: "f", After: birth.Add(-time.Hour), Before: birth}
	byEntry := payment.MetadataFilter(`{"k":"v"}`)
	ofOne := func(table string) string { return search(table, table+"_by_transaction", "transaction_id=?") }
	of := func(table, index, column string) string {
		return search(table, table+index, "merchant_id=? AND live=? AND "+column+"=?")
	}
	return map[string]planned{
		"transactions":              {transactions(payment.TransactionFilter{}), byTenant("transactions")},
		"by reference":              {transactions(payment.TransactionFilter{Reference: "r"}), terms},
		"by customer":               {transactions(payment.TransactionFilter{Customer: "c"}), terms},
		"by all":                    {transactions(all), terms},
		"by status":                 {transactions(payment.TransactionFilter{Statuses: "voided"}), byTenant("transactions")},
		"by metadata":               {transactions(payment.TransactionFilter{Metadata: byEntry}), byTenant("transactions")},
		"by fingerprint and time":   {transactions(byCard), byTenant("transactions")},
		"events":                    {events(payment.EventFilter{}), byTenant("events")},
		"events by type":            {events(payment.EventFilter{Type: "customer.deleted"}), byTenant("events")},
		"events by object and time": {events(ofObject), byTenant("events") + " AND id>"},
		"captures":                  {captures(payment.StepFilter{}), byTenant("captures")},
		"captures of a transaction": {captures(ofTransaction), ofOne("captures")},
		"captures by metadata":      {captures(payment.StepFilter{Metadata: byEntry}), byTenant("captures")},
		"refunds by metadata":       {refunds(payment.StepFilter{Metadata: byEntry}), byTenant("refunds")},
		"captures of a day":         {captures(payment.StepFilter{Day: 5}), of("captures", "_of_day", "settlement_day")},
		"refunds of a day":          {refunds(payment.StepFilter{Day: 5}), of("refunds", "_of_day", "settlement_day")},
		"pending refunds":           {refunds(payment.StepFilter{Settlement: "pending"}), byTenant("refunds") + " AND id>"},
		"refunds":                   {refunds(payment.StepFilter{}), byTenant("refunds")},
		"refunds of a transaction":  {refunds(ofTransaction), ofOne("refunds")},
		"refunds of a customer":     {refunds(payment.StepFilter{Customer: "c"}), of("refunds", "_of_customer", "customer")},
	}
}

// tablePlans are the plans of lists without filters.
func tablePlans(t *testing.T, b *bundle) map[string]planned {
	t.Helper()
	ctx, db := t.Context(), b.db
	return map[string]planned{
		"customers": {
			func(p payment.Page) error {
				_, err := db.Customers(ctx, tenant, payment.CustomerFilter{}, p)
				return err
			},
			byTenant("customers"),
		},
		"customers by metadata": {
			func(p payment.Page) error {
				_, err := db.Customers(ctx, tenant, payment.CustomerFilter{Metadata: `{"k":"v"}`}, p)
				return err
			},
			byTenant("customers"),
		},
		"payment methods": {
			func(p payment.Page) error {
				_, err := db.Methods(ctx, tenant, 3, payment.MethodFilter{Fingerprint: "f"}, p)
				return err
			},
			search("payment_methods", "payment_methods_by_customer", "customer_id=? AND detached_at=?"),
		},
		"api keys": {
			func(p payment.Page) error { _, err := db.Keys(ctx, tenant, p); return err }, byTenant("api_keys"),
		},
		"webhook endpoints": {
			func(p payment.Page) error { _, err := db.Endpoints(ctx, tenant, "", p); return err },
			byTenant("webhook_endpoints"),
		},
		"webhook deliveries": {
			func(p payment.Page) error { _, err := db.Deliveries(ctx, tenant, 3, p); return err },
			search("webhook_deliveries", "webhook_deliveries_by_endpoint", "endpoint_id=?"),
		},
	}
}

package sqlite_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
)

// filled are the tables into which MustFill writes a row.
var filled = []string{"api_keys", "captures", "events", "idempotency_keys", "merchants", "refunds", "transactions"}

func TestMigrateFromEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const tables = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
	rows, err := b.MustWrite(t).QueryContext(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the failure
	var got []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		got = append(got, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range filled {
		if !slices.Contains(got, want) {
			t.Errorf("no table %s in %v", want, got)
		}
	}
	for _, pragma := range []struct{ name, want string }{{"journal_mode", "wal"}, {"integrity_check", "ok"}} {
		var got string
		err := b.MustWrite(t).QueryRowContext(t.Context(), "PRAGMA "+pragma.name).Scan(&got)
		if err != nil || got != pragma.want {
			t.Errorf("%s: got %q, %v, want %q", pragma.name, got, err, pragma.want)
		}
	}
}

// MustFill writes a row into each table of filled.
func (b *bundle) MustFill(t *testing.T) {
	t.Helper()
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		txn := &payment.Transaction{
			ID: 10, Tenant: tenant, AutoCapture: true, Amount: 100, Currency: "usd", PaymentMethod: "card",
			Details: []byte("{}"), CreatedAt: tx.Now, UpdatedAt: tx.Now,
		}
		done := *txn
		done.Status, done.Authorized, done.Captured, done.Version = payment.Captured, 100, 100, 1
		capture := &payment.Capture{
			ID: 11, Transaction: 10, Tenant: tenant, State: payment.StepSucceeded, Amount: 100, Currency: "usd", Final: true,
			CreatedAt: tx.Now, UpdatedAt: tx.Now,
		}
		key := &payment.APIKey{ID: 9, Tenant: tenant, Kind: "secret", Scopes: []string{"a", "b"}, Hint: "wxyz"}
		event := &payment.Event{
			ID: 13, Tenant: tenant, Type: "transaction.captured", Object: 10, Sequence: 1, Data: []byte("{}"),
		}
		claim, err := tx.ClaimKey(0, tenant, "k", []byte("f"))
		return errors.Join(err, tx.InsertMerchant(tenant.Merchant, "shop"),
			tx.InsertKey(key, []byte("hash")),
			tx.InsertTransaction(txn), tx.ResolveTransaction(&done), tx.InsertCapture(capture),
			tx.BeginRefund(&payment.Refund{ID: 12, Transaction: 10, Tenant: tenant, Amount: 40, Details: []byte("{}")}),
			tx.InsertEvent(event),
			tx.CompleteKey(claim.ID, 201, []byte("response")))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMigrateWithRowsInPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustFill(t)
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	b.db = b.MustOpen(t)
	got, err := b.db.Transaction(t.Context(), tenant, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != payment.Captured || got.Captured != 100 || got.RefundPending != 40 || got.Version != 1 {
		t.Errorf("got %+v", got)
	}
	for _, table := range filled {
		if got := b.MustCount(t, table); got != 1 {
			t.Errorf("%s: got %d rows, want 1", table, got)
		}
	}
	k, err := b.db.KeyByHash(t.Context(), nil, netip.Prefix{}, []byte("hash"))
	if err != nil || !slices.Equal(k.Scopes, []string{"a", "b"}) || !k.ExpiresAt.IsZero() {
		t.Errorf("key: got %+v, %v", k, err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	const newer = `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`
	_, err := b.MustWrite(t).ExecContext(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), b.path, b.clock)
	if err == nil {
		t.Fatalf("an older build opened it: %v", db.Close())
	}
	if !strings.Contains(err.Error(), "99999") {
		t.Errorf("the error does not name the version: %v", err)
	}
}

func TestNotADatabase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if db, err := sqlite.Open(t.Context(), t.TempDir(), b.clock); err == nil {
		t.Errorf("a folder was opened: %v", db.Close())
	}
}

// TestChecks writes rows without the store, against its invariants: the schema must reject them.
func TestChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustFill(t)
	db := b.MustWrite(t)
	for _, set := range []string{
		"amount_authorized = 101", "amount_captured = 101", "amount_captured = -1", "amount_capture_pending = 1",
		"amount_settled = 101", "amount_refunded = 61", "amount_refund_pending = 101", "amount_captured = 39",
		"amount = 99", "amount = 1000000000000",
		"status = 'paid'", "operation = 'refund'", "amount = 'ten'", "live = 2",
	} {
		if _, err := db.ExecContext(t.Context(), "UPDATE transactions SET "+set); err == nil {
			t.Errorf("%s was written", set)
		}
	}
	for _, statement := range []string{
		"UPDATE captures SET amount = 0", "UPDATE refunds SET amount = 0", "UPDATE refunds SET state = 'voided'",
		"UPDATE captures SET transaction_id = 1", "UPDATE api_keys SET kind = 'root'",
		`INSERT INTO idempotency_keys SELECT 99, merchant_id, live, key, fingerprint, 0, NULL, 0, 0
			FROM idempotency_keys`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s was accepted", statement)
		}
	}
}

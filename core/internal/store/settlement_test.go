package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestMoneyFromBeforeSettlementIsTakenAlong migrates a file with captures, refunds and an authorization from the schema before.
func TestMoneyFromBeforeSettlementIsTakenAlong(t *testing.T) {
	t.Parallel()
	b := &bundle{path: filepath.Join(t.TempDir(), "causeway.db"), clock: clock.NewFake(birth)}
	db := b.MustWrite(t)
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migration/sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO merchants (id, name, created_at) VALUES (?1, 'shop', 0)`,
		`INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, amount_authorized,
				amount_captured, amount_refunded, amount_refund_pending, details, result, created_at, updated_at) VALUES
			(10, ?1, 0, 'captured', 1, 100, 'usd', 'card', 100, 100, 30, 40, '{}', '{}', 5, 9),
			(20, ?1, 0, 'partially_captured', 0, 100, 'usd', 'card', 100, 80, 10, 0, '{}', '{"expires_at":7000}', 5, 9),
			(30, ?1, 0, 'authorized', 0, 100, 'usd', 'card', 100, 0, 0, 0, '{}', '{"expires_at":6000}', 5, 9)`,
		`INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, details, created_at, updated_at) VALUES
			(11, 10, ?1, 0, 'succeeded', 100, 'usd', 1, '{}', 5, 5), (21, 20, ?1, 0, 'succeeded', 50, 'usd', 0, '{}', 6, 8),
			(22, 20, ?1, 0, 'succeeded', 30, 'usd', 0, '{}', 7, 7), (23, 20, ?1, 0, 'failed', 10, 'usd', 0, '{}', 8, 8)`,
		`INSERT INTO refunds (id, transaction_id, merchant_id, live, state, amount, currency, details, created_at, updated_at) VALUES
			(12, 10, ?1, 0, 'succeeded', 30, 'usd', '{}', 5, 5), (13, 10, ?1, 0, 'pending', 40, 'usd', '{}', 5, 5),
			(14, 10, ?1, 0, 'failed', 1, 'usd', '{}', 5, 5), (24, 20, ?1, 0, 'succeeded', 10, 'usd', '{}', 5, 5)`,
	} {
		if _, err := db.ExecContext(t.Context(), statement, tenant.Merchant); err != nil {
			t.Fatal(err)
		}
	}
	b.db = b.MustOpen(t)
	for id, want := range map[int64][2]int64{11: {30, 40}, 21: {0, 0}, 22: {0, 0}} {
		if got, err := b.db.Capture(t.Context(), tenant, id); err != nil || got.Refunded != want[0] || got.RefundPending != want[1] {
			t.Errorf("capture %d: got %+v, %v, want %d refunded and %d pending", id, got, err, want[0], want[1])
		}
	}
	for id, want := range map[int64]int64{12: 11, 13: 11, 24: 0} {
		if got, err := b.db.Refund(t.Context(), tenant, id); err != nil || got.Capture != want {
			t.Errorf("refund %d: got %+v, %v, want it of %d", id, got, err, want)
		}
	}
	lapsed, err := b.db.Lapsed(t.Context(), time.UnixMilli(7000), 10)
	if err != nil || len(lapsed) != 2 || lapsed[0] != (store.Lapsed{ID: 30, Tenant: tenant}) || lapsed[1].ID != 20 {
		t.Errorf("lapsed: got %+v, %v", lapsed, err)
	}
	waiting, err := b.db.UnsettledCaptures(t.Context(), 0, 10)
	if err != nil || len(waiting) != 3 || waiting[1].At.UnixMilli() != 8 {
		t.Errorf("unsettled: got %+v, %v", waiting, err)
	}
}

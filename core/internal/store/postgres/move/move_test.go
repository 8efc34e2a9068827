package move_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/move"
)

// wantOpens holds which of the stores can be opened: that whose error is nil.
func (b *bundle) wantOpens(t *testing.T, source, target error) {
	t.Helper()
	for name, c := range map[string]struct {
		open func(context.Context) (*store.DB, error)
		want error
	}{"source": {b.openSource, source}, "target": {b.openTarget, target}} {
		db, err := c.open(t.Context())
		if err == nil {
			err = db.Close()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("open the %s: got %v, want %v", name, err, c.want)
		}
		if c.want != nil && err != nil && !strings.Contains(err.Error(), "core migrate-data ") {
			t.Errorf("open the %s: no command in %v", name, err)
		}
	}
}

// TestMove moves rows of every table, with changes of every kind between the passes.
func TestMove(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	for _, name := range b.tables(t) {
		if number(t, b.source, "SELECT COUNT(*) FROM "+name) == 0 {
			t.Errorf("there is nothing in %s: fill it, so that the test is of every table", name)
		}
	}
	b.ahead(t)
	b.wantSame(t)
	b.wantOpens(t, nil, store.ErrArriving)
	if n := changed(b.ahead(t)); n != 0 {
		t.Errorf("a pass over what is equal wrote %d rows", n)
	}

	b.change(t)
	b.ahead(t)
	b.wantSame(t)

	must(t, b.source, `UPDATE merchants SET name = 'once more' WHERE id = 7`)
	if n := changed(b.finish(t)); n != 1 {
		t.Errorf("the last pass wrote %d rows, want 1", n)
	}
	b.wantSame(t)
	b.wantOpens(t, store.ErrMoved, nil)
	b.wantNumbered(t)
	if _, err := move.Open(t.Context(), b.config()); !errors.Is(err, store.ErrMoveDone) {
		t.Errorf("moved again: got %v", err)
	}
	must(t, b.target, `UPDATE merchants SET name = 'the target serves'`)
	if _, err := b.source.ExecContext(t.Context(), `UPDATE merchants SET name = 'by mistake'`); err == nil {
		t.Error("the source took a write")
	}
}

// change changes rows as a service does, and worse: rows that others need are removed with those, and what is unique wanders.
func (b *bundle) change(t *testing.T) {
	t.Helper()
	b.pay(t, 1000, 20)
	must(t, b.source,
		`UPDATE transactions SET status = 'voided', amount_captured = 0 WHERE id = 1616`,
		`UPDATE captures SET state = 'voided' WHERE transaction_id = 1616`,
		`DELETE FROM captures WHERE transaction_id = 1632`, `DELETE FROM transactions WHERE id = 1632`, // taken back
		`DELETE FROM transaction_terms WHERE transaction_id = 1632`,
		`UPDATE webhook_deliveries SET leased = 1, attempts = 1 WHERE id = 1603`, `DELETE FROM webhook_deliveries WHERE id = 1619`,
		`UPDATE tokens SET number = NULL, used_by = 0`, `UPDATE payment_methods SET number = NULL, detached_at = 5`,
		`UPDATE customers SET details = '{}', deleted_at = 5`, `UPDATE settlement_marks SET from_id = 9 WHERE live = 0`,
		`UPDATE test_clocks SET offset_ms = 7200000`, `UPDATE broadcasts SET place = 7, told = 1, finished_at = 3 WHERE name = 'a'`,
		`DELETE FROM reversals`, `UPDATE refunds SET state = 'succeeded' WHERE id = 30`,
		`UPDATE api_keys SET revoked_at = 4, last_used_at = 5 WHERE id = 9`,
		// Keys that expired and came again, some under the number that another one had.
		`DELETE FROM idempotency_keys WHERE key IN ('k100', 'k101', 'k1018', 'k1019')`,
		`INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, created_at, expires_at) VALUES (7, 0, 'k1019', x'01', 1, 2),
			(7, 0, 'k1018', x'01', 1, 2), (7, 0, 'k100', x'01', 1, 2)`,
		`UPDATE idempotency_keys SET key = 'swap' WHERE key = 'k102'`, `UPDATE idempotency_keys SET key = 'k102' WHERE key = 'k103'`,
		`UPDATE idempotency_keys SET key = 'k103' WHERE key = 'swap'`)
}

// wantNumbered: the target goes on counting behind the rows that came.
func (b *bundle) wantNumbered(t *testing.T) {
	t.Helper()
	most := number(t, b.target, `SELECT max(id) FROM idempotency_keys`)
	got := number(t, b.target, `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, created_at, expires_at)
		VALUES (7, 0, 'next', '', 1, 2) RETURNING id`)
	if got != most+1 {
		t.Errorf("the next row is %d, want %d", got, most+1)
	}
	if got := number(t, b.target, `INSERT INTO reversals (transaction_id, attempt, merchant_id, live, amount, currency, captured, since, due_at)
		VALUES (1, 1, 7, 0, 1, 'usd', 0, 1, 1) RETURNING id`); got != 1 { // there is none
		t.Errorf("the first reversal is %d, want 1", got)
	}
}

func TestMoveOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if n := changed(b.finish(t)); n != 0 {
		t.Errorf("wrote %d rows", n)
	}
	b.wantOpens(t, store.ErrMoved, nil)
}

// TestMoveInPieces has tables of several pieces, and rows removed and added at their borders.
func TestMoveInPieces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.pay(t, 1000, 20_000)
	b.ahead(t)
	must(t, b.source, `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries ORDER BY id LIMIT 9000)`,
		`DELETE FROM transaction_terms WHERE term > 'ä order 9'`)
	b.pay(t, 50_000, 9000)
	b.finish(t)
	b.wantSame(t)
}

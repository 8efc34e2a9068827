package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// openSteps are the unfinished steps of all kinds, with the columns that only reversals have: due_at and
// the step that they reverse.
const openSteps = `
	SELECT CASE operation WHEN 'void' THEN 'void' ELSE 'authorize' END AS kind, id AS object_id,
		CASE operation WHEN 'void' THEN operation_id ELSE attempt END AS number,
		id AS transaction_id, merchant_id, live, CASE operation WHEN 'void' THEN amount_authorized ELSE amount END AS amount, 0 AS held, currency,
		0 AS refused, updated_at AS since, 0 AS due_at,
		CASE WHEN operation = 'void' THEN void_api_key_id WHEN attempt > 0 THEN confirm_api_key_id ELSE api_key_id END AS api_key_id,
		CASE WHEN operation = 'void' THEN void_client_address WHEN attempt > 0 THEN confirm_client_address ELSE client_address END
			AS client_address, '' AS of_kind, 0 AS of_step, 0 AS of_attempt
		FROM transactions INDEXED BY transactions_open WHERE (status IN ('processing', 'unknown') OR operation <> '') AND operation <> 'capture'
	UNION ALL SELECT 'capture', id, 0, transaction_id, merchant_id, live, amount, 0, currency, 0, updated_at, 0,
		api_key_id, client_address, '', 0, 0 FROM captures WHERE state = 'pending'
	UNION ALL SELECT 'refund', id, 0, COALESCE(transaction_id, 0), merchant_id, live, amount, 0, currency, 0, updated_at, 0,
		api_key_id, client_address, '', 0, 0 FROM refunds WHERE state = 'pending'
	UNION ALL SELECT 'reversal', id, 0, transaction_id, merchant_id, live, amount, held, currency, refused, since, due_at,
		0, '', kind, step_id, attempt FROM reversals`

// UnfinishedSteps returns a page of the unfinished steps and pending reversals that a filter
// selects, oldest first.
func (db *DB) UnfinishedSteps(ctx context.Context, f payment.UnfinishedFilter, limit int) ([]payment.Unfinished, error) {
	object, _ := f.After.Step.Object()
	return collect(ctx, db, `SELECT s.kind, s.object_id, s.number, COALESCE(a.attempts, 0), COALESCE(a.running, 0), COALESCE(a.begun_at, 0),
			COALESCE(a.next_at, 0), COALESCE(a.last_error, ''), s.transaction_id, s.merchant_id, s.live, s.amount, s.held, s.currency, s.refused,
			s.since, s.due_at, s.api_key_id, s.client_address, s.of_kind, s.of_step, s.of_attempt
		FROM (`+openSteps+`) s
		LEFT JOIN step_attempts a ON a.kind = s.kind AND a.object_id = s.object_id AND a.number = s.number
		WHERE (?1 = '' OR s.kind = ?1) AND (?2 = 0 OR s.merchant_id = ?2)
			AND (?3 = 0 OR s.object_id = ?3 AND ?8 = CASE WHEN s.kind = 'authorize' AND s.number = 0 THEN 1 ELSE s.number END)
			AND (s.since > ?4 OR s.since = ?4 AND (s.object_id > ?5 OR s.object_id = ?5 AND s.kind > ?6))
		ORDER BY s.since, s.object_id, s.kind LIMIT ?7`, scanUnfinished,
		string(f.Kind), f.Merchant, f.ID, toMillis(f.After.Since), object, string(f.After.Step.Kind), limit, f.Number)
}

func scanUnfinished(row Scanner) (payment.Unfinished, error) {
	var (
		u                                       payment.Unfinished
		object, number, begun, next, since, due int64
	)
	err := row.Scan(&u.Step.Kind, &object, &number, &u.Attempts, &u.Running, &begun, &next, &u.LastError, &u.Transaction,
		&u.Tenant.Merchant, &u.Tenant.Live, &u.Amount, &u.Held, &u.Currency, &u.Refused, &since, &due,
		&u.Client.APIKey, &u.Client.Address, &u.Reverses.Kind, &u.Reverses.ID, &u.Reverses.Attempt)
	if err != nil {
		return u, fmt.Errorf("read unfinished step: %w", err)
	}
	if u.Step = stepIDOf(u.Step.Kind, object, number); u.Step.Kind == payment.ReversalStep {
		u.Reverses.Transaction = u.Transaction
	}
	u.BegunAt, u.NextAt, u.Since, u.DueAt = fromMillis(begun), fromMillis(next), fromMillis(since), fromMillis(due)
	return u, nil
}

// HoldStep keeps recovery off an unfinished step until the command has ended. ErrConflict if the
// step has ended. ErrAttempt if an attempt at it, or at its pending reversal, has no result yet and
// is younger than patience.
func (tx *Tx) HoldStep(s payment.StepID, patience time.Duration) error {
	object, number := s.Object()
	err := tx.exec(`INSERT INTO step_attempts (kind, object_id, number, attempts, running, begun_at, next_at, last_error)
		VALUES (?1, ?2, ?3, 0, 0, ?4, ?4, '') ON CONFLICT (kind, object_id, number) DO UPDATE SET attempts = step_attempts.attempts`,
		string(s.Kind), object, number, toMillis(tx.Now))
	if err != nil {
		return err
	}
	if err := tx.lockUnfinished(s); err != nil {
		return err
	}
	first, last := tx.running(patience)
	row, err := tx.row(`SELECT COUNT(*) FROM step_attempts WHERE running = 1 AND begun_at BETWEEN ?1 AND ?2 AND (
			kind = ?3 AND object_id = ?4 AND number = ?5
			OR kind = 'reversal' AND object_id IN (SELECT id FROM reversals WHERE kind = ?3 AND step_id = ?4))`,
		first, last, string(s.Kind), object, number)
	if err != nil {
		return err
	}
	running, err := scanNumber(row)
	if err == nil && running > 0 {
		err = ErrAttempt
	}
	return err
}

// Reversal reads a pending reversal, else ErrNotFound.
func (tx *Tx) Reversal(id int64) (*payment.Reversal, error) {
	row, err := tx.row(`SELECT `+reversalColumns+` FROM reversals WHERE id = ?`, id)
	if err != nil {
		return nil, err
	}
	r, err := scanReversal(row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	return r, err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertAuditRecord        = declare("insertAuditRecord")
	selectAuditHead          = declare("selectAuditHead")
	selectAuditRecords       = declare("selectAuditRecords")
	selectNewestAuditRecords = declare("selectNewestAuditRecords")
	selectAuditHeadBefore    = declare("selectAuditHeadBefore")
	deleteAuditRecords       = declare("deleteAuditRecords")
)

// AppendAudit writes r as the next record of the chain and fills in its sequence, time and MACs.
// Call it last in a command: other commands that append wait until this one ends.
func (tx *Tx) AppendAudit(key []byte, r *audit.Record) error {
	if err := tx.lock("audit", 0); err != nil {
		return err
	}
	last, err := tx.auditHead()
	if err != nil {
		return err
	}
	r.Sequence, r.Previous, r.At = last.Sequence+1, last.MAC, tx.Now
	r.Sign(key)
	return tx.insert(insertAuditRecord,
		r.Sequence, toMillis(r.At), r.Actor, r.ClientAddress, r.Action, r.Object, r.Before, r.After, r.Outcome,
		r.RequestID, r.Previous, r.MAC)
}

func (tx *Tx) auditHead() (audit.Head, error) {
	row, err := tx.row(selectAuditHead)
	if err != nil {
		return audit.Head{}, err
	}
	return scanHead(row)
}

func scanHead(row Scanner) (audit.Head, error) {
	h := audit.Head{MAC: []byte{}}
	err := row.Scan(&h.Sequence, &h.MAC)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return audit.Head{}, fmt.Errorf("read the head of the audit record: %w", err)
	}
	return h, nil
}

// AuditHead returns the newest record's sequence and MAC. The sequence is 0 if there is no record.
func (db *DB) AuditHead(ctx context.Context) (audit.Head, error) {
	return scanHead(db.row(ctx, selectAuditHead))
}

// AuditRecords returns at most limit records after a sequence, oldest first.
func (db *DB) AuditRecords(ctx context.Context, after int64, limit int) ([]*audit.Record, error) {
	return backgroundRows(ctx, db, selectAuditRecords, scanAudit, after, limit)
}

// NewestAuditRecords returns at most limit records before a sequence, newest first. With 0 it
// begins with the newest record.
func (db *DB) NewestAuditRecords(ctx context.Context, before int64, limit int) ([]*audit.Record, error) {
	return listed(ctx, db, payment.Tenant{}, selectNewestAuditRecords, scanAudit, before, limit)
}

func scanAudit(row Scanner) (*audit.Record, error) {
	var r audit.Record
	var at int64
	err := row.Scan(&r.Sequence, &at, &r.Actor, &r.ClientAddress, &r.Action, &r.Object, &r.Before, &r.After, &r.Outcome,
		&r.RequestID, &r.Previous, &r.MAC)
	if err != nil {
		return nil, fmt.Errorf("read the audit record: %w", err)
	}
	r.At = time.UnixMilli(at).UTC()
	return &r, nil
}

// PurgeAudit removes the records from before a time and appends r as the record of the purge, in
// one command. It returns the number of removed records. The database itself refuses to remove a
// record of the last 365 days.
func (tx *Tx) PurgeAudit(key []byte, before time.Time, r *audit.Record) (int64, error) {
	if err := tx.lock("audit", 0); err != nil {
		return 0, err
	}
	row, err := tx.row(selectAuditHeadBefore, toMillis(before))
	if err != nil {
		return 0, err
	}
	through, err := scanHead(row)
	if err != nil || through.Sequence == 0 {
		return 0, err
	}
	r.Action, r.Object, r.Outcome = audit.Purged, through.String(), audit.Done
	if err := tx.AppendAudit(key, r); err != nil {
		return 0, err
	}
	return tx.execCount(deleteAuditRecords, through.Sequence)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
)

// erasePage is how many rows one commit erases personal data from.
const erasePage = 100

// personal is one column with personal data.
type personal struct{ name, table, column, kind string }

// personals are all of them. kind is an expression for the kind of the data. Customers and payment methods have a deletion of their own.
func personals() []personal {
	return []personal{
		{"transactions", "transactions", "details", "'transaction'"},
		{"waiting", "transactions", "COALESCE(waiting_details, '')", "'transaction'"},
		{"captures", "captures", "details", "'capture'"},
		{"refunds", "refunds", "details", "'refund'"},
		{"events", "events", "data", "type"},
	}
}

// ErasePersonal replaces the personal data of all rows made before a time by the result of erase, in pages of one short commit each, and
// returns how many rows have changed. It goes on behind the rows that were erased before.
func (db *DB) ErasePersonal(ctx context.Context, before time.Time, erase func(kind string, data []byte) []byte) (erased int64, err error) {
	for _, p := range personals() {
		for more := true; more; {
			n := int64(0)
			err := db.Update(ctx, func(tx *Tx) (err error) { n, more, err = tx.erasePage(p, id.At(before), erase); return err })
			if err != nil {
				return erased, fmt.Errorf("erase personal data of %s: %w", p.name, err)
			}
			erased += n
			select {
			case <-ctx.Done():
				return erased, ctx.Err()
			case <-time.After(purgePause):
			}
		}
	}
	return erased, nil
}

// row is one value with personal data.
type personalRow struct {
	id         int64
	kind, data string
}

func (tx *Tx) erasePage(p personal, before int64, erase func(string, []byte) []byte) (n int64, more bool, err error) {
	through, err := tx.erasedThrough(p.name)
	if err != nil {
		return 0, false, err
	}
	var rows []personalRow
	err = tx.each(`SELECT id, `+p.kind+`, `+p.column+` FROM `+p.table+` WHERE id > ? AND id < ? ORDER BY id LIMIT ?`+tx.s.Dialect().Lock,
		func(row Scanner) error {
			var r personalRow
			if err := row.Scan(&r.id, &r.kind, &r.data); err != nil {
				return fmt.Errorf("read personal data: %w", err)
			}
			rows = append(rows, r)
			return nil
		}, through, before, erasePage)
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	for _, r := range rows {
		if r.data == "" {
			continue
		}
		next := string(erase(r.kind, []byte(r.data)))
		if next == r.data {
			continue
		}
		if err := tx.change(`UPDATE `+p.table+` SET `+p.target()+` = ? WHERE id = ?`, next, r.id); err != nil {
			return 0, false, err
		}
		n++
	}
	err = tx.exec(`INSERT INTO erasures (name, through) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET through = ?2`, p.name, rows[len(rows)-1].id)
	return n, len(rows) == erasePage, err
}

// target is the column that is written.
func (p personal) target() string {
	if p.name == "waiting" {
		return "waiting_details"
	}
	return p.column
}

func (tx *Tx) erasedThrough(name string) (through int64, err error) {
	row, err := tx.locked(`SELECT through FROM erasures WHERE name = ?`, name)
	if err != nil {
		return 0, err
	}
	if err := row.Scan(&through); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read erasure: %w", err)
	}
	return through, nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
)

// erasePage is how many rows one commit erases personal data from.
const erasePage = 100

// personal are the columns of one table with personal data.
type personal struct {
	name, table string
	column      string   // "" for none
	kind        string   // an expression for the kind of the data in column
	addresses   []string // columns with client addresses
}

// personals returns all of them. The data of customers and payment methods has a deletion of its
// own: only their client addresses are here.
func personals() []personal {
	client := []string{"client_address"}
	payer := []string{"client_address", "confirm_client_address", "void_client_address"}
	return []personal{
		{"transactions", "transactions", "details", "'transaction'", payer},
		{"waiting", "transactions", "waiting_details", "'transaction'", nil},
		{"captures", "captures", "details", "'capture'", client},
		{"refunds", "refunds", "details", "'refund'", client},
		{"events", "events", "data", "type", nil},
		{"customers", "customers", "", "''", client},
		{"payment_methods", "payment_methods", "", "''", client},
	}
}

// selection is the query for a page of rows: id, kind, data and whether there is a client address.
func (p personal) selection() string {
	data, addressed := "''", "0"
	if p.column != "" {
		data = "COALESCE(" + p.column + ", '')"
	}
	if len(p.addresses) > 0 {
		addressed = "CASE WHEN " + strings.Join(p.addresses, " || ") + " <> '' THEN 1 ELSE 0 END"
	}
	return `SELECT id, ` + p.kind + `, ` + data + `, ` + addressed + ` FROM ` + p.table + ` WHERE id > ? AND id < ? ORDER BY id LIMIT ?`
}

// erase writes data and empties the client addresses of one row.
func (p personal) erase(tx *Tx, id int64, data string) error {
	var (
		set  []string
		args []any
	)
	if p.column != "" {
		set, args = append(set, p.column+" = ?"), append(args, data)
	}
	for _, column := range p.addresses {
		set = append(set, column+" = ''")
	}
	return tx.change(`UPDATE `+p.table+` SET `+strings.Join(set, ", ")+` WHERE id = ?`, append(args, id)...)
}

// ErasePersonal replaces the personal data of all rows created before a time by the result of erase,
// and empties their client addresses. It returns the number of rows changed. It writes pages of one
// short commit each, and begins after the rows of earlier calls.
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

// personalRow is one row with personal data.
type personalRow struct {
	id         int64
	kind, data string
	addressed  bool
}

func (tx *Tx) erasePage(p personal, before int64, erase func(string, []byte) []byte) (n int64, more bool, err error) {
	through, err := tx.erasedThrough(p.name)
	if err != nil {
		return 0, false, err
	}
	var rows []personalRow
	err = tx.each(p.selection()+tx.s.Dialect().Lock, func(row Scanner) error {
		var r personalRow
		if err := row.Scan(&r.id, &r.kind, &r.data, &r.addressed); err != nil {
			return fmt.Errorf("read personal data: %w", err)
		}
		rows = append(rows, r)
		return nil
	}, through, before, erasePage)
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	for _, r := range rows {
		next := r.data
		if r.data != "" {
			next = string(erase(r.kind, []byte(r.data)))
		}
		if next == r.data && !r.addressed {
			continue
		}
		if err := p.erase(tx, r.id, next); err != nil {
			return 0, false, err
		}
		n++
	}
	err = tx.exec(`INSERT INTO erasures (name, through) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET through = ?2`, p.name, rows[len(rows)-1].id)
	return n, len(rows) == erasePage, err
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

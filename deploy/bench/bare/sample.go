package bare

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
)

// Schema is a name for the template's schema and the shape of a payment in it: 12 characters that differ when these do.
func (t *Template) Schema() string {
	var rows []string
	for _, table := range []string{"transactions", "captures", "events", "idempotency_keys"} {
		for _, r := range t.rows[table] {
			rows = append(rows, table+" "+strings.Join(r.columns(), " "))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(append(rows, t.schema...), "\n")))
	return hex.EncodeToString(sum[:6])
}

// Size is the number of bytes of the values of one payment, without what the file adds.
func (t *Template) Size() (n int64) {
	for _, rows := range t.rows {
		for _, r := range rows {
			for _, v := range r {
				switch v := v.(type) {
				case string:
					n += int64(len(v))
				case []byte:
					n += int64(len(v))
				default:
					n += 6 // ids and times take so much, small numbers less
				}
			}
		}
	}
	return n
}

// RowsEach is how many rows one payment leaves behind.
func (t *Template) RowsEach() (n int) {
	for _, rows := range t.rows {
		n += len(rows)
	}
	return n
}

// Sample returns n transaction ids, without prefix, of the merchant that has API keys, in no order. They are spread evenly over the time of
// its payments and, when it has few, not all different.
func Sample(ctx context.Context, path string, n int) ([]string, error) {
	db, err := openReader(path)
	if err != nil {
		return nil, err
	}
	out, err := sample(ctx, db, n)
	if err != nil {
		err = fmt.Errorf("sample %s: %w", path, err)
	}
	return out, errors.Join(err, db.Close())
}

func sample(ctx context.Context, db *sql.DB, n int) ([]string, error) {
	var merchant, first, last int64
	err := db.QueryRowContext(ctx, `SELECT MAX(merchant_id) FROM api_keys`).Scan(&merchant)
	if err != nil {
		return nil, err
	}
	err = db.QueryRowContext(ctx, `SELECT MIN(id), MAX(id) FROM transactions WHERE merchant_id = ? AND live = 0`, merchant).Scan(&first, &last)
	if err != nil {
		return nil, err
	}
	out := make([]string, n)
	for i := range out {
		var number int64
		err := db.QueryRowContext(ctx, `SELECT id FROM transactions WHERE merchant_id = ? AND live = 0 AND id >= ? ORDER BY id LIMIT 1`,
			merchant, first+chance(int64(i), last-first+1)).Scan(&number)
		if err != nil {
			return nil, err
		}
		out[i] = strings.TrimPrefix(id.Format(id.Transaction, number), string(id.Transaction)+"_")
	}
	return out, nil
}

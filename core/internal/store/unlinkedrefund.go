package store

import "fmt"

// UnlinkedRefunds reports whether a merchant may give money to where it took none from.
func (tx *Tx) UnlinkedRefunds(merchant int64) (bool, error) {
	row, err := tx.row(`SELECT COALESCE(MAX(unlinked_refunds), 0) FROM merchants WHERE id = ?`, merchant)
	if err != nil {
		return false, err
	}
	var allowed bool
	if err := row.Scan(&allowed); err != nil {
		return false, fmt.Errorf("read merchant: %w", err)
	}
	return allowed, nil
}

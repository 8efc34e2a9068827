package store

import "fmt"

var selectUnlinkedRefunds = declare("selectUnlinkedRefunds")

// UnlinkedRefunds reports whether a merchant may make refunds that belong to no transaction.
func (tx *Tx) UnlinkedRefunds(merchant int64) (bool, error) {
	row, err := tx.row(selectUnlinkedRefunds, merchant)
	if err != nil {
		return false, err
	}
	var allowed bool
	if err := row.Scan(&allowed); err != nil {
		return false, fmt.Errorf("read merchant: %w", err)
	}
	return allowed, nil
}

package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var selectKeyUse = declare("selectKeyUse")

// Where several processes share a store, what one of them remembers of an API key may be a moment old. So a command that somebody asks for under a key
// looks at the key's row itself: whoever was told that the key has ended, or its merchant is out of service, finds nothing done under it from then on.

// UseKey says whether a command may be carried out under an API key: ErrKeyEnded or ErrMerchantDisabled. 0 is nobody's key. A store that one process
// has for itself is asked nothing: what that remembers of keys is what is so.
func (tx *Tx) UseKey(key int64) error {
	if key == 0 || !tx.db.shared {
		return nil
	}
	row, err := tx.row(selectKeyUse, key, toMillis(tx.Now))
	if err != nil {
		return err
	}
	var valid, disabled bool
	switch err := row.Scan(&valid, &disabled); {
	case errors.Is(err, sql.ErrNoRows):
		return payment.ErrKeyEnded
	case err != nil:
		return fmt.Errorf("read key: %w", err)
	case !valid:
		return payment.ErrKeyEnded
	case disabled:
		return payment.ErrMerchantDisabled
	}
	return nil
}

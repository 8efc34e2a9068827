package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Where several processes share a store, what one of them remembers of an API key may be a moment old. So a command that somebody asks for under a key
// looks at the key's row itself: whoever was told that the key has ended, or its merchant is out of service, finds nothing done under it from then on.

// usable holds while the key ?7 may be used at the time ?5.
const usable = `EXISTS (SELECT 1 FROM api_keys JOIN merchants ON merchants.id = api_keys.merchant_id
	WHERE api_keys.id = ?7 AND revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > ?5) AND disabled_at = 0)`

// UseKey says whether a command may be carried out under an API key: ErrKeyEnded or ErrMerchantDisabled. 0 is nobody's key. A store that one process
// has for itself is asked nothing: what that remembers of keys is what is so.
func (tx *Tx) UseKey(key int64) error {
	if key == 0 || !tx.db.shared {
		return nil
	}
	row, err := tx.row(`SELECT revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2), disabled_at > 0
		FROM api_keys JOIN merchants ON merchants.id = api_keys.merchant_id WHERE api_keys.id = ?1`, key, toMillis(tx.Now))
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

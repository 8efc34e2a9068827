package store

// SetDay says when a merchant's day ends; "" and a negative number leave the time zone and the cut-off as they are. ErrConflict when there
// is no such merchant.
func (tx *Tx) SetDay(merchant int64, timeZone string, cutoff int) error {
	return tx.change(`UPDATE merchants SET time_zone = COALESCE(NULLIF(?1, ''), time_zone), cutoff = CASE WHEN ?2 < 0 THEN cutoff ELSE ?2 END
		WHERE id = ?3`, timeZone, cutoff, merchant)
}

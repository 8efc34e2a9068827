package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

//nolint:gosec // names of columns
const tokenColumns = `id, merchant_id, live, kind, details, vault_key, number, cvc, cvc_given, used_by, used_at, created_at, expires_at`

// InsertToken writes a token, which lives from now on. ErrDuplicate when the id is taken, ErrKeyRetired when it must be sealed anew.
func (tx *Tx) InsertToken(t *payment.Token) error {
	if err := tx.current(t.Sealed.Key); err != nil {
		return err
	}
	t.CVCGiven, t.CreatedAt, t.ExpiresAt = len(t.Sealed.CVC) > 0, tx.Now, tx.Now.Add(payment.TokenLifetime)
	return tx.insert(`INSERT INTO tokens (id, merchant_id, live, kind, details, vault_key, number, cvc, cvc_given, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, t.Tenant.Merchant, t.Tenant.Live, t.Kind, string(t.Details), t.Sealed.Key, t.Sealed.Number, t.Sealed.CVC, t.CVCGiven,
		toMillis(t.CreatedAt), toMillis(t.ExpiresAt))
}

// UseToken uses a token up, for the object by, and wipes its security code. ErrConflict when it was used or has expired.
func (tx *Tx) UseToken(tenant payment.Tenant, id, by int64) error {
	// Zeroes of the same length go where the code was; to take it out of the row at once would leave its bytes in the page's free space.
	err := tx.overwrite(`UPDATE tokens SET cvc = zeroblob(length(cvc))
		WHERE id = ? AND merchant_id = ? AND live = ? AND used_by = 0 AND cvc IS NOT NULL AND expires_at > ?`,
		id, tenant.Merchant, tenant.Live, toMillis(tx.Now))
	if err != nil {
		return err
	}
	return tx.change(`UPDATE tokens SET used_by = ?1, used_at = ?2, cvc = NULL
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND used_by = 0 AND expires_at > ?2`,
		by, toMillis(tx.Now), id, tenant.Merchant, tenant.Live)
}

// ReturnToken takes back a use that came to nothing, so that the token can be used again. The security code comes back as sealed gives
// it; a token that had one and does not get it back stays used. ErrKeyRetired when it must be sealed anew.
func (tx *Tx) ReturnToken(id, by int64, sealed payment.Sealed) error {
	if len(sealed.CVC) == 0 {
		return tx.exec(`UPDATE tokens SET used_by = 0, used_at = 0 WHERE id = ? AND used_by = ? AND cvc_given = 0`, id, by)
	}
	if err := tx.current(sealed.Key); err != nil {
		return err
	}
	return tx.exec(`UPDATE tokens SET used_by = 0, used_at = 0, vault_key = ?, number = ?, cvc = ?
		WHERE id = ? AND used_by = ? AND cvc_given = 1 AND expires_at > ?`,
		sealed.Key, sealed.Number, sealed.CVC, id, by, toMillis(tx.Now))
}

// WipeTokens takes the secrets from at most limit tokens that have expired, and returns from how many.
func (tx *Tx) WipeTokens(limit int) (int64, error) {
	const expired = ` WHERE id IN (SELECT id FROM tokens INDEXED BY tokens_sealed
		WHERE (number IS NOT NULL OR cvc IS NOT NULL) AND expires_at <= ? ORDER BY expires_at, id LIMIT ?)`
	// Over their bytes first, as in UseToken.
	err := tx.overwrite(`UPDATE tokens SET number = iif(number IS NULL, NULL, zeroblob(length(number))),
		cvc = iif(cvc IS NULL, NULL, zeroblob(length(cvc)))`+expired, toMillis(tx.Now), limit)
	if err != nil {
		return 0, err
	}
	return tx.changed(`UPDATE tokens SET number = NULL, cvc = NULL`+expired, toMillis(tx.Now), limit)
}

// DeleteTokens removes at most limit tokens that expired at least so long ago, and returns how many.
func (tx *Tx) DeleteTokens(age time.Duration, limit int) (int64, error) {
	return tx.changed(`DELETE FROM tokens WHERE id IN (SELECT id FROM tokens INDEXED BY tokens_by_expiry WHERE expires_at <= ? LIMIT ?)`,
		toMillis(tx.Now.Add(-age)), limit)
}

// Token reads one token of the tenant, else ErrNotFound.
func (db *DB) Token(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Token, error) {
	s, err := db.query(ctx, `SELECT `+tokenColumns+` FROM tokens WHERE id = ? AND merchant_id = ? AND live = ?`)
	if err != nil {
		return nil, err
	}
	return scanToken(s.Row(ctx, id, tenant.Merchant, tenant.Live))
}

// Token reads one token of the tenant, else ErrNotFound.
func (tx *Tx) Token(tenant payment.Tenant, id int64) (*payment.Token, error) {
	row, err := tx.row(`SELECT `+tokenColumns+` FROM tokens WHERE id = ? AND merchant_id = ? AND live = ?`, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanToken(row)
}

func scanToken(row Scanner) (*payment.Token, error) {
	var (
		t                      payment.Token
		used, created, expires int64
	)
	err := row.Scan(&t.ID, &t.Tenant.Merchant, &t.Tenant.Live, &t.Kind, &t.Details, &t.Sealed.Key, &t.Sealed.Number, &t.Sealed.CVC,
		&t.CVCGiven, &t.UsedBy, &used, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	t.UsedAt, t.CreatedAt, t.ExpiresAt = fromMillis(used), fromMillis(created), fromMillis(expires)
	return &t, nil
}

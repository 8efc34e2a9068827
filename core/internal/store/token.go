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
const tokenColumns = `t.id, t.merchant_id, t.live, t.kind, t.details, t.vault_key, t.number, t.secret_hash, t.cvc_given, t.used_by, t.used_at,
	t.created_at, t.expires_at`

// tokenByID reads a token with its security code and the key of that, where they are still there.
const tokenByID = `SELECT ` + tokenColumns + `, c.sealed, COALESCE(k.id, 0), COALESCE(k.hour, 0), COALESCE(k.vault_key, 0), k.sealed
	FROM tokens t LEFT JOIN security_codes c ON c.token_id = t.id LEFT JOIN code_keys k ON k.id = c.key_id
	WHERE t.id = ? AND t.merchant_id = ? AND t.live = ?`

// InsertToken writes a token, which lives from now on. ErrDuplicate when the id is taken, ErrKeyRetired and ErrCodeKeyGone when it must
// be sealed anew.
func (tx *Tx) InsertToken(t *payment.Token) error {
	if err := tx.current(t.Sealed.Key); err != nil {
		return err
	}
	t.CVCGiven, t.CreatedAt, t.ExpiresAt = len(t.Sealed.Code.Text) > 0, tx.Now, tx.Now.Add(payment.TokenLifetime)
	err := tx.insert(`INSERT INTO tokens
		(id, merchant_id, live, kind, details, vault_key, number, secret_hash, cvc_given, created_at, expires_at,
			api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.ID, t.Tenant.Merchant, t.Tenant.Live, t.Kind, string(t.Details), t.Sealed.Key, t.Sealed.Number, t.SecretHash, t.CVCGiven,
		toMillis(t.CreatedAt), toMillis(t.ExpiresAt), t.Client.APIKey, t.Client.Address)
	if err != nil {
		return err
	}
	return tx.insertCode(t.ID, t.Sealed.Code)
}

// UseToken uses a token up, for the object by, and removes its security code. ErrConflict when it was used or has expired.
func (tx *Tx) UseToken(tenant payment.Tenant, id, by int64) error {
	err := tx.change(`UPDATE tokens SET used_by = ?1, used_at = ?2
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND used_by = 0 AND expires_at > ?2`,
		by, toMillis(tx.Now), id, tenant.Merchant, tenant.Live)
	if err != nil {
		return err
	}
	return tx.deleteCode(id)
}

// ReturnToken takes back a use that came to nothing, so that the token can be used again. The security code comes back as sealed gives
// it; a token that had one and does not get it back stays used. ErrCodeKeyGone when the code must be sealed anew.
func (tx *Tx) ReturnToken(id, by int64, sealed payment.Sealed) error {
	if len(sealed.Code.Text) == 0 {
		return tx.exec(`UPDATE tokens SET used_by = 0, used_at = 0 WHERE id = ? AND used_by = ? AND cvc_given = 0`, id, by)
	}
	n, err := tx.changed(`UPDATE tokens SET used_by = 0, used_at = 0 WHERE id = ? AND used_by = ? AND cvc_given = 1 AND expires_at > ?`,
		id, by, toMillis(tx.Now))
	if err != nil || n == 0 {
		return err
	}
	return tx.insertCode(id, sealed.Code)
}

// tokensBetween selects tokens from the row ?2 of the time ?1 up to the row ?4 of the time ?3.
const tokensBetween = ` expires_at >= ?1 AND (expires_at > ?1 OR id >= ?2) AND expires_at <= ?3 AND (expires_at < ?3 OR id <= ?4)` //nolint:gosec // SQL

// tokensAfter selects a page of ?4 tokens up to the time ?1 after the row ?3 of the time ?2.
const tokensAfter = ` expires_at <= ?1 AND expires_at >= ?2 AND (expires_at > ?2 OR id > ?3) ORDER BY expires_at, id LIMIT ?4` //nolint:gosec // SQL

// The rows among which the parts of WipeTokens select.
const (
	sealedTokens = ` FROM tokens INDEXED BY tokens_sealed WHERE number IS NOT NULL AND` //nolint:gosec // SQL
	allTokens    = ` FROM tokens INDEXED BY tokens_by_expiry WHERE`                     //nolint:gosec // SQL
)

// WipeTokens removes the secrets of the tokens that have expired, and returns the number of tokens. A
// token that expired only by a clock that was set ahead expires by the confirmed time too, so that it
// stays expired after the clock is set right. So does a token that a clock ahead wrote, with or
// without its secrets: DeleteTokens then removes it as soon as others. A token that is later than
// LatestToken allows was written by such a clock.
func (db *DB) WipeTokens(ctx context.Context) (wiped int64, err error) {
	pass := db.BeginPass(PassExpiry)
	for i, due := range dueRangesFrom(db.clock.Now(), db.LatestToken(), payment.TokenLifetime) {
		rows := []string{sealedTokens, allTokens}[i]
		n, err := Rows[Due]{Kind: "token", ID: dueID}.purge(ctx, pass, func(last Due) ([]Due, error) {
			after := due.next(last)
			return collect(ctx, db, `SELECT expires_at, id`+rows+tokensAfter, scanDue, due.through, after.At, after.ID, purgeBatch)
		}, func(tx *Tx, part []Due) (int64, error) { return tx.wipeTokens(rows, part) })
		if wiped += n; err != nil {
			return wiped, err
		}
	}
	return wiped, nil
}

// wipeTokens wipes the tokens of a part of sealedTokens or allTokens.
func (tx *Tx) wipeTokens(rows string, part []Due) (int64, error) {
	expired := ` IN (SELECT id` + rows + tokensBetween + `)`
	first, last := span(part)
	args := []any{first.At, first.ID, last.At, last.ID}
	if err := tx.exec(`DELETE FROM security_codes WHERE token_id`+expired, args...); err != nil {
		return 0, err
	}
	// Zeroes of the same length overwrite the number first: without them its bytes would stay in the
	// free space of the page.
	if err := tx.overwrite(`UPDATE tokens SET number = zeroblob(length(number)) WHERE number IS NOT NULL AND id`+expired, args...); err != nil {
		return 0, err
	}
	return tx.changed(`UPDATE tokens SET number = NULL, expires_at = MIN(expires_at, ?5) WHERE id`+expired,
		append(args, toMillis(tx.Confirmed()))...)
}

// DeleteTokens removes the tokens that expired at least so long ago, and returns how many.
func (db *DB) DeleteTokens(ctx context.Context, age time.Duration) (deleted int64, err error) {
	by := toMillis(db.Confirmed().Add(-age))
	return Rows[Due]{Kind: "token", ID: dueID}.purge(ctx, db.BeginPass(PassPurge), func(after Due) ([]Due, error) {
		return collect(ctx, db, `SELECT expires_at, id FROM tokens INDEXED BY tokens_by_expiry WHERE`+tokensAfter,
			scanDue, by, after.At, after.ID, purgeBatch)
	}, func(tx *Tx, part []Due) (int64, error) {
		first, last := span(part)
		return tx.changed(`DELETE FROM tokens WHERE`+tokensBetween, first.At, first.ID, last.At, last.ID)
	})
}

// Token reads one token of the tenant, else ErrNotFound.
func (db *DB) Token(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Token, error) {
	s, err := db.query(ctx, tokenByID)
	if err != nil {
		return nil, err
	}
	return scanToken(s.Row(ctx, id, tenant.Merchant, tenant.Live))
}

// Token reads one token of the tenant, else ErrNotFound.
func (tx *Tx) Token(tenant payment.Tenant, id int64) (*payment.Token, error) {
	row, err := tx.row(tokenByID, id, tenant.Merchant, tenant.Live)
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
	code := &t.Sealed.Code
	err := row.Scan(&t.ID, &t.Tenant.Merchant, &t.Tenant.Live, &t.Kind, &t.Details, &t.Sealed.Key, &t.Sealed.Number, &t.SecretHash,
		&t.CVCGiven, &t.UsedBy, &used, &created, &expires, &code.Text, &code.Key.ID, &code.Key.Hour, &code.Key.Vault, &code.Key.Sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	t.UsedAt, t.CreatedAt, t.ExpiresAt = fromMillis(used), fromMillis(created), fromMillis(expires)
	return &t, nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	insertToken                = declare("insertToken")
	useToken                   = declare("useToken")
	returnToken                = declare("returnToken")
	returnTokenWithCode        = declare("returnTokenWithCode")
	selectOldTokens            = declare("selectOldTokens")
	deleteTokens               = declare("deleteTokens")
	selectToken                = declare("selectToken")
	selectExpiredTokens        = declare("selectExpiredTokens")
	deleteCodesOfExpiredTokens = declare("deleteCodesOfExpiredTokens")
	overwriteExpiredTokens     = declare("overwriteExpiredTokens")
	wipeExpiredTokens          = declare("wipeExpiredTokens")
	selectAheadTokens          = declare("selectAheadTokens")
	deleteCodesOfAheadTokens   = declare("deleteCodesOfAheadTokens")
	overwriteAheadTokens       = declare("overwriteAheadTokens")
	wipeAheadTokens            = declare("wipeAheadTokens")
)

// InsertToken inserts a token, which expires after payment.TokenLifetime. It returns ErrDuplicate
// if the id is taken. ErrKeyRetired or ErrCodeKeyGone if a key that encrypted it is retired or
// destroyed: encrypt it again.
func (tx *Tx) InsertToken(t *payment.Token) error {
	if err := tx.current(t.Sealed.Key); err != nil {
		return err
	}
	t.CVCGiven, t.CreatedAt, t.ExpiresAt = len(t.Sealed.Code.Text) > 0, tx.Now, tx.Now.Add(payment.TokenLifetime)
	err := tx.insert(insertToken,
		t.ID, t.Tenant.Merchant, t.Tenant.Live, t.Kind, string(t.Details), t.Sealed.Key, t.Sealed.Number, t.SecretHash,
		t.CVCGiven, toMillis(t.CreatedAt), toMillis(t.ExpiresAt), t.Client.APIKey, t.Client.Address)
	if err != nil {
		return err
	}
	return tx.insertCode(t.ID, t.Sealed.Code)
}

// UseToken uses a token up, for the object by, and removes its security code. It returns
// ErrConflict if the token is used already or has expired.
func (tx *Tx) UseToken(tenant payment.Tenant, id, by int64) error {
	err := tx.execOne(useToken,
		by, toMillis(tx.Now), id, tenant.Merchant, tenant.Live)
	if err != nil {
		return err
	}
	return tx.deleteCode(id)
}

// ReturnToken makes a token usable again after the object by had no effect at the acquirer. sealed
// has the security code, encrypted again. A token that had a code stays used if sealed has none, or
// if it has expired. It returns ErrCodeKeyGone if the key of the code was destroyed: encrypt the
// code again.
func (tx *Tx) ReturnToken(id, by int64, sealed payment.Sealed) error {
	if len(sealed.Code.Text) == 0 {
		return tx.exec(returnToken, id, by)
	}
	n, err := tx.execCount(returnTokenWithCode,
		id, by, toMillis(tx.Now))
	if err != nil || n == 0 {
		return err
	}
	return tx.insertCode(id, sealed.Code)
}

// wiping has the statements that wipe a set of tokens.
type wiping struct{ page, deleteCodes, overwrite, wipe *Statement }

// wipings are for the tokens with secrets that have expired, and for the tokens that expire too far
// ahead.
var wipings = [2]wiping{
	{selectExpiredTokens, deleteCodesOfExpiredTokens, overwriteExpiredTokens, wipeExpiredTokens},
	{selectAheadTokens, deleteCodesOfAheadTokens, overwriteAheadTokens, wipeAheadTokens},
}

// WipeTokens removes the secrets of the tokens that have expired, and returns the number of tokens.
//
// A token can expire only by a clock that was set ahead. It then also expires by the confirmed
// time, so that it stays expired after the clock is corrected. The same holds for a token of a time
// ahead, with or without its secrets: DeleteTokens then removes it as early as others. The creation
// time of such a token is after LatestToken.
func (db *DB) WipeTokens(ctx context.Context) (wiped int64, err error) {
	p := db.BeginPass(pass.Expiry)
	rows := pass.Rows[Due]{Kind: "token", ID: dueID}
	for i, due := range dueRangesFrom(db.clock.Now(), db.LatestToken(), payment.TokenLifetime) {
		w := wipings[i]
		n, err := purge(ctx, db, p, rows, func(last Due) ([]Due, error) {
			after := due.next(last)
			return backgroundRows(ctx, db, w.page, scanDue, due.through, after.At, after.ID, purgeBatch)
		}, func(tx *Tx, chunk []Due) (int64, error) { return tx.wipeTokens(w, chunk) })
		if wiped += n; err != nil {
			return wiped, err
		}
	}
	return wiped, nil
}

// wipeTokens wipes a page of tokens.
func (tx *Tx) wipeTokens(w wiping, chunk []Due) (int64, error) {
	first, last := span(chunk)
	args := []any{first.At, first.ID, last.At, last.ID}
	if err := tx.exec(w.deleteCodes, args...); err != nil {
		return 0, err
	}
	// Zeroes of the same length overwrite the number first. Without them its bytes would stay in
	// the free space of the database page.
	if err := tx.overwrite(w.overwrite, args...); err != nil {
		return 0, err
	}
	return tx.execCount(w.wipe,
		append(args, toMillis(tx.Confirmed()))...)
}

// DeleteTokens removes the tokens that expired at least age ago, and returns how many.
func (db *DB) DeleteTokens(ctx context.Context, age time.Duration) (deleted int64, err error) {
	by := toMillis(db.Confirmed().Add(-age))
	rows := pass.Rows[Due]{Kind: "token", ID: dueID}
	return purge(ctx, db, db.BeginPass(pass.Purge), rows, func(after Due) ([]Due, error) {
		return backgroundRows(ctx, db, selectOldTokens,
			scanDue, by, after.At, after.ID, purgeBatch)
	}, func(tx *Tx, chunk []Due) (int64, error) {
		first, last := span(chunk)
		return tx.execCount(deleteTokens, first.At, first.ID, last.At, last.ID)
	})
}

// Token reads one token of the tenant, else ErrNotFound.
func (db *DB) Token(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Token, error) {
	return scanToken(db.rowOf(ctx, tenant, selectToken, id, tenant.Merchant, tenant.Live))
}

// Token reads one token of the tenant as part of the command, else ErrNotFound.
func (tx *Tx) Token(tenant payment.Tenant, id int64) (*payment.Token, error) {
	row, err := tx.row(selectToken, id, tenant.Merchant, tenant.Live)
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
	err := row.Scan(&t.ID, &t.Tenant.Merchant, &t.Tenant.Live, &t.Kind, &t.Details, &t.Sealed.Key, &t.Sealed.Number,
		&t.SecretHash, &t.CVCGiven, &t.UsedBy, &used, &created, &expires, &code.Text, &code.Key.ID, &code.Key.Hour,
		&code.Key.Vault, &code.Key.Sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	t.UsedAt, t.CreatedAt, t.ExpiresAt = fromMillis(used), fromMillis(created), fromMillis(expires)
	return &t, nil
}

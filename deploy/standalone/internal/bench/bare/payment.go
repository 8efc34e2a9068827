package bare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

const (
	begin  = `BEGIN IMMEDIATE`
	commit = `COMMIT`

	claimKey = `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (merchant_id, live, key) DO NOTHING`
	insertTransaction = `INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, claim, created_at, updated_at)
		VALUES (?, ?, ?, 'processing', ?, ?, ?, ?, ?, ?, ?, ?)`
	resolveTransaction = `UPDATE transactions
		SET status = ?, amount_authorized = ?, amount_captured = ?, result = ?, version = version + 1, claim = 0, updated_at = ?
		WHERE id = ? AND status IN ('processing', 'unknown')`
	insertCapture = `INSERT INTO captures
		(id, transaction_id, merchant_id, live, state, amount, currency, final, details, claim, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertEvent = `INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	completeKey = `UPDATE idempotency_keys SET status = ?, answer = ? WHERE id = ? AND status = 0`

	// What a payment leaves behind, written at once: only for Single.
	finalKey = `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, status, answer, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	finalTransaction = `INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, amount_authorized, amount_captured, details,
		result, version, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

func statements() []string {
	return []string{
		begin, commit, claimKey, insertTransaction, resolveTransaction, insertCapture, insertEvent, completeKey,
		finalKey, finalTransaction,
	}
}

// ErrChanged is returned, wrapped, when the server does not write what this package writes any more: package bare must follow
// core/internal/store.
var ErrChanged = errors.New("bare: the server writes other rows than the bare loop")

// payment is the template's rows, one for each table that a payment writes to.
type payment struct {
	transaction, capture, event, key Row
}

func newPayment(t *Template) (*payment, error) {
	p := &payment{}
	into := map[string]*Row{"transactions": &p.transaction, "captures": &p.capture, "events": &p.event, "idempotency_keys": &p.key}
	for _, table := range slices.Sorted(maps.Keys(t.rows)) {
		row, ok := into[table]
		if n := len(t.rows[table]); !ok || n != 1 {
			return nil, fmt.Errorf("%w: it wrote %d rows to %s for one payment", ErrChanged, n, table)
		}
		*row = t.rows[table][0]
		delete(into, table)
	}
	for table := range into {
		return nil, fmt.Errorf("%w: it wrote no row to %s", ErrChanged, table)
	}
	for _, id := range []any{p.transaction["id"], p.capture["id"], p.event["id"]} {
		if _, ok := id.(int64); !ok {
			return nil, fmt.Errorf("%w: an id is a %T", ErrChanged, id)
		}
	}
	return p, nil
}

// id is the n-th payment's id in the row's table. Payment 0 has the ids of the real one. Ids rise, as the service's do.
func id(r Row, n int64) int64 { return r["id"].(int64) + n<<10 }

// keyOf is the n-th payment's idempotency key: as long as the real one and, like keys that clients draw, in no order.
func (p *payment) keyOf(n int64) any {
	if n == 0 {
		return p.key["key"]
	}
	key := []byte(p.key["key"].(string))
	Scatter(key, ^uint64(n)) //nolint:gosec // n is not negative; far from the numbers of real keys, which count up from 1
	return string(key)
}

// Scatter writes n into b as hexadecimal digits that rise in no order and are different for every n, when b has at least 16 bytes.
func Scatter(b []byte, n uint64) {
	const digits = "0123456789abcdef"
	n += 0x9e3779b97f4a7c15 // each of these steps can be undone, so no two n meet
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	n ^= n >> 31
	for i := range b {
		b[i] = digits[n>>(4*(uint(i)%16))&15] //nolint:gosec // an index is not negative
	}
}

func (l *Loop) intent(n int64) (claim int64, err error) {
	t, k := l.payment.transaction, l.payment.key
	r, err := l.exec(claimKey, k["merchant_id"], k["live"], l.payment.keyOf(n), k["fingerprint"], k["created_at"], k["expires_at"])
	if err != nil {
		return 0, err
	}
	if rows, err := r.RowsAffected(); err != nil || rows != 1 {
		return 0, fmt.Errorf("bare loop: key %d is taken (%w)", n, err)
	}
	if claim, err = r.LastInsertId(); err != nil {
		return 0, fmt.Errorf("bare loop: %w", err)
	}
	_, err = l.exec(insertTransaction, id(t, n), t["merchant_id"], t["live"], t["auto_capture"], t["amount"], t["currency"],
		t["payment_method"], t["details"], claim, t["created_at"], t["created_at"])
	return claim, err
}

func (l *Loop) outcome(n, claim int64) error {
	t, k := l.payment.transaction, l.payment.key
	err := l.one(resolveTransaction, t["status"], t["amount_authorized"], t["amount_captured"], t["result"], t["updated_at"], id(t, n))
	if err != nil {
		return err
	}
	if err := l.follow(n); err != nil {
		return err
	}
	return l.one(completeKey, k["status"], k["answer"], claim)
}

// follow writes what a captured payment brings with it.
func (l *Loop) follow(n int64) error {
	t, c, e := l.payment.transaction, l.payment.capture, l.payment.event
	_, err := l.exec(insertCapture, id(c, n), id(t, n), c["merchant_id"], c["live"], c["state"], c["amount"], c["currency"], c["final"],
		c["details"], c["claim"], c["created_at"], c["updated_at"])
	if err != nil {
		return err
	}
	_, err = l.exec(insertEvent, id(e, n), e["merchant_id"], e["live"], e["type"], id(t, n), e["sequence"], e["data"], e["created_at"])
	return err
}

func (l *Loop) final(n int64) error {
	t, k := l.payment.transaction, l.payment.key
	_, err := l.exec(finalKey, k["merchant_id"], k["live"], l.payment.keyOf(n), k["fingerprint"], k["status"], k["answer"],
		k["created_at"], k["expires_at"])
	if err != nil {
		return err
	}
	_, err = l.exec(finalTransaction, id(t, n), t["merchant_id"], t["live"], t["status"], t["auto_capture"], t["amount"], t["currency"],
		t["payment_method"], t["amount_authorized"], t["amount_captured"], t["details"], t["result"], t["version"], t["created_at"],
		t["updated_at"])
	if err != nil {
		return err
	}
	return l.follow(n)
}

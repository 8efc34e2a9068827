package bare

import (
	"database/sql/driver"
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
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, claim, created_at,
		updated_at,			api_key_id, client_address)
		VALUES (?, ?, ?, 'processing', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	resolveTransaction = `UPDATE transactions
		SET status = ?, amount_authorized = ?, amount_captured = ?, result = ?,
		version = version + 1, claim = 0, updated_at = ?
		WHERE id = ? AND status IN ('processing', 'unknown')`
	insertCapture = `INSERT INTO captures
		(id, transaction_id, merchant_id, live, state, amount, currency, final, details, claim, created_at,
		updated_at,			api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertEvent = `INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	insertTerm = `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`
	completeKey = `UPDATE idempotency_keys SET status = ?, answer = ? WHERE id = ? AND status = 0`

	// The final rows of a payment, written at once by Single.
	finalKey = `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, status, answer, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	finalTransaction = `INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, amount_authorized,
		amount_captured, details, 		result, version, created_at, updated_at, api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// ErrChanged is returned, wrapped, if the server writes other rows than this package. Then package
// bare must follow core/internal/store.
var ErrChanged = errors.New("bare: the server writes other rows than the bare loop")

// terms is the table that only a payment with a reference or a customer writes to.
const terms = "transaction_terms"

// payment is the template's rows, one for each table that a payment writes to. term is nil for a
// payment without a reference.
type payment struct {
	transaction, capture, event, key, term Row
}

func newPayment(t *Template) (*payment, error) {
	p := &payment{}
	into := map[string]*Row{
		"transactions": &p.transaction, "captures": &p.capture, "events": &p.event,
		"idempotency_keys": &p.key, terms: &p.term,
	}
	for _, table := range slices.Sorted(maps.Keys(t.rows)) {
		row, ok := into[table]
		if n := len(t.rows[table]); !ok || n != 1 {
			return nil, fmt.Errorf("%w: it wrote %d rows to %s for one payment", ErrChanged, n, table)
		}
		*row = t.rows[table][0]
		delete(into, table)
	}
	delete(into, terms)
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

// nth returns the n-th payment's id in the row's table. Payment 0 has the ids of the real one. Ids
// rise, as in the service.
func nth(r Row, n int64) int64 { return r["id"].(int64) + n<<10 }

// keyOf returns the n-th payment's idempotency key. It is as long as the real one and, like the
// keys of clients, in no order.
func (p *payment) keyOf(n int64) any {
	if n == 0 {
		return p.key["key"]
	}
	key := []byte(p.key["key"].(string))
	Scatter(key, ^uint64(n)) //nolint:gosec // n is not negative; far from the numbers of real keys, which count up from 1
	return string(key)
}

// Mix spreads n over all numbers of 64 bits. No two n have the same result.
func Mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15 // each of these steps can be undone
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// Scatter fills b with hexadecimal digits of Mix. With at least 16 bytes they differ for every n.
func Scatter(b []byte, n uint64) {
	const digits = "0123456789abcdef"
	n = Mix(n)
	for i := range b {
		b[i] = digits[n>>(4*(uint(i)%16))&15]
	}
}

// pick returns the row's columns as arguments of a statement.
func (r Row) pick(columns ...string) []driver.NamedValue {
	args := make([]driver.NamedValue, len(columns))
	for i, c := range columns {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: r[c]}
	}
	return args
}

// step is a prepared statement with the payment's values.
type step struct {
	stmt driver.Stmt
	text string
	args []driver.NamedValue
	vary []int // the arguments that differ from payment to payment
}

// The steps of a payment, in the order of steps.
const (
	stepBegin = iota
	stepCommit
	stepClaim
	stepInsert
	stepResolve
	stepCapture
	stepEvent
	stepComplete
	stepFinalKey
	stepFinalTransaction
	stepTerm
)

// steps are not prepared yet.
func (p *payment) steps() []step {
	t, c, e, k := p.transaction, p.capture, p.event, p.key
	return []step{
		stepBegin:  {text: begin},
		stepCommit: {text: commit},
		stepClaim: {
			text: claimKey, vary: []int{2},
			args: k.pick("merchant_id", "live", "key", "fingerprint", "created_at", "expires_at"),
		},
		stepInsert: {
			text: insertTransaction, vary: []int{0, 8}, args: t.pick("id", "merchant_id", "live", "auto_capture", "amount",
				"currency", "payment_method", "details", "claim", "created_at", "created_at", "api_key_id",
				"client_address"),
		},
		stepResolve: {
			text: resolveTransaction, vary: []int{5},
			args: t.pick("status", "amount_authorized", "amount_captured", "result", "updated_at", "id"),
		},
		stepCapture: {
			text: insertCapture, vary: []int{0, 1},
			args: c.pick("id", "transaction_id", "merchant_id", "live", "state", "amount",
				"currency", "final", "details", "claim", "created_at", "updated_at", "api_key_id",
				"client_address"),
		},
		stepEvent: {
			text: insertEvent, vary: []int{0, 4},
			args: e.pick("id", "merchant_id", "live", "type", "object_id", "sequence", "data", "created_at"),
		},
		stepComplete: {text: completeKey, args: k.pick("status", "answer", "id"), vary: []int{2}},
		stepFinalKey: {
			text: finalKey, vary: []int{2},
			args: k.pick("merchant_id", "live", "key", "fingerprint", "status", "answer", "created_at", "expires_at"),
		},
		stepFinalTransaction: {
			text: finalTransaction, vary: []int{0}, args: t.pick("id", "merchant_id", "live", "status", "auto_capture", "amount",
				"currency", "payment_method", "amount_authorized", "amount_captured", "details", "result", "version", "created_at",
				"updated_at", "api_key_id", "client_address"),
		},
		stepTerm: {
			text: insertTerm, vary: []int{4}, args: p.term.pick("merchant", "is_live", "kind", "term", "transaction_id"),
		},
	}
}

func (l *Loop) intent(n int64) (claim int64, err error) {
	r, err := l.exec(stepClaim, l.payment.keyOf(n))
	if err != nil {
		return 0, err
	}
	if claim, err = r.LastInsertId(); err != nil {
		return 0, fmt.Errorf("bare loop: %w", err)
	}
	if _, err = l.exec(stepInsert, nth(l.payment.transaction, n), claim); err != nil {
		return 0, err
	}
	return claim, l.term(n)
}

// term writes the row by which a reference finds its payment.
func (l *Loop) term(n int64) error {
	if l.payment.term == nil {
		return nil
	}
	_, err := l.exec(stepTerm, nth(l.payment.transaction, n))
	return err
}

func (l *Loop) outcome(n, claim int64) error {
	if _, err := l.exec(stepResolve, nth(l.payment.transaction, n)); err != nil {
		return err
	}
	if err := l.follow(n); err != nil {
		return err
	}
	_, err := l.exec(stepComplete, claim)
	return err
}

// follow writes the capture and the event of a captured payment.
func (l *Loop) follow(n int64) error {
	transaction := nth(l.payment.transaction, n)
	if _, err := l.exec(stepCapture, nth(l.payment.capture, n), transaction); err != nil {
		return err
	}
	_, err := l.exec(stepEvent, nth(l.payment.event, n), transaction)
	return err
}

func (l *Loop) final(n int64) error {
	if _, err := l.exec(stepFinalKey, l.payment.keyOf(n)); err != nil {
		return err
	}
	if _, err := l.exec(stepFinalTransaction, nth(l.payment.transaction, n)); err != nil {
		return err
	}
	if err := l.term(n); err != nil {
		return err
	}
	return l.follow(n)
}

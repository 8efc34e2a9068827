package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// beginAll writes the intents of a batch. It leaves out an intent whose idempotency key is taken,
// whose API key has ended, or whose payment source cannot be used. It also leaves out an intent
// whose card has a decline. refuse_batch fails the statement if a token is used between its two
// reads of it.
var beginAll = beginText(
	", $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[], $26::text[], $27::text[]",
	", customer_id, method_id, token_id, account, tag, card", ", account, tag",
	sourceConditions+cardCondition, `, used AS (
	UPDATE tokens t SET used_by = taken.id, used_at = $16::bigint FROM taken
	WHERE t.id = taken.token_id AND t.id = ANY ($24::bigint[])
		AND t.merchant_id = taken.merchant_id AND t.live = taken.live
		AND t.used_by = 0 AND t.expires_at > $16::bigint
	RETURNING t.id
), uncoded AS (
	DELETE FROM security_codes WHERE token_id = ANY ($24::bigint[]) AND token_id IN (SELECT id FROM used)
)`, `CASE WHEN (SELECT COUNT(*) FROM used) = (SELECT COUNT(*) FROM taken WHERE token_id <> 0) THEN 1
	ELSE refuse_batch('a token was used meanwhile') END`)

// beginPlain is beginAll for payments of test mode without a stored payment source. Each part of a
// statement costs time even if it finds no row.
var beginPlain = beginText("", "", "", "", "", "1")

// sourceConditions are the conditions on stored payment sources.
const sourceConditions = `
		AND (a.customer_id = 0 OR EXISTS (SELECT 1 FROM customers c
			WHERE c.id = a.customer_id AND c.merchant_id = a.merchant_id AND c.live = a.live AND c.deleted_at = 0))
		AND (a.method_id = 0 OR EXISTS (SELECT 1 FROM payment_methods m
			WHERE m.id = a.method_id AND m.merchant_id = a.merchant_id AND m.live = a.live AND m.detached_at = 0
				AND (a.customer_id = 0 OR m.customer_id = a.customer_id)))
		AND (a.token_id = 0 OR EXISTS (SELECT 1 FROM tokens t
			WHERE t.id = a.token_id AND t.merchant_id = a.merchant_id AND t.live = a.live
				AND t.used_by = 0 AND t.expires_at > $16::bigint))`

// cardCondition leaves out the cards with declines. A command locks such a card.
const cardCondition = `
		AND (a.card = '' OR NOT EXISTS (SELECT 1 FROM card_attempts c
			WHERE c.merchant_id = a.merchant_id AND c.fingerprint = a.card))`

func beginText(arrays, columns, account, conditions, used, checked string) string {
	return `WITH good AS (
	SELECT k.id FROM api_keys k WHERE k.id = ANY ($19::bigint[])
		AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $16::bigint)
		AND (SELECT m.disabled_at FROM merchants m WHERE m.id = k.merchant_id) = 0
), intents AS MATERIALIZED (
	SELECT a.*, CASE WHEN a.key = '' THEN 0 ELSE nextval('idempotency_keys_id_seq') END AS claim
	FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::bytea[], $6::smallint[], $7::bigint[],
		$8::text[], $9::text[], $10::text[], $11::bigint[], $12::smallint[], $13::text[], $14::text[], $15::bigint[],
		$20::text[]` + arrays + `) WITH ORDINALITY
		AS a (id, merchant_id, live, key, fingerprint, auto_capture, amount, currency, payment_method, details,
			created_at, partial, customer, reference, api_key, client_address` + columns + `, ordinal)
	WHERE (a.api_key = 0 OR a.api_key IN (SELECT id FROM good))` + conditions + `
), claimed AS (
	INSERT INTO idempotency_keys (id, merchant_id, live, key, fingerprint, created_at, expires_at)
	OVERRIDING SYSTEM VALUE
	SELECT claim, merchant_id, live, key, fingerprint, $21::bigint, $17::bigint FROM intents WHERE claim <> 0
	ON CONFLICT (merchant_id, live, key) DO NOTHING RETURNING id
), taken AS MATERIALIZED (
	SELECT * FROM intents WHERE claim = 0 OR claim IN (SELECT id FROM claimed)
), inserted AS (
	INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, claim,
			created_at, updated_at, partial, core_id, api_key_id, client_address` + account + `)
	SELECT id, merchant_id, live, 'processing', auto_capture, amount, currency, payment_method, details, claim,
		created_at, created_at, partial, $18::bigint, api_key, client_address` + account + ` FROM taken
), terms AS (
	INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
	SELECT merchant_id, live, 1, customer, id FROM taken WHERE customer <> ''
	UNION ALL SELECT merchant_id, live, 2, reference, id FROM taken WHERE reference <> ''
)` + used + `
SELECT ordinal, claim, ` + checked + ` FROM taken`
}

// BeginPayment implements store.Engine. The intent shares the commit of a batch. If the batch
// leaves it out or is refused, a command writes it as a batch of one, or returns the reason.
func (e *engine) BeginPayment(ctx context.Context, i *store.Intent) (claim store.Claim, err error) {
	id, written, err := e.intents.do(ctx, e, i)
	if err != nil {
		return store.Claim{}, err
	}
	if written {
		i.Transaction.Claim = id
		return store.Claim{ID: id, Held: true}, nil
	}
	err = e.Update(ctx, e.db.Command(ctx, store.Caller{Tenant: i.Transaction.Tenant}, func(tx *store.Tx) (err error) {
		claim, err = tx.BeginPayment(i)
		return err
	}))
	return claim, err
}

// BeginPayment implements store.Session.
func (s *session) BeginPayment(tx *store.Tx, i *store.Intent) (store.Claim, error) {
	if holder, err := tx.CheckIntent(i); err != nil || holder.ID != 0 {
		return holder, err
	}
	allowed, err := tx.BeginCardAttempt(i.Transaction, i.Card)
	if err != nil {
		return store.Claim{}, err
	}
	i.Refused = !allowed
	b := newIntentBatch([]*store.Intent{i}, tx.Now, tx.Date(), tx.KeyExpiry())
	b.counted = true
	err = s.batch("begin payment", b.statement(), b.scan)
	switch {
	case refused(err):
		return store.Claim{}, fmt.Errorf("%w: %w", store.ErrChanged, err)
	case err != nil:
		return store.Claim{}, err
	case !b.results[0].done: // another request has claimed the key, or changed the payment source
		return store.Claim{}, fmt.Errorf("begin payment: %w", store.ErrChanged)
	}
	i.Transaction.Claim = b.results[0].value
	return store.Claim{ID: i.Transaction.Claim, Held: true}, nil
}

// weighIntent returns the tenant of an intent, and about the bytes of its row.
func weighIntent(i *store.Intent) (tenant payment.Tenant, bytes int) {
	return i.Transaction.Tenant, len(i.Transaction.Details)
}

// writeIntents commits a batch of intents.
func (e *engine) writeIntents(ctx context.Context, now time.Time, all []*store.Intent) ([]result[int64], error) {
	if !e.db.Trusts(now) {
		return make([]result[int64], len(all)), nil // their commands return the reason
	}
	b := newIntentBatch(all, now, e.db.DateAt(now), e.db.KeyExpiry(now))
	if err := inOneTransaction(ctx, e.batch, b.scan, beginWrite(), b.statement()); err != nil {
		return nil, fmt.Errorf("begin payments: %w", err)
	}
	return b.results, nil
}

// intentBatch writes a batch of intents.
type intentBatch struct {
	intents       []*store.Intent // in the order in which they are written
	at            []int           // the index of each intent in the caller's order
	now           time.Time
	made, expires time.Time       // when the idempotency keys are made and expire
	results       []result[int64] // in the caller's order
	counted       bool            // the attempts at the cards are counted
}

// newIntentBatch orders the intents by their idempotency keys and tenants, so that two batches
// never wait for each other. Of several intents with one token it keeps the first one. A command
// writes each of the others: it finds the token used, or uses it if the first intent was not
// written.
func newIntentBatch(all []*store.Intent, now, made, expires time.Time) *intentBatch {
	b := &intentBatch{
		intents: make([]*store.Intent, 0, len(all)), at: make([]int, 0, len(all)),
		now: now, made: made, expires: expires, results: make([]result[int64], len(all)),
	}
	var tokens map[int64]bool
	for n, i := range all {
		token := i.Source.Token
		switch {
		case tokens[token]:
			continue
		case token != 0 && tokens == nil:
			tokens = map[int64]bool{token: true}
		case token != 0:
			tokens[token] = true
		}
		b.at = append(b.at, n)
	}
	slices.SortFunc(b.at, func(x, y int) int {
		a, b := all[x].Transaction.Tenant, all[y].Transaction.Tenant
		return cmp.Or(cmp.Compare(all[x].Key, all[y].Key), cmp.Compare(a.Merchant, b.Merchant),
			cmp.Compare(small(a.Live), small(b.Live)), cmp.Compare(x, y))
	})
	for _, n := range b.at {
		b.intents = append(b.intents, all[n])
	}
	return b
}

func (b *intentBatch) scan(row pgx.Rows) error {
	var ordinal, claim int64
	if err := row.Scan(&ordinal, &claim, nil); err != nil {
		return err
	}
	b.results[b.at[ordinal-1]] = result[int64]{claim, true}
	return nil
}

func (b *intentBatch) statement() *pgx.QueuedQuery {
	q := &pgx.QueuedQuery{SQL: beginPlain, Arguments: b.columns()}
	more := func(i *store.Intent) bool { return i.Source != payment.StoredSource{} || i.Transaction.Account != 0 }
	if slices.ContainsFunc(b.intents, more) {
		q.SQL = beginAll
		q.Arguments = append(q.Arguments,
			column(b.intents, func(i *store.Intent) int64 { return i.Source.Customer }),
			column(b.intents, func(i *store.Intent) int64 { return i.Source.Method }),
			column(b.intents, func(i *store.Intent) int64 { return i.Source.Token }),
			column(b.intents, func(i *store.Intent) int64 { return i.Transaction.Account }),
			column(b.intents, func(i *store.Intent) string { return i.Transaction.Tag }),
			column(b.intents, b.card),
		)
	}
	return q
}

// card returns the card that must have no decline, "" for none.
func (b *intentBatch) card(i *store.Intent) string {
	if b.counted {
		return ""
	}
	return i.Card.Fingerprint
}

func (b *intentBatch) columns() []any {
	all := b.intents
	keys := column(all, func(i *store.Intent) int64 { return i.Transaction.Client.APIKey })
	distinct := slices.Compact(slices.Sorted(slices.Values(keys)))
	return []any{
		column(all, func(i *store.Intent) int64 { return i.Transaction.ID }),
		column(all, func(i *store.Intent) int64 { return i.Transaction.Tenant.Merchant }),
		column(all, func(i *store.Intent) int16 { return small(i.Transaction.Tenant.Live) }),
		column(all, func(i *store.Intent) string { return i.Key }),
		column(all, func(i *store.Intent) []byte { return i.Fingerprint }),
		column(all, func(i *store.Intent) int16 { return small(i.Transaction.AutoCapture) }),
		column(all, func(i *store.Intent) int64 { return i.Transaction.Amount }),
		column(all, func(i *store.Intent) string { return i.Transaction.Currency }),
		column(all, func(i *store.Intent) string { return i.Transaction.PaymentMethod }),
		column(all, func(i *store.Intent) string { return string(i.Transaction.Details) }),
		column(all, func(i *store.Intent) int64 { return i.Transaction.CreatedAt.UnixMilli() }),
		column(all, func(i *store.Intent) int16 { return small(i.Transaction.Partial) }),
		column(all, func(i *store.Intent) string { return i.Terms.Customer }),
		column(all, func(i *store.Intent) string { return i.Terms.Reference }),
		keys, b.now.UnixMilli(), b.expires.UnixMilli(), all[0].Core, distinct,
		column(all, func(i *store.Intent) string { return i.Transaction.Client.Address }), b.made.UnixMilli(),
	}
}

// small is the stored form of a flag.
func small(b bool) int16 {
	if b {
		return 1
	}
	return 0
}

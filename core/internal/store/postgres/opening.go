package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// openAll writes the intents of a batch. It leaves out an intent whose idempotency key is taken, whose
// API key has ended, or whose payment source does not exist. refuse_batch fails the statement if a
// token is used between its two reads of it.
var openAll = openText(", $21::bigint[], $22::bigint[], $23::bigint[]", ", customer_id, method_id, token_id", drawing, `, used AS (
	UPDATE tokens t SET used_by = taken.id, used_at = $16::bigint FROM taken
	WHERE t.id = taken.token_id AND t.id = ANY ($23::bigint[]) AND t.merchant_id = taken.merchant_id AND t.live = taken.live
		AND t.used_by = 0 AND t.expires_at > $16::bigint
	RETURNING t.id
), uncoded AS (
	DELETE FROM security_codes WHERE token_id = ANY ($23::bigint[]) AND token_id IN (SELECT id FROM used)
)`, `CASE WHEN (SELECT COUNT(*) FROM used) = (SELECT COUNT(*) FROM taken WHERE token_id <> 0) THEN 1
	ELSE refuse_batch('a token was used meanwhile') END`)

// openPlain is openAll for payments without a stored payment source: a part of a statement costs even if
// it finds no row.
var openPlain = openText("", "", "", "", "1")

// drawing are the conditions on what a payment draws on.
const drawing = `
		AND (a.customer_id = 0 OR EXISTS (SELECT 1 FROM customers c
			WHERE c.id = a.customer_id AND c.merchant_id = a.merchant_id AND c.live = a.live AND c.deleted_at = 0))
		AND (a.method_id = 0 OR EXISTS (SELECT 1 FROM payment_methods m
			WHERE m.id = a.method_id AND m.merchant_id = a.merchant_id AND m.live = a.live AND m.detached_at = 0
				AND (a.customer_id = 0 OR m.customer_id = a.customer_id)))
		AND (a.token_id = 0 OR EXISTS (SELECT 1 FROM tokens t
			WHERE t.id = a.token_id AND t.merchant_id = a.merchant_id AND t.live = a.live AND t.used_by = 0 AND t.expires_at > $16::bigint))`

func openText(arrays, columns, drawing, used, checked string) string {
	return `WITH good AS (
	SELECT k.id FROM api_keys k WHERE k.id = ANY ($19::bigint[]) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $16::bigint)
		AND (SELECT m.disabled_at FROM merchants m WHERE m.id = k.merchant_id) = 0
), asked AS MATERIALIZED (
	SELECT a.*, CASE WHEN a.key = '' THEN 0 ELSE nextval('idempotency_keys_id_seq') END AS claim
	FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::bytea[], $6::smallint[], $7::bigint[], $8::text[], $9::text[], $10::text[],
		$11::bigint[], $12::smallint[], $13::text[], $14::text[], $15::bigint[], $20::text[]` + arrays + `) WITH ORDINALITY
		AS a (id, merchant_id, live, key, fingerprint, auto_capture, amount, currency, payment_method, details,
			created_at, partial, customer, reference, api_key, client_address` + columns + `, place)
	WHERE (a.api_key = 0 OR a.api_key IN (SELECT id FROM good))` + drawing + `
), claimed AS (
	INSERT INTO idempotency_keys (id, merchant_id, live, key, fingerprint, created_at, expires_at) OVERRIDING SYSTEM VALUE
	SELECT claim, merchant_id, live, key, fingerprint, $16::bigint, $17::bigint FROM asked WHERE claim <> 0
	ON CONFLICT (merchant_id, live, key) DO NOTHING RETURNING id
), taken AS MATERIALIZED (
	SELECT * FROM asked WHERE claim = 0 OR claim IN (SELECT id FROM claimed)
), made AS (
	INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, claim, created_at, updated_at,
			partial, core_id, api_key_id, client_address)
	SELECT id, merchant_id, live, 'processing', auto_capture, amount, currency, payment_method, details, claim, created_at, created_at, partial,
		$18::bigint, api_key, client_address FROM taken
), named AS (
	INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
	SELECT merchant_id, live, 1, customer, id FROM taken WHERE customer <> ''
	UNION ALL SELECT merchant_id, live, 2, reference, id FROM taken WHERE reference <> ''
)` + used + `
SELECT place, claim, ` + checked + ` FROM taken`
}

// OpenPayment implements store.Engine.
func (e *engine) OpenPayment(ctx context.Context, o *store.Opening) (claim int64, done bool, err error) {
	return e.openings.do(ctx, e, o)
}

// writeOpenings takes keys in their order, so that two groups never wait for each other.
func (e *engine) writeOpenings(ctx context.Context, now time.Time, asked []*store.Opening) ([]answer[int64], error) {
	if !e.db.Trusts(now) {
		return make([]answer[int64], len(asked)), nil // each is left to commands, which refuse to claim a key
	}
	order := make([]int, len(asked))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(asked[a].Key, asked[b].Key), cmp.Compare(a, b))
	})
	all := column(order, func(i int) *store.Opening { return asked[i] })
	out := make([]answer[int64], len(asked))
	scan := func(row pgx.Rows) error {
		var place, claim int64
		if err := row.Scan(&place, &claim, nil); err != nil {
			return err
		}
		out[order[place-1]] = answer[int64]{claim, true}
		return nil
	}
	open := &pgx.QueuedQuery{SQL: openPlain, Arguments: openingColumns(all, now, e.db.KeyExpiry(now))}
	if slices.ContainsFunc(all, draws) {
		open = &pgx.QueuedQuery{SQL: openAll, Arguments: append(open.Arguments, drawnColumns(all)...)}
	}
	err := ask(ctx, e.group, scan, beginWrite(), open)
	if err != nil {
		return nil, fmt.Errorf("open payments: %w", err)
	}
	return out, nil
}

// draws reports whether there is more to an opening than its own rows.
func draws(o *store.Opening) bool { return o.Customer != 0 || o.Method != 0 || o.Token != 0 }

func openingColumns(all []*store.Opening, now, expires time.Time) []any {
	keys := column(all, func(o *store.Opening) int64 { return o.Transaction.Client.APIKey })
	distinct := slices.Compact(slices.Sorted(slices.Values(keys)))
	return []any{
		column(all, func(o *store.Opening) int64 { return o.Transaction.ID }),
		column(all, func(o *store.Opening) int64 { return o.Transaction.Tenant.Merchant }),
		column(all, func(o *store.Opening) int16 { return small(o.Transaction.Tenant.Live) }),
		column(all, func(o *store.Opening) string { return o.Key }),
		column(all, func(o *store.Opening) []byte { return o.Fingerprint }),
		column(all, func(o *store.Opening) int16 { return small(o.Transaction.AutoCapture) }),
		column(all, func(o *store.Opening) int64 { return o.Transaction.Amount }),
		column(all, func(o *store.Opening) string { return o.Transaction.Currency }),
		column(all, func(o *store.Opening) string { return o.Transaction.PaymentMethod }),
		column(all, func(o *store.Opening) string { return string(o.Transaction.Details) }),
		column(all, func(o *store.Opening) int64 { return o.Transaction.CreatedAt.UnixMilli() }),
		column(all, func(o *store.Opening) int16 { return small(o.Transaction.Partial) }),
		column(all, func(o *store.Opening) string { return o.Terms.Customer }),
		column(all, func(o *store.Opening) string { return o.Terms.Reference }),
		keys, now.UnixMilli(), expires.UnixMilli(), all[0].Core, distinct,
		column(all, func(o *store.Opening) string { return o.Transaction.Client.Address }),
	}
}

// drawnColumns are what openAll is given besides.
func drawnColumns(all []*store.Opening) []any {
	return []any{
		column(all, func(o *store.Opening) int64 { return o.Customer }),
		column(all, func(o *store.Opening) int64 { return o.Method }),
		column(all, func(o *store.Opening) int64 { return o.Token }),
	}
}

// small is a flag as columns have it.
func small(b bool) int16 {
	if b {
		return 1
	}
	return 0
}

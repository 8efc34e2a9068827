package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// lockEndpoints shares the locks under which endpoints are changed. It is a statement of its own, so that the one behind it sees what they are then.
const lockEndpoints = `SELECT pg_advisory_xact_lock_shared(hashtextextended(name, 0)) FROM unnest($1::text[]) AS name`

// endpointsText is an expression for the enabled endpoints of the tenant t.merchant_id, t.live: a line
// for each, with its id and its types.
const endpointsText = `COALESCE((SELECT string_agg(CAST(w.id AS TEXT) || ' ' || w.types, chr(10) ORDER BY w.id)
	FROM webhook_endpoints w WHERE w.merchant_id = t.merchant_id AND w.live = t.live AND w.status = 'enabled'), '')`

// closeAll writes the outcome records of a batch. It leaves out a payment that has an outcome already, or
// whose tenant has other endpoints. refuse_batch fails the statement if an idempotency key does not
// wait for its response.
var closeAll = closeText(`, delivered AS (
	INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at)
	SELECT d.id, d.endpoint_id, d.event_id, $19::bigint, $19::bigint, $19::bigint
	FROM unnest($25::bigint[], $26::bigint[], $27::bigint[]) AS d (id, endpoint_id, event_id) WHERE d.event_id IN (SELECT event_id FROM resolved)
)`)

// closePlain is closeAll for payments without deliveries, as openPlain is openAll.
var closePlain = closeText("")

// keySpent is how much of its lifetime an idempotency key may have spent before its response is
// stored and still keep its expiry, in milliseconds.
var keySpent = strconv.FormatInt((store.KeyLifetime - store.KeyLeft).Milliseconds(), 10)

func closeText(delivered string) string {
	return `WITH agreed AS (
	SELECT t.merchant_id, t.live FROM unnest($20::bigint[], $21::smallint[], $22::text[]) AS t (merchant_id, live, endpoints)
	WHERE t.endpoints = ` + endpointsText + `
), resolved AS (
	UPDATE transactions t SET status = a.status, amount_authorized = a.authorized, amount_captured = a.captured, result = a.result,
		version = t.version + 1, claim = 0, updated_at = a.updated_at, expires_at = CASE WHEN a.expires_at = 0 THEN 0 ELSE a.expires_at
			+ CASE a.live WHEN 0 THEN COALESCE((SELECT offset_ms FROM test_clocks c WHERE c.merchant_id = a.merchant_id), 0) ELSE 0 END END
	FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::bigint[], $10::bigint[],
		$11::bigint[], $12::bigint[], $13::text[], $14::bigint[], $15::text[], $16::bigint[], $17::integer[], $18::bytea[]) WITH ORDINALITY
		AS a (id, attempt, merchant_id, live, status, authorized, captured, result, updated_at, expires_at,
			capture_id, event_id, type, sequence, data, claim, answer_status, answer, place)
	WHERE t.id = a.id AND t.id = ANY ($1::bigint[]) AND t.attempt = a.attempt AND t.status IN ('processing', 'unknown')
		AND (a.merchant_id, a.live) IN (SELECT merchant_id, live FROM agreed)
	RETURNING a.*, t.currency, CASE WHEN t.attempt > 0 THEN t.confirm_api_key_id ELSE t.api_key_id END AS api_key_id,
		CASE WHEN t.attempt > 0 THEN t.confirm_client_address ELSE t.client_address END AS client_address
), captured AS (
	INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, claim, created_at, updated_at,
		core_id, api_key_id, client_address)
	SELECT capture_id, id, merchant_id, live, 'succeeded', captured, currency, 1, 0, updated_at, updated_at, $23::bigint,
		api_key_id, client_address
	FROM resolved WHERE capture_id <> 0
), told AS (
	INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
	SELECT event_id, merchant_id, live, type, id, sequence, data, $19::bigint FROM resolved
)` + delivered + `, answered AS (
	UPDATE idempotency_keys k SET status = r.answer_status, answer = COALESCE(r.answer, convert_to(r.data, 'UTF8')),
		expires_at = CASE WHEN k.expires_at < $24::bigint - ` + keySpent + ` THEN $24::bigint ELSE k.expires_at END
	FROM resolved r WHERE k.id = r.claim AND k.id = ANY ($16::bigint[]) AND k.status = 0
	RETURNING 1
)
SELECT place, CASE WHEN (SELECT COUNT(*) FROM answered) = (SELECT COUNT(*) FROM resolved WHERE claim <> 0) THEN 1
	ELSE refuse_batch('an idempotency key does not wait for its response') END FROM resolved`
}

// ClosePayment implements store.Engine.
func (e *engine) ClosePayment(ctx context.Context, c *store.Closing) (done bool, err error) {
	_, done, err = e.closings.do(ctx, e, c)
	if done && len(c.Deliveries) > 0 {
		e.db.Wake()
	}
	return done, err
}

// writeClosings takes payments in the order of their ids, so that two groups never wait for each other.
func (e *engine) writeClosings(ctx context.Context, now time.Time, asked []*store.Closing) ([]answer[struct{}], error) {
	order := make([]int, len(asked))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(asked[a].Transaction.ID, asked[b].Transaction.ID), cmp.Compare(a, b))
	})
	all := column(order, func(i int) *store.Closing { return asked[i] })
	out := make([]answer[struct{}], len(asked))
	scan := func(row pgx.Rows) error {
		var place int64
		if err := row.Scan(&place, nil); err != nil {
			return err
		}
		out[order[place-1]].done = true
		return nil
	}
	known := tenantsOf(all)
	locks := column(known, func(t told) string { return store.EndpointsLock(t.tenant) })
	slices.Sort(locks)
	finish := &pgx.QueuedQuery{SQL: closePlain, Arguments: closingColumns(all, known, now, e.db.KeyExpiry(now))}
	if deliveries := deliveryArrays(all); deliveries != nil {
		finish = &pgx.QueuedQuery{SQL: closeAll, Arguments: append(finish.Arguments, deliveries...)}
	}
	lock := &pgx.QueuedQuery{SQL: lockEndpoints, Arguments: []any{slices.Compact(locks)}}
	err := ask(ctx, e.group, scan, beginWrite(), lock, finish)
	if err != nil {
		return nil, fmt.Errorf("close payments: %w", err)
	}
	return out, nil
}

// told is a tenant with the endpoints that it is taken to have.
type told struct {
	tenant    payment.Tenant
	endpoints string
}

// tenantsOf are the tenants of a group. One that two members take to have different endpoints stands there twice, and only one of these can be right:
// the members of both are left out then, as nobody tells them apart.
func tenantsOf(all []*store.Closing) []told {
	known := map[payment.Tenant]string{}
	differ := map[payment.Tenant]bool{}
	for _, c := range all {
		t := c.Transaction.Tenant
		if before, ok := known[t]; ok && before != c.Endpoints {
			differ[t] = true
		}
		known[t] = c.Endpoints
	}
	out := make([]told, 0, len(known))
	for t, endpoints := range known {
		if !differ[t] {
			out = append(out, told{t, endpoints})
		}
	}
	return out
}

func closingColumns(all []*store.Closing, known []told, now, expires time.Time) []any {
	return []any{
		column(all, func(c *store.Closing) int64 { return c.Transaction.ID }),
		column(all, func(c *store.Closing) int64 { return c.Transaction.Attempt }),
		column(all, func(c *store.Closing) int64 { return c.Transaction.Tenant.Merchant }),
		column(all, func(c *store.Closing) int16 { return small(c.Transaction.Tenant.Live) }),
		column(all, func(c *store.Closing) string { return string(c.Transaction.Status) }),
		column(all, func(c *store.Closing) int64 { return c.Transaction.Authorized }),
		column(all, func(c *store.Closing) int64 { return c.Transaction.Captured }),
		column(all, func(c *store.Closing) string { return c.Result }),
		column(all, func(c *store.Closing) int64 { return c.Transaction.UpdatedAt.UnixMilli() }),
		column(all, func(c *store.Closing) int64 { return millis(c.Transaction.Result.ExpiresAt) }),
		column(all, func(c *store.Closing) int64 { return c.Capture }),
		column(all, func(c *store.Closing) int64 { return c.Event.ID }),
		column(all, func(c *store.Closing) string { return c.Event.Type }),
		column(all, func(c *store.Closing) int64 { return c.Event.Sequence }),
		column(all, func(c *store.Closing) string { return string(c.Event.Data) }),
		column(all, func(c *store.Closing) int64 { return c.Claim }),
		column(all, func(c *store.Closing) int32 { return int32(c.Status) }), //nolint:gosec // an HTTP status
		column(all, ownAnswer),
		now.UnixMilli(),
		column(known, func(t told) int64 { return t.tenant.Merchant }),
		column(known, func(t told) int16 { return small(t.tenant.Live) }),
		column(known, func(t told) string { return t.endpoints }),
		all[0].Core,
		expires.UnixMilli(),
	}
}

// ownAnswer is the answer unless it is what the event shows: that need not be sent twice.
func ownAnswer(c *store.Closing) []byte {
	if string(c.Answer) == string(c.Event.Data) {
		return nil
	}
	return c.Answer
}

// deliveryArrays are what closeAll is given besides: the deliveries of all, and the event of each. There are none as a rule.
func deliveryArrays(all []*store.Closing) []any {
	var ids, endpoints, events []int64
	for _, c := range all {
		for _, d := range c.Deliveries {
			ids, endpoints, events = append(ids, d.ID), append(endpoints, d.Endpoint), append(events, c.Event.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return []any{ids, endpoints, events}
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// lockEndpoints shares the locks under which commands change endpoints. It is a separate statement,
// so that the next one reads the endpoints as they are under the lock.
const lockEndpoints = `SELECT pg_advisory_xact_lock_shared(hashtextextended(name, 0)) FROM unnest($1::text[]) AS name`

// endpointsText is an expression for the enabled endpoints of the tenant t.merchant_id, t.live: a
// line for each, with its id and its types.
const endpointsText = `COALESCE((SELECT string_agg(CAST(w.id AS TEXT) || ' ' || w.types, chr(10) ORDER BY w.id)
	FROM webhook_endpoints w WHERE w.merchant_id = t.merchant_id AND w.live = t.live AND w.status = 'enabled'), '')`

// finishAll writes the outcome records of a batch. It leaves out a payment that has an outcome
// already, or whose tenant has other endpoints than guessed. refuse_batch fails the statement if an
// idempotency key does not wait for its response.
var finishAll = finishText(`, delivered AS (
	INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at)
	SELECT d.id, d.endpoint_id, d.event_id, $19::bigint, $19::bigint, $19::bigint
	FROM unnest($25::bigint[], $26::bigint[], $27::bigint[]) AS d (id, endpoint_id, event_id)
	WHERE d.event_id IN (SELECT event_id FROM resolved)
)`)

// finishPlain is finishAll for payments without deliveries, for the reason of beginPlain.
var finishPlain = finishText("")

// keySpent is an age of an idempotency key in milliseconds. A key that is older when its response
// is stored gets a later expiry.
var keySpent = strconv.FormatInt((store.KeyLifetime - store.KeyLeft).Milliseconds(), 10)

func finishText(delivered string) string {
	return `WITH agreed AS (
	SELECT t.merchant_id, t.live
	FROM unnest($20::bigint[], $21::smallint[], $22::text[]) AS t (merchant_id, live, endpoints)
	WHERE t.endpoints = ` + endpointsText + `
), resolved AS (
	UPDATE transactions t SET status = a.status, amount_authorized = a.authorized, amount_captured = a.captured,
		result = a.result, version = t.version + 1, claim = 0, updated_at = a.updated_at,
		expires_at = CASE WHEN a.expires_at = 0 THEN 0 ELSE a.expires_at + CASE a.live WHEN 0
			THEN COALESCE((SELECT offset_ms FROM test_clocks c WHERE c.merchant_id = a.merchant_id), 0) ELSE 0 END END
	FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::text[], $6::bigint[], $7::bigint[],
		$8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::bigint[], $15::text[],
		$16::bigint[], $17::integer[], $18::bytea[]) WITH ORDINALITY
		AS a (id, attempt, merchant_id, live, status, authorized, captured, result, updated_at, expires_at,
			capture_id, event_id, type, sequence, data, claim, response_status, response, ordinal)
	WHERE t.id = a.id AND t.id = ANY ($1::bigint[]) AND t.attempt = a.attempt AND t.version + 1 = a.sequence
		AND t.status IN ('processing', 'unknown')
		AND (a.merchant_id, a.live) IN (SELECT merchant_id, live FROM agreed)
	RETURNING a.*, t.currency, t.account,
		CASE WHEN t.attempt > 0 THEN t.confirm_api_key_id ELSE t.api_key_id END AS api_key_id,
		CASE WHEN t.attempt > 0 THEN t.confirm_client_address ELSE t.client_address END AS client_address
), captured AS (
	INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, claim, created_at,
		updated_at, core_id, api_key_id, client_address, account)
	SELECT capture_id, id, merchant_id, live, 'succeeded', captured, currency, 1, 0, updated_at,
		updated_at, $23::bigint, api_key_id, client_address, account
	FROM resolved WHERE capture_id <> 0
), inserted AS (
	INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
	SELECT event_id, merchant_id, live, type, id, sequence, data, $19::bigint FROM resolved
)` + delivered + `, completed AS (
	UPDATE idempotency_keys k
	SET status = r.response_status, body = COALESCE(r.response, convert_to(r.data, 'UTF8')),
		expires_at = CASE WHEN k.expires_at < $24::bigint - ` + keySpent + ` THEN $24::bigint ELSE k.expires_at END
	FROM resolved r WHERE k.id = r.claim AND k.id = ANY ($16::bigint[]) AND k.status = 0
	RETURNING 1
)
SELECT ordinal, CASE WHEN (SELECT COUNT(*) FROM completed) = (SELECT COUNT(*) FROM resolved WHERE claim <> 0) THEN 1
	ELSE refuse_batch('an idempotency key does not wait for its response') END FROM resolved`
}

// FinishPayment implements store.Engine. The outcome record shares the commit of a batch if the
// tenant's endpoints can be guessed. If the guess is wrong or the batch is refused, a command reads
// the endpoints. It writes the record as a batch of one, or returns the reason.
func (e *engine) FinishPayment(ctx context.Context, r *store.OutcomeRecord) error {
	if err := r.EncodeResult(); err != nil {
		return err
	}
	if e.db.GuessEndpoints(ctx, r) {
		_, written, err := e.outcomes.do(ctx, e, r)
		if written && len(r.Deliveries) > 0 {
			e.db.Wake()
		}
		if written || err != nil {
			return err
		}
	}
	ends := store.Caller{Tenant: r.Transaction.Tenant, Ends: true}
	return e.Update(ctx, e.db.Command(ctx, ends, func(tx *store.Tx) error { return tx.FinishPayment(r) }))
}

// FinishPayment implements store.Session.
func (s *session) FinishPayment(tx *store.Tx, r *store.OutcomeRecord) error {
	if err := r.EncodeResult(); err != nil {
		return err
	}
	if err := tx.ReadEndpoints(r); err != nil {
		return err
	}
	b := newOutcomeBatch([]*store.OutcomeRecord{r}, tx.Now, tx.KeyExpiry())
	err := s.batch("finish payment", b.statement(), b.scan)
	switch {
	case refused(err):
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	case err == nil && !b.results[0].done: // the endpoints are right, so the attempt has an outcome
		return store.ErrConflict
	}
	return err
}

// weighOutcome returns the tenant of an outcome record, and about the bytes of its rows: the event,
// and the response under the idempotency key.
func weighOutcome(r *store.OutcomeRecord) (tenant payment.Tenant, bytes int) {
	bytes = len(r.Event.Data)
	if r.Claim != 0 {
		bytes += len(r.Body)
	}
	return r.Transaction.Tenant, bytes
}

// writeOutcomes commits a batch of outcome records.
func (e *engine) writeOutcomes(
	ctx context.Context, now time.Time, all []*store.OutcomeRecord,
) ([]result[struct{}], error) {
	b := newOutcomeBatch(all, now, e.db.KeyExpiry(now))
	if err := inOneTransaction(ctx, e.batch, b.scan, beginWrite(), b.lock(), b.statement()); err != nil {
		return nil, fmt.Errorf("finish payments: %w", err)
	}
	return b.results, nil
}

// outcomeBatch writes a batch of outcome records.
type outcomeBatch struct {
	records      []*store.OutcomeRecord // in the order in which they are written
	at           []int                  // the index of each record in the caller's order
	tenants      []guess
	now, expires time.Time          // expires is when the idempotency keys expire at the earliest
	results      []result[struct{}] // in the caller's order
}

// newOutcomeBatch orders the records by their transactions, so that two batches never wait for each
// other.
func newOutcomeBatch(all []*store.OutcomeRecord, now, expires time.Time) *outcomeBatch {
	b := &outcomeBatch{at: make([]int, len(all)), now: now, expires: expires, results: make([]result[struct{}], len(all))}
	for n := range all {
		b.at[n] = n
	}
	slices.SortFunc(b.at, func(x, y int) int {
		return cmp.Or(cmp.Compare(all[x].Transaction.ID, all[y].Transaction.ID), cmp.Compare(x, y))
	})
	b.records = column(b.at, func(n int) *store.OutcomeRecord { return all[n] })
	b.tenants = guessesOf(b.records)
	return b
}

func (b *outcomeBatch) scan(row pgx.Rows) error {
	var ordinal int64
	if err := row.Scan(&ordinal, nil); err != nil {
		return err
	}
	b.results[b.at[ordinal-1]].done = true
	return nil
}

func (b *outcomeBatch) lock() *pgx.QueuedQuery {
	locks := column(b.tenants, func(g guess) string { return g.lock })
	slices.Sort(locks)
	return &pgx.QueuedQuery{SQL: lockEndpoints, Arguments: []any{slices.Compact(locks)}}
}

func (b *outcomeBatch) statement() *pgx.QueuedQuery {
	q := &pgx.QueuedQuery{SQL: finishPlain, Arguments: b.columns()}
	if deliveries := deliveryArrays(b.records); deliveries != nil {
		q.SQL, q.Arguments = finishAll, append(q.Arguments, deliveries...)
	}
	return q
}

// guess is the guess of a tenant's endpoints by which a batch makes deliveries.
type guess struct {
	tenant    payment.Tenant
	endpoints string
	lock      string // of the endpoints
}

// guessesOf returns the guesses of a batch. It leaves out a tenant for which two records guess
// differently, and the batch leaves out the records of that tenant.
func guessesOf(all []*store.OutcomeRecord) []guess {
	known := map[payment.Tenant]guess{}
	differ := map[payment.Tenant]bool{}
	for _, r := range all {
		g := guess{r.Transaction.Tenant, endpointLines(r.Endpoints), r.EndpointsLock()}
		if before, ok := known[g.tenant]; ok && before != g {
			differ[g.tenant] = true
		}
		known[g.tenant] = g
	}
	out := make([]guess, 0, len(known))
	for t, g := range known {
		if !differ[t] {
			out = append(out, g)
		}
	}
	return out
}

// endpointLines returns endpoints in the form in which endpointsText returns them.
func endpointLines(endpoints []payment.Endpoint) string {
	lines := make([]string, len(endpoints))
	for i, e := range endpoints {
		lines[i] = strconv.FormatInt(e.ID, 10) + " " + strings.Join(e.Types, " ")
	}
	return strings.Join(lines, "\n")
}

func (b *outcomeBatch) columns() []any {
	all := b.records
	return []any{
		column(all, func(r *store.OutcomeRecord) int64 { return r.Transaction.ID }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Transaction.Attempt }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Transaction.Tenant.Merchant }),
		column(all, func(r *store.OutcomeRecord) int16 { return small(r.Transaction.Tenant.Live) }),
		column(all, func(r *store.OutcomeRecord) string { return string(r.Transaction.Status) }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Transaction.Authorized }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Transaction.Captured }),
		column(all, func(r *store.OutcomeRecord) string { return r.Result }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Transaction.UpdatedAt.UnixMilli() }),
		column(all, func(r *store.OutcomeRecord) int64 { return millis(r.Transaction.Result.ExpiresAt) }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Capture }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Event.ID }),
		column(all, func(r *store.OutcomeRecord) string { return r.Event.Type }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Event.Sequence }),
		column(all, func(r *store.OutcomeRecord) string { return string(r.Event.Data) }),
		column(all, func(r *store.OutcomeRecord) int64 { return r.Claim }),
		column(all, func(r *store.OutcomeRecord) int32 { return int32(r.Status) }), //nolint:gosec // an HTTP status
		column(all, ownBody),
		b.now.UnixMilli(),
		column(b.tenants, func(g guess) int64 { return g.tenant.Merchant }),
		column(b.tenants, func(g guess) int16 { return small(g.tenant.Live) }),
		column(b.tenants, func(g guess) string { return g.endpoints }),
		all[0].Core,
		b.expires.UnixMilli(),
	}
}

// ownBody returns the body of the response, or nil if it equals the data of the event: the
// statement then copies that.
func ownBody(r *store.OutcomeRecord) []byte {
	if string(r.Body) == string(r.Event.Data) {
		return nil
	}
	return r.Body
}

// deliveryArrays returns the last parameters of finishAll: all deliveries, and the event of each.
// It returns nil if there are none.
func deliveryArrays(all []*store.OutcomeRecord) []any {
	var ids, endpoints, events []int64
	for _, r := range all {
		for _, d := range r.Deliveries {
			ids, endpoints, events = append(ids, d.ID), append(endpoints, d.Endpoint), append(events, r.Event.ID)
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

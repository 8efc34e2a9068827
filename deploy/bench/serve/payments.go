package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Payments says what a database of core's is filled with: copies of its only payment that differ where those of a busy store do.
type Payments struct {
	Count     int
	Merchants int           // they are spread over these; that of the payment is one of them
	Span      time.Duration // and over this time, which ends a minute before the payment
	Each      func(done int)
}

// Tables are those that a payment leaves a row in, and webhook_deliveries, where it has one when its merchant has an endpoint.
func Tables() []string {
	return []string{"transactions", "captures", "events", "transaction_terms", "idempotency_keys", "simulator_requests", "webhook_deliveries"}
}

// fillBatch is how many payments one statement makes.
const fillBatch = 50_000

// The numbers of payment n as the service draws them: time above, chance below; what follows a transaction comes a moment later.
const (
	made   = `(%[1]d + n * %[2]d / %[3]d)`
	drawn  = `((` + made + ` << 21) + (hashint8extended(n, 1) & 1048575))`
	after  = drawn + ` + 2097152`
	whose  = ` + (hashint8extended(n, 2) & 9223372036854775807) %% %[4]d`
	amount = `100 + n %% 50000`
)

// varying says what differs, by table and column; the others are the payment's. All is captured and settled, and no key expires within a year: so
// the service's housekeeping has nothing to do, and the index of the keys, which grows in no order, is as large as it can be.
var varying = map[string]map[string]string{
	"transactions": {
		"id": drawn, "merchant_id": `merchant_id` + whose, "amount": amount, "amount_authorized": amount, "amount_captured": amount,
		"amount_settled": amount, "created_at": made, "updated_at": made,
	},
	"captures": {
		"id": after, "transaction_id": drawn, "merchant_id": `merchant_id` + whose, "amount": amount, "settled": `1`, "created_at": made,
		"updated_at": made, "captured_at": made,
	},
	"events":            {"id": after + ` + 1`, "merchant_id": `merchant_id` + whose, "object_id": drawn, "place": `0`, "created_at": made},
	"transaction_terms": {"merchant": `merchant` + whose, "term": `'order-' || n`, "transaction_id": drawn},
	"idempotency_keys": {
		"merchant_id": `merchant_id` + whose, "key": `md5('key' || n)`, "created_at": made, "expires_at": made + ` + 31536000000`,
	},
	"simulator_requests": {"key": `encode(sha256(('request' || n)::bytea), 'hex')`, "at": made},
}

// FillPayments adds payments to a database, and leaves it as one that has been vacuumed and written to the disk. Two statements run at a time.
func (p *Postgres) FillPayments(ctx context.Context, database string, f Payments) error {
	now, err := p.SQL(ctx, database, "SELECT created_at FROM transactions")
	if err != nil {
		return err
	}
	var last int64
	if _, err := fmt.Sscan(now, &last); err != nil {
		return fmt.Errorf("one payment is to be there: %w", err)
	}
	end := time.UnixMilli(last).Add(-time.Minute)
	var inserts []string
	for _, table := range Tables() {
		text, err := p.insertOf(ctx, database, table)
		if err != nil {
			return err
		}
		inserts = append(inserts, fmt.Sprintf(text, end.Add(-f.Span).UnixMilli(), f.Span.Milliseconds(), f.Count, f.Merchants))
	}
	// Batches in order, each of its own rows: the first two tables before those that name their rows.
	for from := 0; from < f.Count; from += fillBatch {
		span := fmt.Sprintf("generate_series(%d, %d) AS n", from+1, min(from+fillBatch, f.Count))
		for _, group := range [][]string{inserts[:1], inserts[1:]} {
			if err := p.both(ctx, database, group, span); err != nil {
				return err
			}
		}
		if f.Each != nil {
			f.Each(min(from+fillBatch, f.Count))
		}
	}
	_, err = p.SQL(ctx, database, "VACUUM (FREEZE, ANALYZE)", "CHECKPOINT")
	return err
}

// both runs statements, every other one beside the one before it.
func (p *Postgres) both(ctx context.Context, database string, inserts []string, span string) error {
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		wg.Go(func() {
			var own []string
			for k, text := range inserts {
				if k%2 == i {
					own = append(own, text+span)
				}
			}
			if len(own) > 0 {
				_, errs[i] = p.SQL(ctx, database, append([]string{"SET synchronous_commit = off"}, own...)...)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// insertOf is the insert into a table, up to what it counts. Columns that number their rows by themselves are left to do so.
func (p *Postgres) insertOf(ctx context.Context, database, table string) (string, error) {
	if table == "webhook_deliveries" { // of no endpoint that there is, as after years: nobody delivers or purges them
		return `INSERT INTO webhook_deliveries (id, endpoint_id, event_id, status, attempts, due_at, response_status, duration_ms, attempted_at,
			created_at, updated_at) SELECT ` + after + ` + 2, 1, ` + after + ` + 1, 'succeeded', 1, ` + made + `, 200, 20, ` + made + `, ` + made + `, ` +
			made + ` FROM `, nil
	}
	out, err := p.SQL(ctx, database, `SELECT attname FROM pg_attribute WHERE attrelid = '`+table+`'::regclass AND attnum > 0 AND NOT attisdropped
		AND attidentity = '' ORDER BY attnum`)
	if err != nil {
		return "", err
	}
	columns := strings.Fields(out)
	values := slices.Clone(columns)
	for i, c := range columns {
		if other, ok := varying[table][c]; ok {
			values[i] = other
		}
	}
	first := strings.Join(columns, ", ")
	return `WITH first AS MATERIALIZED (SELECT * FROM ` + table + ` LIMIT 1) INSERT INTO ` + table + ` (` + first + `) SELECT ` +
		strings.Join(values, ", ") + ` FROM first, `, nil
}

// Size is how many bytes a table takes on the disk, its parts and indexes included.
func (p *Postgres) Size(ctx context.Context, database, table string) (n int64, err error) {
	out, err := p.SQL(ctx, database, `SELECT sum(pg_total_relation_size(part)) FROM
		(SELECT '`+table+`'::regclass AS part UNION SELECT relid FROM pg_partition_tree('`+table+`')) AS parts`)
	if err == nil {
		_, err = fmt.Sscan(out, &n)
	}
	if err != nil {
		return 0, fmt.Errorf("size of %s: %w", table, err)
	}
	return n, nil
}

// Written is how many bytes the server has put into its log of writes so far.
func (p *Postgres) Written(ctx context.Context) (n int64, err error) {
	out, err := p.SQL(ctx, "postgres", `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`)
	if err == nil {
		_, err = fmt.Sscan(out, &n)
	}
	if err != nil {
		return 0, fmt.Errorf("log of writes: %w", err)
	}
	return n, nil
}

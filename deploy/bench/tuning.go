package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// variant is one way to set PostgreSQL up.
type variant struct {
	name   string
	server []string   // settings of the server, beside serve.Settings or in their place
	url    url.Values // what core's URL says
	tables []string   // what is done to an empty store
}

// tuning compares variants with the first of them.
type tuning struct {
	id, what string
	variants []variant
}

// tuned are the questions that deploy/on/postgres/README.md answers.
func tuned() []tuning {
	of := func(setting string, values ...string) (out []variant) {
		for _, v := range values {
			out = append(out, variant{name: setting + "=" + v, server: []string{setting + "=" + v}})
		}
		return out
	}
	core := func(setting string, values ...string) (out []variant) {
		for _, v := range values {
			out = append(out, variant{name: setting + "=" + v, url: url.Values{setting: {v}}})
		}
		return out
	}
	fill := func(percent int) variant {
		return variant{name: "fillfactor " + strconv.Itoa(percent), tables: []string{
			fmt.Sprintf("ALTER TABLE transactions SET (fillfactor = %d)", percent), fmt.Sprintf("ALTER TABLE idempotency_keys SET (fillfactor = %d)", percent),
		}}
	}
	own := variant{name: "as it comes"}
	return []tuning{
		{"T1", "compression of page images", filled(of("wal_compression", "off", "lz4", "pglz", "zstd"))},
		{"T2", "waiting for others before a commit", append(of("commit_delay", "0"), variant{name: "100 µs, 5 siblings", server: []string{"commit_delay=100"}},
			variant{name: "500 µs, 5 siblings", server: []string{"commit_delay=500"}})},
		{"T3", "room for changes on the page", []variant{{name: "the schema's"}, fill(100), fill(70)}},
		{"T4", "memory for pages", of("shared_buffers", "512MB", "128MB", "2GB")},
		{"T5", "how often a checkpoint is made", filled([]variant{
			own, {name: "max_wal_size=32MB", server: []string{"max_wal_size=32MB"}},
		})},
		{"T7", "plans", []variant{
			own,
			{name: "jit=off", url: url.Values{"jit": {"off"}}},
			{name: "force_generic_plan", url: url.Values{"plan_cache_mode": {"force_generic_plan"}}},
			{name: "force_custom_plan", url: url.Values{"plan_cache_mode": {"force_custom_plan"}}},
		}},
		{"T8", "what is counted", []variant{
			own,
			{name: "track_io_timing", server: []string{"track_io_timing=on", "track_wal_io_timing=on"}},
			{name: "pg_stat_statements", server: []string{"shared_preload_libraries=pg_stat_statements"}},
		}},
		{"T9", "core's connections", append([]variant{{name: "as it comes, 16"}}, core("pool_max_conns", "8", "32", "64")...)},
		{"T10", "vacuum of the hot tables", []variant{own, {name: "at 2 % dead", tables: vacuumAt("0.02")}, {name: "never", server: []string{"autovacuum=off"}}}},
	}
}

// filled has the store hold keys of earlier requests: their index grows in no order, so that after a checkpoint each payment is the first to change
// some page of it, whose image then goes to the log.
func filled(variants []variant) []variant {
	for i := range variants {
		variants[i].tables = append(variants[i].tables, `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, status, created_at, expires_at)
			SELECT m.id, 0, md5(i::text), '\x00', 201, 0, 9000000000000 FROM merchants m, generate_series(1, 400000) i`)
	}
	return variants
}

func vacuumAt(share string) (out []string) {
	for _, table := range []string{"transactions", "idempotency_keys", "captures"} {
		out = append(out, "ALTER TABLE "+table+" SET (autovacuum_vacuum_scale_factor = "+share+", autovacuum_vacuum_threshold = 500)")
	}
	return out
}

func tunings() (out []measure) {
	for _, t := range tuned() {
		out = append(out, measure{rows: []string{t.id}, run: t.measure, asked: true})
	}
	return out
}

func (t tuning) measure(ctx context.Context, b *Bench) (rows []Row, err error) {
	var sides []side
	for _, v := range t.variants {
		p, err := serve.StartPostgres(ctx, v.server...)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, b.halt(p)) }()
		sides = append(sides, side{v.name, b.tunedSide(p, v)})
	}
	got, err := b.interleave(ctx, sides...)
	if err != nil {
		return nil, err
	}
	for i, ours := range got[1:] {
		for _, by := range []struct {
			name, unit string
			of         func(sample) float64
			each       float64
		}{
			{"payments/s", "/s", byRate, 1}, {"p99", "ms", byP99, 1e3}, {"the server's processor time a payment", "µs", byCPU, 1e6}, {"log of writes a payment", "B", byLog, 1},
		} {
			r := Row{ID: t.id, What: fmt.Sprintf("%s: %s, %s ÷ %s", t.what, by.name, t.variants[i+1].name, t.variants[0].name)}
			r.ratio(ours, got[0], by.of)
			r.Absolute = fmt.Sprintf("%.4g ÷ %.4g %s", middle(ours, by.of)*by.each, middle(got[0], by.of)*by.each, by.unit)
			rows = append(rows, r)
		}
		inPlace := func(s sample) float64 { return s.inPlace }
		rows[len(rows)-1].Absolute += fmt.Sprintf(", keys changed in place %.0f ÷ %.0f %%", 100*middle(ours, inPlace), 100*middle(got[0], inPlace))
	}
	return rows, nil
}

// tunedSide posts payments to one core on an empty database.
func (b *Bench) tunedSide(p *serve.Postgres, v variant) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (out sample, err error) {
		database, err := p.NewDatabase(ctx)
		if err != nil {
			return out, err
		}
		c, err := serve.MakeCores(ctx, b.programs.Core, p, database, v.url)
		if err != nil {
			return out, err
		}
		if _, err := p.SQL(ctx, database, append(v.tables, "CHECKPOINT")...); err != nil {
			return out, err
		}
		begun, err := p.CPU()
		if err != nil {
			return out, err
		}
		from, err := p.SQL(ctx, database, "SELECT pg_current_wal_insert_lsn()")
		if err != nil {
			return out, err
		}
		one, err := b.awaited(ctx)(c.Start(ctx, b.folder("core")+".log"))
		if err != nil {
			return out, err
		}
		out, err = b.payAt(ctx, c.Key, []string{one.Addr}, bankClients)
		if err = errors.Join(err, one.Stop()); err != nil {
			return out, err
		}
		if err := b.account(ctx, p, database, from, begun, &out); err != nil {
			return out, err
		}
		_, err = p.SQL(ctx, "postgres", "DROP DATABASE "+database)
		return out, err
	}
}

// account says what the payments have cost the server, those of the warm-up included, once core has left it.
func (b *Bench) account(ctx context.Context, p *serve.Postgres, database, from string, begun time.Duration, out *sample) error {
	for {
		left, err := p.SQL(ctx, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = '"+database+"'")
		if err != nil {
			return err
		}
		if left == "0" {
			break
		}
	}
	ended, err := p.CPU()
	if err != nil {
		return err
	}
	text, err := p.SQL(ctx, database, `SELECT count(*), pg_current_wal_insert_lsn() - '`+from+`'::pg_lsn, (SELECT n_tup_hot_upd::float8 / greatest(n_tup_upd, 1)
		FROM pg_stat_user_tables WHERE relname = 'idempotency_keys') FROM transactions`)
	if err != nil {
		return err
	}
	var made, written float64
	if _, err := fmt.Sscan(strings.ReplaceAll(text, "|", " "), &made, &written, &out.inPlace); err != nil {
		return fmt.Errorf("read %q: %w", text, err)
	}
	out.cpu, out.log = (ended-begun).Seconds()/made, written/made
	return nil
}

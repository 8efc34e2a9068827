package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// serverHistory is over which time the payments of P10's stores on a server are spread. Less than what a delivery is kept, so that none is purged.
const serverHistory = 28 * 24 * time.Hour

// hoard is a database of core's with payments in it.
type hoard struct {
	*serve.Cores
	database string
	payments int
}

// serverSize gives P10 on PostgreSQL: what a payment costs in a database with many rows, against one with few.
func serverSize(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withPostgres(ctx, func(p *serve.Postgres) error {
		many, err := b.makeHoard(ctx, p, b.Rows)
		if err != nil {
			return err
		}
		each, err := b.sayBytes(ctx, p, many)
		if err != nil {
			return err
		}
		got, err := b.interleave(
			ctx,
			side{"many, server", func(ctx context.Context, _ int) (sample, error) { return b.payHoard(ctx, p, many) }},
			side{"few, server", func(ctx context.Context, _ int) (sample, error) {
				few, err := b.makeHoard(ctx, p, smallRows)
				if err != nil {
					return sample{}, err
				}
				s, err := b.payHoard(ctx, p, few)
				if err == nil {
					_, err = p.SQL(ctx, "postgres", "DROP DATABASE "+few.database)
				}
				return s, err
			}},
		)
		if err != nil {
			return err
		}
		rows = append(serverSizeRows(b.Rows, got), each)
		return nil
	})
	return rows, err
}

func serverSizeRows(rows int, got [][]sample) []Row {
	wall := Row{ID: "P10", What: fmt.Sprintf("PostgreSQL: time a POST, 64 clients, %s rows ÷ %s", rowCount(rows), rowCount(smallRows)), Reach: 1.1, AtMost: true}
	wall.ratio(got[1], got[0], byRate)
	wall.Absolute = perSecond(got[0], got[1])
	out := []Row{wall}
	for _, of := range []struct {
		what  string
		reach float64
		by    func(sample) float64
	}{{"processor time of server and core", 1.1, byCPU}, {"processor time of the server alone", 0, byServerCPU}} {
		r := Row{ID: "P10", What: "PostgreSQL: " + of.what + " a POST, the same", Reach: of.reach, AtMost: true}
		r.ratio(got[0], got[1], of.by)
		r.Absolute = milliseconds(got[0], got[1], of.by)
		out = append(out, r)
	}
	log := Row{ID: "P10", What: "PostgreSQL: bytes in the log of writes a POST, right behind a checkpoint, the same", AtMost: true}
	log.ratio(got[0], got[1], byLog)
	log.Absolute = fmt.Sprintf("%.0f ÷ %.0f", middle(got[0], byLog), middle(got[1], byLog))
	return append(out, log)
}

// makeHoard makes core's store in a new database, with so many rows over the tables that a payment writes to.
func (b *Bench) makeHoard(ctx context.Context, p *serve.Postgres, rows int) (*hoard, error) {
	h := &hoard{payments: rows / len(serve.Tables())}
	var err error
	if h.database, err = p.NewDatabase(ctx); err != nil {
		return nil, err
	}
	if h.Cores, err = serve.MakeCores(ctx, b.programs.Core, p, h.database, nil); err != nil {
		return nil, err
	}
	if err := b.onCore(ctx, h, func(c *serve.Listening) error { return b.payFirst(ctx, c, h) }); err != nil {
		return nil, err
	}
	start := b.Clock.Now()
	err = p.FillPayments(ctx, h.database, serve.Payments{
		Count: h.payments, Merchants: merchants, Span: serverHistory, Each: b.fillProgress(h.payments),
	})
	if err == nil && h.payments > 100_000 {
		b.say("filled in %v", b.Clock.Now().Sub(start).Round(time.Second))
	}
	return h, err
}

// payFirst makes the payment that the others are copies of.
func (b *Bench) payFirst(ctx context.Context, c *serve.Listening, h *hoard) error {
	client, err := load.Dial(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // the answer was read
	post, err := h.post(c.Addr)
	if err != nil {
		return err
	}
	var answer load.Response
	if err := client.Do(post.Bytes(b.freshKey, 0), &answer); err != nil {
		return err
	}
	want := created(false)
	return want.Check(&answer)
}

func (h *hoard) post(addr string) (*load.Request, error) {
	return load.NewRequest("POST", addr, "/v1/transactions", []string{
		"Authorization: Bearer " + h.Key, "Content-Type: application/json", "Idempotency-Key: {slot}",
	}, paymentBody, keyWidth)
}

// onCore runs fn with one core on the database.
func (b *Bench) onCore(ctx context.Context, h *hoard, fn func(*serve.Listening) error) error {
	c, err := b.awaited(ctx)(h.Start(ctx, b.folder("core")+".log"))
	if err != nil {
		return err
	}
	return errors.Join(fn(c), c.Stop())
}

// payHoard posts payments, each side from a checkpoint on.
func (b *Bench) payHoard(ctx context.Context, p *serve.Postgres, h *hoard) (out sample, err error) {
	err = b.onCore(ctx, h, func(c *serve.Listening) error {
		if _, err := p.SQL(ctx, h.database, "CHECKPOINT"); err != nil {
			return err
		}
		before, err := spent(ctx, p, c)
		if err != nil {
			return err
		}
		post, err := h.post(c.Addr)
		if err != nil {
			return err
		}
		r, err := load.Run(ctx, load.Plan{
			Addr: c.Addr, Conns: conns, Request: post, Fill: b.freshKey, Want: created(false), Warmup: b.warmup(), For: b.Each, Clock: b.Clock,
		})
		if err != nil {
			return err
		}
		after, err := spent(ctx, p, c)
		out = sampleOf(r)
		made := float64(r.Answered)
		out.serverCPU = (after.server - before.server).Seconds() / made
		out.cpu = out.serverCPU + (after.core-before.core).Seconds()/made
		out.log = float64(after.log-before.log) / made
		return err
	})
	return out, err
}

// expense is what has been spent up to a moment.
type expense struct {
	server, core time.Duration
	log          int64
}

func spent(ctx context.Context, p *serve.Postgres, c *serve.Listening) (e expense, err error) {
	if e.log, err = p.Written(ctx); err != nil {
		return e, err
	}
	if e.core, err = c.CPU(); err != nil {
		return e, err
	}
	e.server, err = p.CPU()
	return e, err
}

// sayBytes tells what a payment takes on the disk, by table, and returns the row of their sum.
func (b *Bench) sayBytes(ctx context.Context, p *serve.Postgres, h *hoard) (Row, error) {
	var sum float64
	var parts []string
	for _, table := range serve.Tables() {
		n, err := p.Size(ctx, h.database, table)
		if err != nil {
			return Row{}, err
		}
		each := float64(n) / float64(h.payments)
		sum += each
		parts = append(parts, fmt.Sprintf("%s %.0f", table, each))
	}
	b.say("bytes of a payment on the disk, indexes included: %s", strings.Join(parts, ", "))
	return Row{
		ID: "P10", What: "PostgreSQL: what a payment takes on the disk, its indexes and a delivery included", Value: sum, Unit: "bytes", AtMost: true,
	}, nil
}

func byServerCPU(s sample) float64 { return s.serverCPU }

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
)

const (
	// smallRows is how many rows P10's small store has.
	smallRows = 10_000
	// sampled is how many transactions P10 reads. They and their neighbours are more than a reader's cache of pages holds.
	sampled = 4096
)

// size gives P10: what a payment, a read and a page of a list cost in a store with many rows, against one with few.
func size(ctx context.Context, b *Bench) ([]Row, error) {
	data, err := b.keptStore(ctx, b.Rows)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(data + ".log") }() // it would grow from run to run
	reads, err := b.sizeReads(ctx, data)
	if err != nil {
		return nil, err
	}
	got, err := b.interleave(
		ctx,
		side{"many rows", func(ctx context.Context, _ int) (sample, error) { return b.payTimed(ctx, data) }},
		side{"few rows", func(ctx context.Context, _ int) (sample, error) {
			few := b.folder("few")
			if err := b.fillStore(ctx, few, smallRows); err != nil {
				return sample{}, err
			}
			s, err := b.payTimed(ctx, few)
			return s, errors.Join(err, os.RemoveAll(few))
		}},
	)
	if err != nil {
		return nil, err
	}
	// A cost is the inverse of a rate.
	wall := Row{ID: "P10", What: fmt.Sprintf("time a POST, 64 clients, %s rows ÷ %s", rowCount(b.Rows), rowCount(smallRows)), Reach: 1.1, AtMost: true}
	wall.ratio(got[1], got[0], byRate)
	wall.Absolute = perSecond(got[0], got[1])
	cpu := Row{ID: "P10", What: "the server's processor time a POST, the same", Reach: 1.1, AtMost: true}
	cpu.ratio(got[0], got[1], byCPU)
	cpu.Absolute = milliseconds(got[0], got[1], byCPU)
	return append([]Row{wall, cpu}, reads...), nil
}

// payTimed posts to a server on data.
func (b *Bench) payTimed(ctx context.Context, data string) (out sample, err error) {
	s, err := b.startServer(ctx, data)
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	before, err := s.CPU()
	if err != nil {
		return sample{}, err
	}
	r, err := b.pay(ctx, s, conns, b.Each)
	if err != nil {
		return sample{}, err
	}
	after, err := s.CPU()
	out = sampleOf(r)
	out.cpu = (after - before).Seconds() / float64(r.Answered)
	return out, err
}

// read is a kind of read that P10 compares.
type read struct {
	name       string
	what, path string // "{slot}" in the path stands for a transaction's id, without prefix
	want       []byte
}

func reads() []read {
	return []read{
		{"get", "GET by id", "/v1/transactions/txn_{slot}", []byte(`"status":"captured"`)},
		{"first page", "first page of a list", "/v1/transactions", []byte(`"object":"list"`)},
		{"later page", "page after any transaction", "/v1/transactions?starting_after=txn_{slot}", []byte(`"object":"list"`)},
	}
}

// sizeReads compares the reads of the store in data with those of a small one. It has no reach: the design asks for none.
func (b *Bench) sizeReads(ctx context.Context, data string) (rows []Row, err error) {
	few := b.folder("few")
	if err := b.fillStore(ctx, few, smallRows); err != nil {
		return nil, err
	}
	var sides []side
	for i, folder := range []string{data, few} {
		s, err := b.startServer(ctx, folder)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Stop()) }()
		of, err := b.readSides(ctx, s, []string{", many", ", few"}[i])
		if err != nil {
			return nil, err
		}
		sides = append(sides, of...)
	}
	got, err := b.interleave(ctx, sides...)
	if err != nil {
		return nil, err
	}
	for i, r := range reads() {
		row := Row{ID: "P10", What: "time of a " + r.what + ", the same", AtMost: true}
		many, small := got[i], got[i+len(reads())]
		row.ratio(small, many, byRate)
		row.Absolute = perSecond(many, small)
		rows = append(rows, row)
	}
	return rows, nil
}

func (b *Bench) readSides(ctx context.Context, s *server, suffix string) ([]side, error) {
	ids, err := bare.Sample(ctx, s.Database, sampled)
	if err != nil {
		return nil, err
	}
	fill := func(slot []byte, n uint64) { copy(slot, ids[n%sampled]) }
	out := make([]side, 0, len(reads()))
	for _, r := range reads() {
		width := strings.Count(r.path, "{slot}") * idWidth
		request, err := load.NewRequest("GET", s.Addr, r.path, []string{"Authorization: Bearer " + s.Key}, "", width)
		if err != nil {
			return nil, err
		}
		out = append(out, side{r.name + suffix, b.loadSide(s, request, load.Want{Status: 200, Contains: r.want}, fill)})
	}
	return out, nil
}

// rowCount shows a number of rows as 10 k or 10 M.
func rowCount(n int) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.3g M", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.3g k", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

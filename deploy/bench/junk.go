package bench

import (
	"context"
	"fmt"
	"sync"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

const (
	junkRate  = 1000 // a second
	junkConns = 256  // as many as wait for their refusal at that rate, and some
	goodConns = 16
)

// junk gives M2: how many encrypted payments a second are made while many more messages come that are nothing but expensive to refuse.
func junk(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withEdges(ctx, func(e *edges) error {
		for _, c := range e.ciphers {
			beside, alone := &flood{}, &flood{}
			got, err := b.interleave(ctx, b.goodSide(e, c, beside, true), b.goodSide(e, c, alone, false))
			if err != nil {
				return err
			}
			r := Row{ID: "M2", What: fmt.Sprintf("encrypted payments, %d clients, beside 1,000 junk RSA messages/s ÷ without, %s", goodConns, c.name)}
			r.ratio(got[0], got[1], byRate)
			r.Absolute = fmt.Sprintf("%s, %.0f%% refused with 503; junk: %s, %.0f%% with 503", perSecond(got[0], got[1]), beside.refused(),
				thousands(beside.rate()), beside.turnedAway())
			rows = append(rows, r)
		}
		return nil
	})
	return rows, err
}

// flood counts over the rounds what came of the good and of the junk.
type flood struct {
	good, junk struct{ answered, busy int }
	seconds    float64
}

func (f *flood) refused() float64 {
	return 100 * float64(f.good.busy) / float64(max(1, f.good.answered))
}

func (f *flood) turnedAway() float64 {
	return 100 * float64(f.junk.busy) / float64(max(1, f.junk.answered))
}
func (f *flood) rate() float64 { return float64(f.junk.answered) / f.seconds }

// goodSide sends encrypted payments as fast as they are answered, and beside them junk, if there is to be some.
func (b *Bench) goodSide(e *edges, c *cipher, count *flood, beside bool) side {
	name := c.name + " alone"
	if beside {
		name = c.name + " beside junk"
	}
	return side{name, func(ctx context.Context, _ int) (out sample, err error) {
		request, err := e.request(e.filter.Addr, c)
		if err != nil {
			return out, err
		}
		want := sealedWant()
		want.Also = []int{503}
		var wg sync.WaitGroup
		defer wg.Wait()
		var wrong error
		if beside {
			wg.Go(func() { wrong = b.flood(ctx, e, count) })
		}
		r, err := load.Run(ctx, load.Plan{
			Addr: e.filter.Addr, Conns: goodConns, Request: request, Fill: b.freshKey, Want: want, Warmup: b.warmup(), For: b.Each, Clock: b.Clock,
		})
		wg.Wait()
		if wrong != nil {
			return out, fmt.Errorf("the junk: %w", wrong)
		}
		if err != nil {
			return out, err
		}
		count.good.answered += r.Answered
		count.good.busy += r.Also
		return sampleOf(r), nil
	}}
}

// flood sends junk for as long as a side runs. Each message has to be refused, or turned away.
func (b *Bench) flood(ctx context.Context, e *edges, count *flood) error {
	headers := []string{"Authorization: Bearer " + e.key, "Content-Type: application/jose", "X-SVC-MLE: v1"}
	request, err := load.NewRequest("POST", e.filter.Addr, "/v1/transactions", headers, junkBody(e.ciphers[len(e.ciphers)-1]), 0)
	if err != nil {
		return err
	}
	start := b.Clock.Now()
	r, err := load.Run(ctx, load.Plan{
		Addr: e.filter.Addr, Conns: junkConns, Rate: junkRate, Request: request,
		Want: load.Want{Status: 400, Contains: []byte("mle_decrypt_failed"), Also: []int{503}}, Warmup: b.warmup(), For: b.Each, Clock: b.Clock,
	})
	if err != nil {
		return err
	}
	count.seconds += b.Clock.Now().Sub(start).Seconds()
	count.junk.answered += r.Answered
	count.junk.busy += r.Also
	return nil
}

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// errOther reports that the sides of P5 would have core do different work.
var errOther = errors.New("makes another payment than the bare side")

// own are the members of a transaction that no two have in common.
var own = []string{"id", "created_at", "updated_at", "reference", "authorization"}

// samePayment makes a legacy payment and the payment of v1 that it is measured against. It returns
// an error unless core stores the same for both.
func (b *Bench) samePayment(ctx context.Context, p *proxies, d dialect) error {
	plain, err := d.plainRequest(p.bare.Addr, p.core)
	if err != nil {
		return err
	}
	want, err := b.madeBy(ctx, p, p.bare.Addr, plain)
	if err != nil {
		return err
	}
	legacy, err := d.request(p.compat.Addr, p.core, b.Clock.Now())
	if err != nil {
		return err
	}
	got, err := b.madeBy(ctx, p, p.compat.Addr, legacy)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: %s instead of %s", errOther, got, want)
	}
	return nil
}

// madeBy sends r once to addr and returns the last transaction of core, without the members that
// are its own.
func (b *Bench) madeBy(ctx context.Context, p *proxies, addr string, r *load.Request) ([]byte, error) {
	sent, err := load.Send(ctx, addr, r.Bytes(b.freshKey, 0))
	if err != nil {
		return nil, err
	}
	headers := []string{"Authorization: Bearer " + p.core.Key}
	last, err := load.NewRequest("GET", p.core.Addr, "/v1/transactions?limit=1", headers, "", 0)
	if err != nil {
		return nil, err
	}
	response, err := load.Send(ctx, p.core.Addr, last.Bytes(nil, 0))
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []map[string]jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(response.Body, &list); err != nil || len(list.Data) != 1 {
		return nil, fmt.Errorf("no transaction was made, the response was %.300s (%w)", sent.Body, err)
	}
	for _, name := range own {
		delete(list.Data[0], name)
	}
	text, err := json.Marshal(list.Data[0], json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("show a transaction: %w", err)
	}
	return text, nil
}

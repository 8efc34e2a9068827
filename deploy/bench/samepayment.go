package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// errOther: the sides of P5 would have the core do different work.
var errOther = errors.New("makes another payment than the bare side")

// own are the members of a transaction that no two have in common.
var own = []string{"id", "created_at", "updated_at", "reference", "authorization"}

// samePayment makes a payment by every dialect and the bare one that it is measured against, and fails unless the core has kept the same for
// both.
func (b *Bench) samePayment(ctx context.Context, p *proxies) error {
	for _, d := range dialects() {
		plain, err := d.bare.request(p.bare.Addr, p.core)
		if err != nil {
			return err
		}
		want, err := b.madeBy(ctx, p, p.bare.Addr, plain)
		if err != nil {
			return err
		}
		r, err := d.request(p.compat.Addr, p.core, b.Clock.Now())
		if err != nil {
			return err
		}
		got, err := b.madeBy(ctx, p, p.compat.Addr, r)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s %w: %s instead of %s", d.name, errOther, got, want)
		}
	}
	return nil
}

// madeBy sends r once to addr and returns what the core then shows of its last transaction, without what is that one's own.
func (b *Bench) madeBy(ctx context.Context, p *proxies, addr string, r *load.Request) ([]byte, error) {
	var answer load.Response
	if err := load.Ask(ctx, addr, nil, r.Bytes(b.freshKey, 0), &answer); err != nil {
		return nil, err
	}
	said := strings.Clone(string(answer.Body))
	last, err := load.NewRequest("GET", p.core.Addr, "/v1/transactions?limit=1", []string{"Authorization: Bearer " + p.core.Key}, "", 0)
	if err != nil {
		return nil, err
	}
	if err := load.Ask(ctx, p.core.Addr, nil, last.Bytes(nil, 0), &answer); err != nil {
		return nil, err
	}
	var list struct {
		Data []map[string]jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil || len(list.Data) != 1 {
		return nil, fmt.Errorf("no transaction was made, the answer was %.300s (%w)", said, err)
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

package shell

import (
	"context"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// ExchangeOf returns the counted data of an exchange and of its rejection. Either may be nil.
func ExchangeOf(x *engine.Exchange, p *engine.Problem) (e Exchange) {
	if x != nil {
		_, e.Alg = x.Key()
		e.WrapsResponse = x.WrapsResponse()
	}
	if p != nil {
		e.Status, e.Code, e.Reason = p.Status, p.Code, p.Reason
	}
	return e
}

// Unwrapped adds the key of an encrypted body to the request's event. The id is safe to log: it is
// one of the service's keys.
func Unwrapped(ctx context.Context, x *engine.Exchange) {
	kid, alg := x.Key()
	event := httpx.EventFrom(ctx)
	event.SetWord("kid", kid)
	event.SetWord("alg", string(alg))
}

package shell

import (
	"context"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// ExchangeOf returns the counted data of an exchange, which may be nil, and of its refusal, which
// is nil if there was none.
func ExchangeOf(x *engine.Exchange, p *engine.Problem) (e Exchange) {
	if x != nil {
		_, e.Alg = x.Key()
		e.Sealed = x.WrapsResponse()
	}
	if p != nil {
		e.Status, e.Code, e.Reason = p.Status, p.Code, p.Reason
	}
	return e
}

// Unwrapped adds the key of an encrypted body to the request's event. The key is one of the
// service's: it was found.
func Unwrapped(ctx context.Context, x *engine.Exchange) {
	kid, alg := x.Key()
	event := httpx.EventFrom(ctx)
	event.SetWord("kid", kid)
	event.SetWord("alg", string(alg))
}

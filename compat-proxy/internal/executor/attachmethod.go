package executor

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// attachMethod makes a token and attaches it under keys derived from the content. So a retry at any
// proxy continues at the step where the earlier request stopped.
func (s session) attachMethod(ctx context.Context, c command.AttachMethod) command.Result {
	alone := command.CreateCustomer{Methods: []command.NewMethod{c.Method}}.WithoutCodes()
	content, err := v1.MarshalRevealed(alone)
	if err != nil {
		return command.Unencodable()
	}
	key := func(n deduplication.Names) string { return "attach-" + n.Derive([]string{c.Customer, string(content)}) }
	names, failed := s.ChooseNames(ctx, func(n deduplication.Names) string { return maker{key: key(n)}.firstMethodKey() })
	if failed != nil {
		return *failed
	}
	m := maker{session: s.step(s.IdempotencyKey), command: alone, key: key(names), contentKey: key(names)}
	tokens, failed := m.tokens(ctx)
	if failed != nil {
		return *failed
	}
	method, r := m.attach(ctx, c.Customer, 0, tokens[0].Value.Reveal())
	if method == nil {
		return r
	}
	return command.Result{
		Outcome: command.Done, Status: http.StatusCreated, Customer: &v1.Customer{ID: c.Customer},
		Methods: []v1.PaymentMethod{*method},
	}
}

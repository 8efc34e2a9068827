package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/secret"
)

// call is a request that fits the schema, from a caller who may make it.
type call struct {
	req *wire.Request
	key secret.String
	// scopes are what the key may do.
	scopes []string
	set    setting
}

// method serves the calls of one method.
type method func(h *Handler, ctx context.Context, c call) (*wire.Document, problem)

// serving is what this build answers.
var serving = map[string]method{
	catalogue.CreateTransaction:     (*Handler).createTransaction,
	catalogue.GetTransactionDetails: (*Handler).inquire,
	catalogue.CreateCustomerProfile: (*Handler).createProfile,
	authenticateTest.Name:           (*Handler).authenticateTest,
}

// authenticateTest is how clients check their settings. It stands for no command, so it is not in the published catalogue.
var authenticateTest = catalogue.Method{
	Provider: catalogue.ProviderA, Name: "authenticateTestRequest", SideEffect: catalogue.ReadOnly, Scopes: []string{catalogue.UseScope},
	Available: true,
}

// find returns the method of that name.
func find(name string) (catalogue.Method, bool) {
	if name == authenticateTest.Name {
		return authenticateTest, true
	}
	return catalogue.Find(catalogue.ProviderA, name)
}

func (h *Handler) createTransaction(ctx context.Context, c call) (*wire.Document, problem) {
	plan := decode(c.req, c.set)
	if p := covered(plan.Commands, c.scopes); !p.none() {
		plan.Problem = p
	}
	var results []command.Result
	if plan.Problem.none() && !plan.Echo.Test {
		results = h.cfg.Executor.Execute(ctx, c.key, plan.Commands)
	}
	profile := h.fulfil(ctx, c, &plan, results)
	doc, outcome := encode(plan, c.req.RefID, results)
	if profile != nil {
		doc.Own = append(doc.Own, profile)
	}
	return doc, outcome
}

// authenticateTest has nothing left to do: whoever gets here is logged in.
func (*Handler) authenticateTest(_ context.Context, c call) (*wire.Document, problem) {
	return document("authenticateTestResponse", c.req.RefID, wire.ResultOK, refuse(apiOK)), problem{}
}

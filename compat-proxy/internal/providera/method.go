package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/secret"
)

// call is a schema-valid request from an authorized caller.
type call struct {
	req *wire.Request
	key secret.String
	// name is the request's name by its Idempotency-Key; "" without one.
	name string
	// scopes are the scopes of the key.
	scopes []string
	// merchant is the id of the merchant in v1.
	merchant string
	basis    basis
}

// method serves the calls of one method.
type method func(h *Handler, ctx context.Context, c call) (*wire.Document, problem)

// handlers are the methods of this build.
var handlers = map[string]method{
	catalogue.CreateTransaction:      (*Handler).createTransaction,
	catalogue.GetTransactionDetails:  (*Handler).inquire,
	catalogue.CreateCustomerProfile:  (*Handler).createProfile,
	catalogue.GetProfile:             (*Handler).getProfile,
	catalogue.ProfileIDs:             (*Handler).profileIDs,
	catalogue.CreatePaymentProfile:   (*Handler).createPaymentProfile,
	catalogue.GetPaymentProfile:      (*Handler).getPaymentProfile,
	catalogue.DeletePaymentProfile:   (*Handler).deletePaymentProfile,
	catalogue.UpdateProfile:          (*Handler).updateProfile,
	catalogue.UpdatePaymentProfile:   (*Handler).updatePaymentProfile,
	catalogue.ValidatePaymentProfile: (*Handler).validatePaymentProfile,
	catalogue.PaymentProfileList:     (*Handler).paymentProfileList,
	catalogue.ProfileFromTransaction: (*Handler).profileFromTransaction,
	catalogue.ProfileTransaction:     (*Handler).profileTransaction,
	catalogue.CreateShippingAddress:  (*Handler).createAddress,
	catalogue.GetShippingAddress:     (*Handler).getAddress,
	catalogue.UpdateShippingAddress:  (*Handler).updateAddress,
	catalogue.DeleteShippingAddress:  (*Handler).deleteAddress,
	catalogue.DeleteProfile:          (*Handler).deleteProfile,
	catalogue.AuthenticateTest:       successful("authenticateTestResponse"),
	catalogue.UnsettledTransactions:  (*Handler).unsettledList,
	catalogue.BatchTransactions:      (*Handler).batchTransactions,
	catalogue.CustomerTransactions:   (*Handler).customerTransactions,
	catalogue.SettledBatches:         (*Handler).settledBatches,
	catalogue.BatchStatistics:        (*Handler).batchStatistics,
	catalogue.MerchantDetails:        (*Handler).merchantDetails,
	catalogue.Logout:                 successful("logoutResponse"),
	catalogue.IsAlive:                successful("isAliveResponse"),
}

// successful returns a method that only responds. Its caller is logged in already, if the method
// needs a login.
func successful(root string) method {
	return func(_ *Handler, _ context.Context, c call) (*wire.Document, problem) {
		return document(root, c.req.RefID, wire.ResultOK, refuse(apiOK)), problem{}
	}
}

func (h *Handler) createTransaction(ctx context.Context, c call) (*wire.Document, problem) {
	plan := decode(c.req, c.basis)
	c.req.Root = wire.Node{} // v1 may be awaited for long, and the tree is large
	if plan.Problem.class() == dialect.ClassDeclined && !plan.Echo.Test {
		plan.Number = h.cfg.NewNumber()
	}
	if p := checkScopes(plan.Command, c.scopes); !p.none() {
		plan.Problem = p
	}
	if plan.Problem.none() && !plan.Echo.Test {
		plan.Problem = h.bind(ctx, c, plan.Type, plan.all()...)
	}
	var r command.Result
	if plan.Problem.none() && !plan.Echo.Test {
		r = h.execute(ctx, c, plan.Command)
	}
	profile := h.makeRequestedProfile(ctx, c, &plan, r)
	doc, outcome := encode(plan, c.req.RefID, r)
	if profile != nil {
		doc.Own = append(doc.Own, profile)
	}
	return doc, outcome
}

package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) refundRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/refunds", apikey.ScopeRefundsCreateLinked, a.changing(a.createRefund)},
		{http.MethodGet, "/v1/refunds", apikey.ScopeTransactionsRead, a.listRefunds},
		{http.MethodGet, "/v1/refunds/{id}", apikey.ScopeRefundsReadOne, a.getRefund},
	}
}

func (a *API) createRefund(c *call) (engine.Result, error) {
	var in v1.RefundCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if in.Transaction == "" {
		if err := needScope(c.key, apikey.ScopeRefundsCreate); err != nil {
			return engine.Result{}, err
		}
	}
	amount, f := optionalAmount(in.Amount)
	if f == nil {
		f = lengthFault(field{"reason", in.Reason, 255}, field{"reference", in.Reference, 255})
	}
	if f == nil {
		f = metadataFault(in.Metadata)
	}
	if f == nil {
		f = linkFault(&in)
	}
	if f != nil {
		return engine.Result{}, f
	}
	if in.Transaction == "" {
		return a.createCredit(c, &in)
	}
	n, err := id.Parse(id.Transaction, in.Transaction)
	if err != nil {
		return engine.Result{}, &fault{code: codeNotFound, param: "transaction", cause: err}
	}
	capture := int64(0)
	if in.Capture != nil {
		if capture, err = id.Parse(id.Capture, *in.Capture); err != nil {
			return engine.Result{}, &fault{code: codeNotFound, param: "capture", cause: err}
		}
	}
	details := encode(&stepDetails{Reason: in.Reason, Reference: in.Reference, Metadata: in.Metadata})
	out, err := a.Engine.Refund(c.Context(), c.request, n, capture, amount, details)
	return out, notFoundAt(err, "transaction")
}

func (a *API) listRefunds(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	p, names, err := expandingPage(r, k, id.Refund, refundParameters...)
	if err != nil {
		return err
	}
	f, err := stepFilter(r.URL.Query())
	if err != nil {
		return err
	}
	if f.Customer, err = paidBy(r.URL.Query()); err != nil {
		return err
	}
	found, err := a.Store.Refunds(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	return showPage(a, w, r, k, names, p, found, showRefund)
}

func (a *API) getRefund(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	names, err := expandingOne(r, k, id.Refund)
	if err != nil {
		return err
	}
	n, err := pathID(r, id.Refund)
	if err != nil {
		return err
	}
	f, err := a.Store.Refund(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := showRefund(f)
	return a.showObject(w, r, k, names, &shown)
}

// notFoundAt names the field of the body whose object does not exist.
func notFoundAt(err error, param string) error {
	if f := faultOf(err); err != nil && f.code == codeNotFound && f.param == "id" {
		return &fault{code: codeNotFound, param: param, cause: err}
	}
	return err
}

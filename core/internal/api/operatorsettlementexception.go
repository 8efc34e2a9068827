package api

import (
	"errors"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const exceptionsPath = operator.Root + "/settlement_exceptions"

// listExceptions lists settlement exceptions, oldest capture first.
func (o *Operator) listExceptions(w http.ResponseWriter, r *http.Request, _ *trail) error {
	q, err := query(r, "merchant", "limit", "starting_after")
	if err != nil {
		return err
	}
	n, err := limit(q)
	if err != nil {
		return err
	}
	var f payment.ExceptionFilter
	if q.Has("merchant") {
		if f.Merchant, err = id.Parse(id.Merchant, q.Get("merchant")); err != nil {
			return &fault{code: codeInvalidValue, param: "merchant", message: "The value must be the id of a merchant, such as mer_0123456789abc."}
		}
	}
	if q.Has("starting_after") {
		if f.After, err = id.Parse(id.Capture, q.Get("starting_after")); err != nil {
			return &fault{code: codeInvalidCursor, param: "starting_after"}
		}
	}
	found, err := o.Store.SettlementExceptions(r.Context(), f, n+1)
	if err != nil {
		return err
	}
	all := payment.List[payment.SettlementException]{Rows: found[:min(n, len(found))], More: len(found) > n}
	show := func(x payment.SettlementException) operator.SettlementException { return ShowException(&x, nil) }
	o.write(w, r, http.StatusOK, showList(payment.Page{}, all, show))
	return nil
}

func (o *Operator) getException(w http.ResponseWriter, r *http.Request, _ *trail) error {
	if _, err := query(r); err != nil {
		return err
	}
	capture, err := pathID(r, id.Capture)
	if err != nil {
		return err
	}
	found, err := o.Store.SettlementExceptions(r.Context(), payment.ExceptionFilter{Capture: capture}, 1)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return payment.ErrNotFound
	}
	shown := ShowException(&found[0], nil)
	o.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

// resolveException ends a settlement exception as the operator decides.
func (o *Operator) resolveException(c *call, left *trail) (engine.Result, error) {
	capture, err := pathID(c.Request, id.Capture)
	if err != nil {
		return engine.Result{}, err
	}
	left.step = id.Format(id.Capture, capture)
	var in operator.SettlementResolve
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	d, err := in.Resolution()
	if err != nil {
		return engine.Result{}, err
	}
	out, err := o.Engine.ResolveException(c.Context(), c.request, capture, d)
	switch {
	case errors.Is(err, engine.ErrFailedReport):
		err = &fault{code: codeInvalidValue, param: "despite_failed_report", message: "The acquirer's report is that the capture did not settle. " +
			"If the money is on the acquirer's statement, send `true`. Both outcomes are final."}
	case errors.Is(err, payment.ErrNotFound):
		err = &fault{code: codeNotFound, param: "id", message: "No settlement exception has this id, or it has ended. Both outcomes are final: " +
			"GET /admin/v1/audit_records shows who ended it."}
	}
	return out, err
}

// ShowException shows a settlement exception as the operator's API has it.
func ShowException(x *payment.SettlementException, d *engine.SettlementResolution) operator.SettlementException {
	out := operator.SettlementException{
		ID: id.Format(id.Capture, x.Capture), Object: operator.ObjectSettlementException, Kind: string(x.Kind),
		Merchant: id.Format(id.Merchant, x.Tenant.Merchant), Transaction: id.Format(id.Transaction, x.Transaction),
		Account: id.Format(id.Account, x.Account), AcquirerID: x.AcquirerID, Amount: x.Amount, Currency: x.Currency,
		CapturedAt: v1.Time{Time: x.CapturedAt}, Since: v1.Time{Time: x.Since}, Report: x.Reason,
	}
	if d != nil {
		out.Outcome, out.Reason = string(d.Outcome), d.Reason
	}
	return out
}

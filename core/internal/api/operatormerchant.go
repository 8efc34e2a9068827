package api

import (
	"fmt"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (o *Operator) listMerchants(w http.ResponseWriter, r *http.Request, _ *trail) error {
	p, err := reservePage(r, id.Merchant)
	if err != nil {
		return err
	}
	found, err := o.Store.MerchantPage(r.Context(), p)
	if err != nil {
		return err
	}
	o.write(w, r, http.StatusOK, showList(p, found, ShowMerchant))
	return nil
}

func (o *Operator) getMerchant(w http.ResponseWriter, r *http.Request, left *trail) error {
	n, err := merchantID(r, left)
	if err != nil {
		return err
	}
	if _, err := query(r); err != nil {
		return err
	}
	m, err := o.Store.Merchant(r.Context(), n)
	if err != nil {
		return err
	}
	o.write(w, r, http.StatusOK, encode(ShowMerchant(m)))
	return nil
}

func (o *Operator) createMerchant(c *call, left *trail) (engine.Result, error) {
	c.show = func(out *engine.Result) error { left.merchant = resourceOf(out.Body); return nil }
	var in operator.MerchantUpdate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if in.Name == nil || *in.Name == "" {
		return engine.Result{}, &fault{code: codeMissingField, param: "name"}
	}
	change, err := in.Change()
	if err != nil {
		return engine.Result{}, err
	}
	_, out, err := o.Engine.CreateMerchant(c.Context(), c.request, change)
	return out, err
}

func (o *Operator) updateMerchant(c *call, left *trail) (engine.Result, error) {
	n, err := merchantID(c.Request, left)
	if err != nil {
		return engine.Result{}, err
	}
	var in operator.MerchantUpdate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	change, err := in.Change()
	if err != nil {
		return engine.Result{}, err
	}
	return o.Engine.UpdateMerchant(c.Context(), c.request, n, change)
}

// switchMerchant takes a merchant out of service, or returns it to service.
func (o *Operator) switchMerchant(disabled bool) operatorCommand {
	return func(c *call, left *trail) (engine.Result, error) {
		n, err := merchantID(c.Request, left)
		if err != nil {
			return engine.Result{}, err
		}
		if err := c.decode(&struct{}{}, true); err != nil {
			return engine.Result{}, err
		}
		out, err := o.Engine.DisableMerchant(c.Context(), c.request, n, disabled)
		if err == nil {
			o.Auth.Forget(n)
		}
		return out, err
	}
}

// ShowMerchant shows a merchant in its present state.
func ShowMerchant(m payment.Merchant) operator.Merchant {
	out := operator.Merchant{
		ID: id.Format(id.Merchant, m.ID), Object: operator.ObjectMerchant, Name: m.Name, Status: operator.Enabled, TimeZone: m.TimeZone,
		Cutoff: fmt.Sprintf("%02d:%02d", m.Cutoff/60, m.Cutoff%60), UnlinkedRefunds: m.UnlinkedRefunds,
		KeepPersonalDays: m.Retention.Personal, KeepCustomersDays: m.Retention.Customers, CreatedAt: v1.Time{Time: m.CreatedAt}, DisabledAt: optionalTime(m.DisabledAt),
	}
	if !m.DisabledAt.IsZero() {
		out.Status = operator.Disabled
	}
	return out
}

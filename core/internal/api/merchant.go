package api

import (
	"fmt"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (o *Operator) listMerchants(w http.ResponseWriter, r *http.Request, _ *trail) error {
	p, err := page(r, id.Merchant)
	if err != nil {
		return err
	}
	found, err := o.Store.MerchantPage(r.Context(), p)
	if err != nil {
		return err
	}
	o.write(w, r, http.StatusOK, showList(p, found, showMerchant))
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
	o.write(w, r, http.StatusOK, encode(showMerchant(m)))
	return nil
}

func (o *Operator) createMerchant(c *call, left *trail) (engine.Result, error) {
	var in operator.MerchantCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if in.Name == "" {
		return engine.Result{}, &fault{code: codeMissingField, param: "name"}
	}
	change, err := merchantChange(operator.MerchantUpdate{
		Name: &in.Name, TimeZone: in.TimeZone, Cutoff: in.Cutoff, UnlinkedRefunds: in.UnlinkedRefunds,
		KeepPersonalDays: in.KeepPersonalDays, KeepCustomersDays: in.KeepCustomersDays,
	})
	if err != nil {
		return engine.Result{}, err
	}
	c.show = func(out *engine.Result) error { left.merchant = resourceOf(out.Body); return nil }
	return o.Engine.CreateMerchant(c.Context(), c.request, change)
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
	change, err := merchantChange(in)
	if err != nil {
		return engine.Result{}, err
	}
	return o.Engine.UpdateMerchant(c.Context(), c.request, n, change)
}

// switchMerchant takes merchants out of service, or puts them back.
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
		o.Auth.Forget() // the merchant's keys, before the response is sent
		return out, err
	}
}

// merchantChange checks the new fields of a merchant.
func merchantChange(in operator.MerchantUpdate) (payment.MerchantChange, error) {
	c := payment.MerchantChange{
		Cutoff: -1, UnlinkedRefunds: in.UnlinkedRefunds, Personal: in.KeepPersonalDays, Customers: in.KeepCustomersDays,
	}
	for _, period := range []struct {
		name string
		days *int
	}{{"keep_personal_data_days", c.Personal}, {"keep_customers_days", c.Customers}} {
		if period.days != nil && !payment.ValidKeepDays(*period.days) {
			return c, &fault{code: codeInvalidValue, param: period.name, message: "A period has 60 to 36525 days; 0 is the period of the service."}
		}
	}
	if in.Name != nil {
		if c.Name = *in.Name; !payment.ValidMerchantName(c.Name) {
			return c, &fault{code: codeInvalidValue, param: "name", message: "A merchant's name has 1 to 200 characters."}
		}
	}
	if in.TimeZone != nil {
		if c.TimeZone = *in.TimeZone; !payment.ValidTimeZone(c.TimeZone) {
			return c, &fault{code: codeInvalidValue, param: "time_zone", message: "A time zone has an IANA name, such as Europe/Vienna."}
		}
	}
	if in.Cutoff != nil {
		at, err := time.Parse("15:04", *in.Cutoff)
		if err != nil || len(*in.Cutoff) != len("15:04") {
			return c, &fault{code: codeInvalidValue, param: "cutoff", message: "A cut-off is 00:00 to 23:59."}
		}
		c.Cutoff = at.Hour()*60 + at.Minute()
	}
	return c, nil
}

func showMerchant(m payment.Merchant) *operator.Merchant {
	out := &operator.Merchant{
		ID: id.Format(id.Merchant, m.ID), Object: operator.ObjectMerchant, Name: m.Name, Status: operator.Enabled, TimeZone: m.TimeZone,
		Cutoff: fmt.Sprintf("%02d:%02d", m.Cutoff/60, m.Cutoff%60), UnlinkedRefunds: m.UnlinkedRefunds,
		KeepPersonalDays: m.Retention.Personal, KeepCustomersDays: m.Retention.Customers, CreatedAt: v1.Time{Time: m.CreatedAt}, DisabledAt: optionalTime(m.DisabledAt),
	}
	if !m.DisabledAt.IsZero() {
		out.Status = operator.Disabled
	}
	return out
}

// ShowMerchant shows a merchant as it stands.
func ShowMerchant(m payment.Merchant) operator.Merchant { return *showMerchant(m) }

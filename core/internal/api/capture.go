package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) captureRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/transactions/{id}/captures", apikey.ScopePaymentsCapture, a.changing(a.createCapture)},
		{http.MethodGet, "/v1/transactions/{id}/captures", apikey.ScopeTransactionsReadOne, a.listTransactionCaptures},
		{http.MethodGet, "/v1/captures", apikey.ScopeTransactionsRead, a.listCaptures},
		{http.MethodGet, "/v1/captures/{id}", apikey.ScopeTransactionsReadOne, a.getCapture},
	}
}

// stepDetails is the part of a capture or refund that only the merchant decides, stored as the
// contract shows it.
type stepDetails struct {
	Reason    *string      `json:"reason,omitempty"`
	Reference *string      `json:"reference,omitempty"`
	Metadata  *v1.Metadata `json:"metadata,omitempty"`

	// Of a refund without a transaction.
	PaymentMethod *string `json:"payment_method,omitempty"`
	shownSource
}

func (a *API) createCapture(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.Transaction)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.CaptureCreate
	if err := c.decode(&in, true); err != nil {
		return engine.Result{}, err
	}
	amount, f := optionalAmount(in.Amount)
	if f == nil {
		f = lengthFault(field{"reference", in.Reference, 255})
	}
	if f == nil {
		f = metadataFault(in.Metadata)
	}
	if f != nil {
		return engine.Result{}, f
	}
	details := encode(&stepDetails{Reference: in.Reference, Metadata: in.Metadata})
	return a.Engine.Capture(c.Context(), c.request, n, amount, in.Final != nil && *in.Final, details)
}

// optionalAmount returns 0 if the field is absent, which means the whole rest.
func optionalAmount(amount *v1.Money) (int64, *fault) {
	if amount == nil {
		return 0, nil
	}
	return *amount, amountFault(*amount, true)
}

func (a *API) listCaptures(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	p, names, err := expandingPage(r, k, id.Capture, stepParameters...)
	if err != nil {
		return err
	}
	f, err := stepFilter(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := a.Store.Captures(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	return showPage(a, w, r, k, names, p, found, showCapture)
}

func (a *API) listTransactionCaptures(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.Transaction)
	if err != nil {
		return err
	}
	p, names, err := expandingPage(r, k, id.Capture, metadataEntries)
	if err != nil {
		return err
	}
	f, err := stepFilter(r.URL.Query())
	if err != nil {
		return err
	}
	f.Transaction = n
	if _, err := a.Store.Transaction(r.Context(), k.Tenant, n); err != nil {
		return err
	}
	found, err := a.Store.Captures(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	return showPage(a, w, r, k, names, p, found, showCapture)
}

func (a *API) getCapture(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	names, err := expandingOne(r, k, id.Capture)
	if err != nil {
		return err
	}
	n, err := pathID(r, id.Capture)
	if err != nil {
		return err
	}
	c, err := a.Store.Capture(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := showCapture(c)
	return a.showObject(w, r, k, names, &shown)
}

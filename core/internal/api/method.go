package api

import (
	"errors"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) methodRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/customers/{id}/payment_methods", apikey.ScopeCustomersWrite, a.changing(a.attachMethod)},
		{http.MethodGet, "/v1/customers/{id}/payment_methods", apikey.ScopePaymentMethodsList, a.listMethods},
		{http.MethodGet, "/v1/customers/{id}/payment_methods/{payment_method}", apikey.ScopeCustomersReadOne, a.getMethod},
		{
			http.MethodPatch, "/v1/customers/{id}/payment_methods/{payment_method}", apikey.ScopeCustomersWrite,
			a.changing(a.updateMethod),
		},
		{http.MethodDelete, "/v1/customers/{id}/payment_methods/{payment_method}", apikey.ScopeCustomersWrite, a.detachMethod},
	}
}

func (a *API) attachMethod(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.Customer)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.PaymentMethodCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if in.Token == "" {
		return engine.Result{}, &fault{code: codeMissingField, param: "token"}
	}
	if f := contactFault("billing", in.Billing); f != nil {
		return engine.Result{}, f
	}
	if f := metadataFault(in.Metadata); f != nil {
		return engine.Result{}, f
	}
	out, err := a.attach(c, n, &in)
	return out, atToken(err)
}

func (a *API) attach(c *call, customer int64, in *v1.PaymentMethodCreate) (engine.Result, error) {
	token, err := a.storedToken(c, in.Token)
	if err != nil {
		return engine.Result{}, err
	}
	return a.Engine.Attach(c.Context(), c.request, customer, token, func(details []byte) ([]byte, string) {
		var d sourceDetails
		decodeDetails(details, &d)
		d.Billing, d.Metadata = contact(in.Billing), in.Metadata
		return encode(&d), d.fingerprint()
	})
}

func (a *API) updateMethod(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.Customer)
	if err != nil {
		return engine.Result{}, err
	}
	number, err := pathIDOf(c.Request, "payment_method", id.PaymentMethod)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.PaymentMethodUpdate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if f := a.methodUpdateFault(&in); f != nil {
		return engine.Result{}, f
	}
	var token *engine.Stored
	if in.Token != nil {
		found, err := a.storedToken(c, *in.Token)
		if err != nil {
			return engine.Result{}, atToken(err)
		}
		token = &found
	}
	out, err := a.Engine.UpdateMethod(c.Context(), c.request, n, number, token,
		func(details []byte) ([]byte, string, error) { return updatedMethod(details, token, &in) })
	return out, atToken(err)
}

// methodUpdateFault checks the fields of an update.
func (a *API) methodUpdateFault(in *v1.PaymentMethodUpdate) *fault {
	switch {
	case in.Token != nil && in.Card != nil:
		return &fault{code: codeInvalidValue, param: "token", message: "The token has an expiry. Send it without `card`."}
	case in.Token != nil && *in.Token == "":
		return &fault{code: codeMissingField, param: "token"}
	}
	if in.Card != nil {
		if f := a.expiryFault(kindCard, in.Card.ExpMonth, in.Card.ExpYear); f != nil {
			return f
		}
	}
	if f := contactFault("billing", in.Billing); f != nil {
		return f
	}
	return metadataFault(in.Metadata)
}

// updatedMethod returns the details and the fingerprint of a payment method after an update.
func updatedMethod(details []byte, token *engine.Stored, in *v1.PaymentMethodUpdate) ([]byte, string, error) {
	var d sourceDetails
	decodeDetails(details, &d)
	if token != nil {
		var given sourceDetails
		decodeDetails(token.Details, &given)
		d.Card, d.BankAccount = given.Card, given.BankAccount
	}
	if in.Card != nil {
		if d.Card == nil {
			return nil, "", &fault{code: codeInvalidValue, param: kindCard, message: "A bank account has no expiry. Send no `card`."}
		}
		d.Card.ExpMonth, d.Card.ExpYear = in.Card.ExpMonth, in.Card.ExpYear
	}
	if in.Billing != nil {
		d.Billing = contact(in.Billing)
	}
	var err error
	if d.Metadata, err = mergeMetadata(d.Metadata, in.Metadata); err != nil {
		return nil, "", err
	}
	return encode(&d), d.fingerprint(), nil
}

// storedToken reads the token of a value.
func (a *API) storedToken(c *call, value string) (engine.Stored, error) {
	if _, ok := payment.TokenOfValue(value); !ok {
		return engine.Stored{}, payment.ErrNoSource
	}
	return a.Engine.Stored(c.Context(), c.key.Tenant, value)
}

// atToken renames the field in a fault: an attachment has its token in another field than a
// payment.
func atToken(err error) error {
	for _, e := range []error{payment.ErrNoSource, payment.ErrTokenUsed, payment.ErrTokenExpired} {
		if errors.Is(err, e) {
			f := *faultOf(e)
			f.param = "token"
			return &f
		}
	}
	return err
}

// fingerprint returns the fingerprint of the card or bank account that the details show.
func (d *sourceDetails) fingerprint() string {
	switch {
	case d.Card != nil:
		return d.Card.Fingerprint
	case d.BankAccount != nil:
		return d.BankAccount.Fingerprint
	}
	return ""
}

func (a *API) listMethods(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.Customer)
	if err != nil {
		return err
	}
	const filter = "fingerprint"
	p, names, err := expandingPage(r, k, id.PaymentMethod, filter, metadataEntries)
	if err != nil {
		return err
	}
	fingerprint := r.URL.Query().Get(filter)
	if r.URL.Query().Has(filter) && !printable(fingerprint) {
		return &fault{code: codeInvalidValue, param: filter}
	}
	metadata, err := metadataFilter(r.URL.Query())
	if err != nil {
		return err
	}
	if _, err := a.Store.Customer(r.Context(), k.Tenant, n); err != nil {
		return err
	}
	found, err := a.Store.Methods(r.Context(), k.Tenant, n, payment.MethodFilter{Fingerprint: fingerprint, Metadata: metadata}, p)
	if err != nil {
		return err
	}
	return showPage(a, w, r, k, names, p, found, showMethod)
}

func (a *API) getMethod(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	names, err := expandingOne(r, k, id.PaymentMethod)
	if err != nil {
		return err
	}
	n, err := pathID(r, id.Customer)
	if err != nil {
		return err
	}
	number, err := pathIDOf(r, "payment_method", id.PaymentMethod)
	if err != nil {
		return err
	}
	m, err := a.Store.Method(r.Context(), k.Tenant, number)
	switch {
	case errors.Is(err, payment.ErrNotFound), err == nil && (m.Customer != n || !m.DetachedAt.IsZero()):
		return &fault{code: codeNotFound, param: "payment_method"}
	case err != nil:
		return err
	}
	shown := showMethod(m)
	return a.showObject(w, r, k, names, &shown)
}

func (a *API) detachMethod(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.Customer)
	if err != nil {
		return err
	}
	number, err := pathIDOf(r, "payment_method", id.PaymentMethod)
	if err != nil {
		return err
	}
	if err := decode(w, r, &struct{}{}, true); err != nil {
		return err
	}
	out, err := a.Engine.Detach(r.Context(), requestOf(r, k), n, number)
	return a.respond(w, r, out, err)
}

func showMethod(m *payment.Method) v1.PaymentMethod {
	var d sourceDetails
	decodeDetails(m.Details, &d)
	out := v1.PaymentMethod{
		ID: id.Format(id.PaymentMethod, m.ID), Object: v1.PaymentMethodObjectPaymentMethod, Mode: mode(m.Tenant),
		Customer: id.Format(id.Customer, m.Customer), Kind: v1.StoredKind(m.Kind), Card: d.Card, BankAccount: d.BankAccount, Billing: d.Billing,
		Metadata: v1.Metadata{}, CreatedAt: v1.Time{Time: m.CreatedAt},
	}
	if d.Metadata != nil {
		out.Metadata = *d.Metadata
	}
	return out
}

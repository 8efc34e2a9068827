package api

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) customerRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/customers", apikey.ScopeCustomersWrite, a.changing(a.createCustomer)},
		{http.MethodGet, "/v1/customers", apikey.ScopeCustomersFind, a.listCustomers},
		{http.MethodGet, "/v1/customers/{id}", apikey.ScopeCustomersReadOne, a.getCustomer},
		{http.MethodPatch, "/v1/customers/{id}", apikey.ScopeCustomersWrite, a.changing(a.updateCustomer)},
		{http.MethodDelete, "/v1/customers/{id}", apikey.ScopeCustomersWrite, a.deleteCustomer},
	}
}

// customerFault checks the fields of a customer.
func customerFault(in *v1.CustomerInput) *fault {
	for _, f := range []*fault{
		lengthFault(
			field{"first_name", in.FirstName, 100}, field{"last_name", in.LastName, 100}, field{"company", in.Company, 100},
			field{"email", in.Email, 255}, field{"phone", in.Phone, 40}, field{"reference", in.Reference, 255},
			field{"description", in.Description, 1000}, field{defaultMethod, in.DefaultPaymentMethod, 64},
		),
		contactFault("billing", in.Billing), metadataFault(in.Metadata),
	} {
		if f != nil {
			return f
		}
	}
	return nil
}

// newDetails returns a new customer's details. Empty fields are omitted, and entries of metadata
// with an empty text are kept.
func newDetails(in *v1.CustomerInput) []byte {
	var out customerDetails
	out.set(in)
	if in.Metadata != nil && len(*in.Metadata) > 0 {
		out.Metadata = in.Metadata
	}
	return encode(&out)
}

// mergedDetails returns a customer's details after an update. Empty fields are omitted.
func mergedDetails(details []byte, in *v1.CustomerInput) ([]byte, error) {
	var was customerDetails
	decodeDetails(details, &was)
	was.set(in)
	var err error
	if was.Metadata, err = mergeMetadata(was.Metadata, in.Metadata); err != nil {
		return nil, err
	}
	return was.encode()
}

// set sets the fields of the details that in names, except the metadata and the shipping addresses.
func (d *customerDetails) set(in *v1.CustomerInput) {
	setTexts([]textChange{
		{&d.FirstName, in.FirstName},
		{&d.LastName, in.LastName},
		{&d.Company, in.Company},
		{&d.Email, in.Email},
		{&d.Phone, in.Phone},
		{&d.Reference, in.Reference},
		{&d.Description, in.Description},
	})
	if in.Billing != nil {
		d.Billing = contact(in.Billing)
	}
}

// textChange is a stored text and its new value. Nil keeps it, and an empty text removes it.
type textChange struct {
	was **string
	now *string
}

func setTexts(changes []textChange) {
	for _, c := range changes {
		if c.now != nil {
			*c.was = v1.Optional(*c.now)
		}
	}
}

// contact is nil for an empty contact.
func contact(c *v1.Contact) *v1.Contact {
	if c == nil || *c == (v1.Contact{}) {
		return nil
	}
	return c
}

func (a *API) createCustomer(c *call) (engine.Result, error) {
	in, err := customerInput(c)
	if err != nil {
		return engine.Result{}, err
	}
	if v1.Text(in.DefaultPaymentMethod) != "" {
		return engine.Result{}, &fault{code: codeUnknownPaymentMethod, param: defaultMethod, message: "A new customer has no payment methods. Store one, then make it the default."}
	}
	return a.Engine.CreateCustomer(c.Context(), c.request, newDetails(in))
}

func customerInput(c *call) (*v1.CustomerInput, error) {
	var in v1.CustomerInput
	if err := c.decode(&in, false); err != nil {
		return nil, err
	}
	if f := customerFault(&in); f != nil {
		return nil, f
	}
	return &in, nil
}

func (a *API) updateCustomer(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.Customer)
	if err != nil {
		return engine.Result{}, err
	}
	in, err := customerInput(c)
	if err != nil {
		return engine.Result{}, err
	}
	method, f := defaultOf(in)
	if f != nil {
		return engine.Result{}, f
	}
	out, err := a.Engine.UpdateCustomer(c.Context(), c.request, n, method, func(details []byte) ([]byte, error) { return mergedDetails(details, in) })
	if errors.Is(err, payment.ErrNoSource) {
		err = &fault{code: codeUnknownPaymentMethod, param: defaultMethod, message: "The customer does not have this payment method. Check its id.", cause: err}
	}
	return out, err
}

// defaultMethod is the field of the payment method that a customer pays with if the request names
// none.
const defaultMethod = "default_payment_method"

// defaultOf returns the new default payment method: nil leaves it as it is, 0 removes it.
func defaultOf(in *v1.CustomerInput) (*int64, *fault) {
	if in.DefaultPaymentMethod == nil {
		return nil, nil
	}
	n := int64(0)
	if *in.DefaultPaymentMethod == "" {
		return &n, nil
	}
	n, err := id.Parse(id.PaymentMethod, *in.DefaultPaymentMethod)
	if err != nil {
		return nil, &fault{code: codeUnknownPaymentMethod, param: defaultMethod, cause: err}
	}
	return &n, nil
}

func (a *API) deleteCustomer(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.Customer)
	if err != nil {
		return err
	}
	expected, err := queriedVersion(r)
	if err != nil {
		return err
	}
	body, err := admission.ReadBody(w, r, maxBody)
	if err != nil {
		return readFault(err)
	}
	if err := parse(r, body, &struct{}{}, true); err != nil {
		return err
	}
	out, err := a.Engine.DeleteCustomer(r.Context(), requestOf(r, k), n, expected)
	return a.respond(w, r, out, err)
}

func (a *API) getCustomer(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	names, err := expandingOne(r, k, id.Customer)
	if err != nil {
		return err
	}
	n, err := pathID(r, id.Customer)
	if err != nil {
		return err
	}
	c, err := a.Store.Customer(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := showCustomer(c)
	return a.showObject(w, r, k, names, &shown)
}

func (a *API) listCustomers(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	if q := r.URL.Query(); q.Get("reference") == "" && q.Get("email") == "" {
		if err := needScope(k, apikey.ScopeCustomersRead); err != nil {
			return err
		}
	}
	p, names, err := expandingPage(r, k, id.Customer, "reference", "email", metadataEntries)
	if err != nil {
		return err
	}
	f, err := customerFilter(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := a.Store.Customers(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	return showPage(a, w, r, k, names, p, found, showCustomer)
}

// customerFilter reads the list filter of customers.
func customerFilter(q url.Values) (payment.CustomerFilter, error) {
	for _, name := range []string{"reference", "email"} {
		value := q.Get(name)
		if q.Has(name) && value == "" {
			return payment.CustomerFilter{}, &fault{code: codeInvalidValue, param: name, message: "The filter is empty. Send a value, or omit it."}
		}
		if f := lengthFault(field{name, &value, 255}); f != nil {
			return payment.CustomerFilter{}, f
		}
	}
	metadata, err := metadataFilter(q)
	return payment.CustomerFilter{Reference: q.Get("reference"), Email: q.Get("email"), Metadata: metadata}, err
}

func showCustomer(c *payment.Customer) v1.Customer {
	var out v1.Customer
	decodeDetails(c.Details, &out)
	out.ID = id.Format(id.Customer, c.ID)
	out.Object = v1.CustomerObjectCustomer
	out.Mode = mode(c.Tenant)
	if c.Default != 0 {
		out.DefaultPaymentMethod = v1.Optional(id.Format(id.PaymentMethod, c.Default))
	}
	out.Version = c.Version
	if out.Metadata == nil {
		out.Metadata = v1.Metadata{}
	}
	out.CreatedAt, out.UpdatedAt = v1.Time{Time: c.CreatedAt}, v1.Time{Time: c.UpdatedAt}
	return out
}

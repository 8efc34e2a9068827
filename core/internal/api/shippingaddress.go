package api

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	maxShippingAddresses = 100
	// shippingAddresses is the field of a customer with its shipping addresses.
	shippingAddresses = "shipping_addresses"
	shippingAddress   = "shipping_address"
)

func (a *API) shippingAddressRoutes() []route {
	const all = "/v1/customers/{id}/" + shippingAddresses
	const one = all + "/{" + shippingAddress + "}"
	return []route{
		{http.MethodPost, all, apikey.ScopeCustomersWrite, a.changing(a.createShippingAddress)},
		{http.MethodGet, one, apikey.ScopeCustomersReadOne, a.getShippingAddress},
		{http.MethodPatch, one, apikey.ScopeCustomersWrite, a.changing(a.updateShippingAddress)},
		{http.MethodDelete, one, apikey.ScopeCustomersWrite, a.deleteShippingAddress},
	}
}

// shippingAddressFault checks the fields of a shipping address.
func shippingAddressFault(in *v1.ShippingAddressInput) *fault {
	return cmp.Or(contactFault("", in.Contact()), metadataFault(in.Metadata))
}

// customerDetails are the fields of a customer that the merchant gave, as the contract shows them.
type customerDetails struct {
	v1.CustomerInput

	ShippingAddresses addressList `json:"shipping_addresses,omitempty"`
}

// encode returns the details to store. It refuses details that are too long, because each page and
// each event of the customer has them.
func (d *customerDetails) encode() ([]byte, error) {
	out := encode(d)
	if len(d.ShippingAddresses) > maxShippingAddresses || len(d.ShippingAddresses) > 0 && len(out) > maxBody {
		return nil, &fault{code: codeTooManyAddresses, param: "id"}
	}
	return out, nil
}

// addressList is the shipping addresses of one customer, oldest first.
type addressList []v1.ShippingAddress

// add adds a new shipping address.
func (l *addressList) add(in *v1.ShippingAddressInput, number int64) (*v1.ShippingAddress, error) {
	*l = append(*l, v1.ShippingAddress{
		ID: id.Format(id.ShippingAddress, number), Object: v1.ShippingAddressObjectShippingAddress, Metadata: v1.Metadata{},
	})
	return l.change(len(*l)-1, in)
}

// change sets the fields of the ith shipping address that in names.
func (l *addressList) change(i int, in *v1.ShippingAddressInput) (*v1.ShippingAddress, error) {
	to := &(*l)[i]
	if in.Metadata != nil {
		merged, err := mergeMetadata(&to.Metadata, in.Metadata)
		if err != nil {
			return nil, err
		}
		if to.Metadata = (v1.Metadata{}); merged != nil {
			to.Metadata = *merged
		}
	}
	setTexts([]textChange{
		{&to.FirstName, in.FirstName},
		{&to.LastName, in.LastName},
		{&to.Company, in.Company},
		{&to.Email, in.Email},
		{&to.Phone, in.Phone},
	})
	if in.Address != nil {
		if to.Address = in.Address; *in.Address == (v1.Address{}) {
			to.Address = nil
		}
	}
	if in.Default == nil {
		return to, nil
	}
	for j := range *l {
		(*l)[j].Default = (*l)[j].Default && j != i && !*in.Default
	}
	to.Default = *in.Default
	return to, nil
}

// changeAddresses returns a change of a customer's details. It applies change to the shipping
// addresses, and responds with the address that change returns.
func changeAddresses(
	kind engine.Kind, change func(*addressList) (*v1.ShippingAddress, error),
) func(details []byte) ([]byte, engine.Result, error) {
	return func(details []byte) ([]byte, engine.Result, error) {
		var d customerDetails
		decodeDetails(details, &d)
		address, err := change(&d.ShippingAddresses)
		if err != nil {
			return nil, engine.Result{}, err
		}
		changed, err := d.encode()
		return changed, engine.Result{Kind: kind, Object: address}, err
	}
}

func shippingAddressInput(c *call) (*v1.ShippingAddressInput, error) {
	var in v1.ShippingAddressInput
	if err := c.decode(&in, false); err != nil {
		return nil, err
	}
	if f := shippingAddressFault(&in); f != nil {
		return nil, f
	}
	return &in, nil
}

func (a *API) createShippingAddress(c *call) (engine.Result, error) {
	customer, err := pathID(c.Request, id.Customer)
	if err != nil {
		return engine.Result{}, err
	}
	in, err := shippingAddressInput(c)
	if err != nil {
		return engine.Result{}, err
	}
	return a.Engine.ChangeShippingAddress(c.Context(), c.request, customer,
		changeAddresses(engine.Created, func(l *addressList) (*v1.ShippingAddress, error) {
			return l.add(in, a.Engine.IDs.Next())
		}))
}

func (a *API) updateShippingAddress(c *call) (engine.Result, error) {
	customer, address, err := addressPath(c.Request)
	if err != nil {
		return engine.Result{}, err
	}
	in, err := shippingAddressInput(c)
	if err != nil {
		return engine.Result{}, err
	}
	return a.Engine.ChangeShippingAddress(c.Context(), c.request, customer,
		changeAddresses(engine.Existing, func(l *addressList) (*v1.ShippingAddress, error) {
			i, err := l.find(address)
			if err != nil {
				return nil, err
			}
			return l.change(i, in)
		}))
}

func (a *API) deleteShippingAddress(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	customer, address, err := addressPath(r)
	if err != nil {
		return err
	}
	if err := decode(w, r, &struct{}{}, true); err != nil {
		return err
	}
	out, err := a.Engine.ChangeShippingAddress(r.Context(), requestOf(r, k), customer,
		changeAddresses(engine.Deleted, func(l *addressList) (*v1.ShippingAddress, error) {
			i, err := l.find(address)
			if err != nil {
				return nil, err
			}
			*l = slices.Delete(*l, i, i+1)
			return &v1.ShippingAddress{ID: address}, nil
		}))
	return a.respond(w, r, out, err)
}

func (a *API) getShippingAddress(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	customer, address, err := addressPath(r)
	if err != nil {
		return err
	}
	if _, err := query(r); err != nil {
		return err
	}
	c, err := a.Store.Customer(r.Context(), k.Tenant, customer)
	if err != nil {
		return err
	}
	var d customerDetails
	decodeDetails(c.Details, &d)
	i, err := d.ShippingAddresses.find(address)
	if err != nil {
		return err
	}
	return a.showObject(w, r, k, nil, &d.ShippingAddresses[i])
}

// find returns the position of the shipping address with an id.
func (l addressList) find(address string) (int, error) {
	i := slices.IndexFunc(l, func(s v1.ShippingAddress) bool { return s.ID == address })
	if i < 0 {
		return 0, &fault{code: codeNotFound, param: shippingAddress}
	}
	return i, nil
}

// addressPath returns the customer and the id of the shipping address in the path.
func addressPath(r *http.Request) (customer int64, address string, err error) {
	if customer, err = pathID(r, id.Customer); err != nil {
		return 0, "", err
	}
	n, err := pathIDOf(r, shippingAddress, id.ShippingAddress)
	return customer, id.Format(id.ShippingAddress, n), err
}

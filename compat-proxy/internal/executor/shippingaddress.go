package executor

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// address copies a shipping address of the customer into the payment. It returns a result if it
// cannot read the customer, or the customer does not have the address. V1 refuses an unknown
// customer, as in storedMethod.
func (s session) address(ctx context.Context, c *command.Authorize) *command.Result {
	if c.ShipTo == "" {
		return nil
	}
	customer, r := s.customer(ctx, v1.Text(c.Body.Customer))
	switch {
	case customer == nil && r.Outcome == command.NotFound:
		return nil
	case customer == nil:
		return &r
	}
	addresses := addressesOf(&customer.Customer)
	i := addressWith(addresses, c.ShipTo)
	if i < 0 {
		return &command.Result{Outcome: command.Unmet, Unmet: command.ConditionShipping}
	}
	c.Body.Shipping = addresses[i].Contact()
	return nil
}

// addAddress gives a customer a shipping address that it does not have yet.
func (s session) addAddress(ctx context.Context, c command.AddAddress) command.Result {
	number, err := id.Decimal(id.Customer, string(c.Customer))
	if err != nil {
		return command.Result{Outcome: command.NotFound}
	}
	r := command.Result{Outcome: command.Done, Status: http.StatusCreated, Customer: &v1.Customer{ID: number}}
	if s.named() {
		return s.addNamed(ctx, c, r)
	}
	first, failed := s.addressKeys(ctx, number, &c.Address)
	if failed != nil {
		return *failed
	}
	return s.addUnder(ctx, c, first, r)
}

// addNamed adds the address of a command under its name, and returns the result r with the address.
// V1's record of the key decides whether an earlier request added it. It is read first, because the
// customer may have been deleted since. It is read again if the customer has an equal address:
// another request with this name may have added that meanwhile.
func (s session) addNamed(ctx context.Context, c command.AddAddress, r command.Result) command.Result {
	used, earlier := s.addressUnderName(ctx, r)
	if earlier != nil {
		return *earlier
	}
	if !used {
		equal, unread := s.equalOf(ctx, c)
		if unread != nil {
			return *unread
		}
		if equal != nil {
			used, earlier = s.addressUnderName(ctx, r)
		}
		switch {
		case earlier != nil:
			return *earlier
		case equal != nil && !used:
			r.Outcome, r.Status, r.Address = command.Repeated, http.StatusOK, equal
			return r
		}
	}
	// V1 refuses a key again that it has refused. The name then goes on to its next key.
	made, refused := s.createAddress(ctx, r.Customer.ID, &c.Address, s.IdempotencyKey)
	if made == nil {
		return refused
	}
	r.Address = made
	return r
}

// addressUnderName reports whether a request has the session's key. If that request added or
// changed an address, it also returns the result r with it. If it still runs, it returns the result
// to give.
func (s session) addressUnderName(ctx context.Context, r command.Result) (bool, *command.Result) {
	used, resource, failed := s.resourceUnderName(ctx)
	if failed != nil || resource == "" {
		return used, failed
	}
	s.keyResponse.replayed = true
	r.Address = &v1.ShippingAddress{ID: resource}
	return true, &r
}

// equalOf reads the customer of a command and returns its address that equals the command's, nil
// for none. It returns a result if it cannot.
func (s session) equalOf(ctx context.Context, c command.AddAddress) (*v1.ShippingAddress, *command.Result) {
	customer, unread := s.findCustomer(ctx, command.GetCustomer{Customer: c.Customer})
	if customer == nil {
		return nil, &unread
	}
	return equalAddress(customer, c.Address.Contact(), ""), nil
}

// addUnder adds the address of a command under the first free one of its keys, and returns the
// result r with the address.
func (s session) addUnder(ctx context.Context, c command.AddAddress, first string, r command.Result) command.Result {
	for n := 0; ; n++ {
		equal, unread := s.equalOf(ctx, c)
		switch {
		case unread != nil:
			return *unread
		case equal != nil:
			r.Outcome, r.Status, r.Address = command.Repeated, http.StatusOK, equal
			return r
		}
		key, last := first+strconv.Itoa(n), n >= mostAddressKeys
		if last {
			key = s.IdempotencyKey
		}
		made, refused := s.createAddress(ctx, r.Customer.ID, &c.Address, key)
		earlier := refused.Origin.Replayed || refused.Code == v1.CodeKeyReused
		switch {
		case earlier && !last: // read the customer again
		case made == nil:
			return refused
		default:
			r.Address = made
			return r
		}
	}
}

// mostAddressKeys bounds the calls for an address that was deleted or refused again and again
// within 24 hours. V1 keeps its keys for that time.
const mostAddressKeys = 10

// addressKeys returns the start of the keys of an address, which equal addresses of a customer
// share. So of equal concurrent requests only one adds it.
func (s session) addressKeys(
	ctx context.Context, customer string, in *v1.ShippingAddressInput,
) (string, *command.Result) {
	p := payerOf(in.Contact())
	equal := []string{customer, p.firstName, p.lastName, p.line1, p.line2, p.postalCode, v1.Text(in.Phone)}
	keys := func(n deduplication.Names) string { return "address-" + n.Derive(equal) + "-" }
	names, failed := s.ChooseNames(ctx, func(n deduplication.Names) string { return keys(n) + "0" })
	return keys(names), failed
}

// createAddress adds a shipping address under a key. It returns nil and the result to give if it
// cannot.
func (s session) createAddress(
	ctx context.Context, customer string, in *v1.ShippingAddressInput, key string,
) (*v1.ShippingAddress, command.Result) {
	params := &v1.CreateShippingAddressParams{IdempotencyKey: &key}
	var made v1.ShippingAddress
	resp, ok := s.post(ctx, in, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return s.x.client.API.CreateShippingAddressWithBody(ctx, customer, params, v1client.ContentType, body, s.WithKey)
	})
	r, read := resp.readCreated(ok, &made, func() bool { return isID(id.ShippingAddress, made.ID) })
	switch {
	case read:
		return &made, command.Result{Origin: command.Origin{Replayed: resp.Replayed}}
	case r.Code == v1.CodeTooManyAddresses:
		return nil, command.Result{Outcome: command.Unmet, Unmet: command.ConditionMost, Origin: r.Origin}
	}
	return nil, r
}

// addressUpdate is the body of an update. It keeps empty texts, which remove the stored ones.
type addressUpdate struct {
	FirstName *string           `json:"first_name,omitzero"`
	LastName  *string           `json:"last_name,omitzero"`
	Company   *string           `json:"company,omitzero"`
	Email     *string           `json:"email,omitzero"`
	Phone     *string           `json:"phone,omitzero"`
	Address   *v1.Address       `json:"address,omitzero"`
	Default   *bool             `json:"default,omitzero"`
	Metadata  map[string]string `json:"metadata,omitzero"`
}

// replacingAddress returns an update that also removes the fields that in lacks.
func replacingAddress(in *v1.ShippingAddressInput) addressUpdate {
	u := addressUpdate{
		FirstName: new(v1.Text(in.FirstName)), LastName: new(v1.Text(in.LastName)), Company: new(v1.Text(in.Company)),
		Email: new(v1.Text(in.Email)), Phone: new(v1.Text(in.Phone)), Address: cmp.Or(in.Address, new(v1.Address)),
		Default: in.Default,
	}
	if in.Metadata != nil {
		u.Metadata = *in.Metadata
	}
	return u
}

// changeAddress replaces the fields of a shipping address. The update sets values that do not
// depend on the old ones, so a retry after a lost response has no other effect. Under a name, v1's
// record of the key is read first: the address may have been deleted since.
func (s session) changeAddress(ctx context.Context, c command.ChangeAddress) command.Result {
	number, errCustomer := id.Decimal(id.Customer, string(c.Customer))
	address, errAddress := id.Decimal(id.ShippingAddress, string(c.Address))
	if errCustomer != nil || errAddress != nil {
		return command.Result{Outcome: command.NotFound}
	}
	r := command.Result{Outcome: command.Done, Status: http.StatusOK, Customer: &v1.Customer{ID: number}}
	if s.named() {
		if _, earlier := s.addressUnderName(ctx, r); earlier != nil {
			return *earlier
		}
	}
	customer, unread := s.findCustomer(ctx, command.GetCustomer{Customer: c.Customer})
	if customer == nil {
		return unread
	}
	if addressWith(addressesOf(customer), address) < 0 {
		return command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
	}
	if equal := equalAddress(customer, c.Body.Contact(), address); equal != nil {
		r.Outcome, r.Address = command.Repeated, equal
		return r
	}
	in := replacingAddress(&c.Body)
	params := &v1.UpdateShippingAddressParams{IdempotencyKey: &s.IdempotencyKey}
	var updated v1.ShippingAddress
	resp, ok := s.post(ctx, in, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return s.x.client.API.UpdateShippingAddressWithBody(
			ctx, customer.ID, address, params, v1client.ContentType, body, s.WithKey)
	})
	if refused, read := resp.readCreated(ok, &updated, func() bool { return updated.ID == address }); !read {
		return refused
	}
	r.Address = &updated
	return r
}

// deleteAddress deletes a shipping address of a customer.
func (s session) deleteAddress(ctx context.Context, c command.DeleteAddress) command.Result {
	customer, errCustomer := id.Decimal(id.Customer, string(c.Customer))
	address, errAddress := id.Decimal(id.ShippingAddress, string(c.Address))
	if errCustomer != nil || errAddress != nil {
		return command.Result{Outcome: command.NotFound}
	}
	return s.delete(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.DeleteShippingAddress(ctx, customer, address, s.WithKey)
	})
}

// addedBefore returns the shipping addresses that were added under the maker's keys, with their ids
// only. It returns nil if there are none.
func (m maker) addedBefore(ctx context.Context) (*[]v1.ShippingAddress, *command.Result) {
	var added []v1.ShippingAddress
	for i := range m.command.Addresses {
		u, failed := m.ReadKey(ctx, m.addressKey(i))
		if failed != nil {
			return nil, failed
		}
		added = append(added, v1.ShippingAddress{ID: u.Resource})
	}
	if added == nil {
		return nil, nil
	}
	return &added, nil
}

// addressKey returns the key of the ith shipping address. It is the same for all requests for this
// customer, as the key of the first payment method. So of requests with different addresses, only
// one adds the first.
func (m maker) addressKey(i int) string { return m.key + "-address-" + strconv.Itoa(i) }

// addressesOf returns the shipping addresses of a customer, oldest first.
func addressesOf(c *v1.Customer) []v1.ShippingAddress {
	if c.ShippingAddresses == nil {
		return nil
	}
	return *c.ShippingAddresses
}

// addressWith returns the position of the shipping address with an id, -1 for none.
func addressWith(addresses []v1.ShippingAddress, address string) int {
	return slices.IndexFunc(addresses, func(a v1.ShippingAddress) bool { return a.ID == address })
}

// equalAddress returns a shipping address of a customer that is equal to a contact, nil for none.
// It leaves out the address with an id.
func equalAddress(of *v1.Customer, to *v1.Contact, except string) *v1.ShippingAddress {
	addresses := addressesOf(of)
	for i := range addresses {
		a := addresses[i].Contact()
		if addresses[i].ID != except && payerOf(a) == payerOf(to) && v1.Text(a.Phone) == v1.Text(to.Phone) {
			return &addresses[i]
		}
	}
	return nil
}

package executor

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Making a customer takes several calls. They make a token for each payment method, create the
// customer with its identifying fields, attach the payment methods, and add the other fields. Until
// the last call the customer carries a mark.
//
// All calls but the last carry Idempotency-Keys derived from the command. So a retry at any proxy
// continues at the step where the earlier request stopped. The keys that create the customer and
// attach its first payment method are derived from the identifying fields alone. So of several
// requests for one customer with different payment methods, only one succeeds.
const (
	setupName       = "setup"
	setupIncomplete = "incomplete"
)

// abandoned is the age at which no request can still be making an incomplete customer. It is well
// above TotalTimeout, because the clocks of several servers of v1 may differ by seconds.
const abandoned = 3 * time.Minute

// seenCustomer is a customer as v1 returned it at a time of v1's clock. Without that time it is
// never abandoned.
type seenCustomer struct {
	v1.Customer

	at time.Time
}

// abandoned reports whether no request can still be making the customer. The clock of this proxy
// does not matter.
func (c *seenCustomer) abandoned() bool {
	return c.at.Sub(c.CreatedAt.Time) > abandoned
}

// maxCustomerKeys is the largest number of customers with the same fields that may have been
// deleted within 24 hours. V1 keeps their keys for that time, and each takes a call.
const maxCustomerKeys = 250

// complete reports whether c has all its fields.
func complete(c *v1.Customer) bool { return c.Metadata[setupName] != setupIncomplete }

// v1 lists customers by reference and e-mail address. A customer with only a description gets the
// description as its reference too, and metadata that records this.
const (
	referenceFrom        = "reference_from"
	referenceDescription = "description"
	maxReference         = 255 // v1's limit
)

// findable returns in with a field by which v1 can list it. A description that is too long for a
// reference is not such a field.
func findable(in v1.CustomerInput) v1.CustomerInput {
	if in.Reference != nil || in.Email != nil || utf8.RuneCountInString(v1.Text(in.Description)) > maxReference {
		return in
	}
	marked := v1.Metadata{referenceFrom: referenceDescription}
	if in.Metadata != nil {
		maps.Copy(marked, *in.Metadata)
	}
	in.Reference, in.Metadata = in.Description, &marked
	return in
}

// identifyingPart returns the part of a customer that identifies it.
func identifyingPart(in v1.CustomerInput) v1.CustomerInput {
	marks := v1.Metadata{setupName: setupIncomplete}
	for _, name := range []string{referenceFrom, identityKey} {
		if value := v1.Entry(in.Metadata, name); value != "" {
			marks[name] = value
		}
	}
	return v1.CustomerInput{Reference: in.Reference, Description: in.Description, Email: in.Email, Metadata: &marks}
}

// sameIdentity reports whether c has the same identifying fields as in.
func sameIdentity(c *v1.Customer, in v1.CustomerInput) bool {
	found := v1.CustomerInput{Reference: c.Reference, Description: c.Description, Email: c.Email}
	return slices.Equal(command.Identifying(found), command.Identifying(in)) &&
		c.Metadata[referenceFrom] == v1.Entry(in.Metadata, referenceFrom) &&
		c.Metadata[identityKey] == v1.Entry(in.Metadata, identityKey)
}

// identityKey is the metadata entry that distinguishes customers whose fields are equal after
// masking. Its value is an HMAC of the fields as the client sent them.
const identityKey = "masked_identity"

// identified returns the body of a command, with the entry identityKey under the names if a field
// was masked.
func identified(c command.CreateCustomer, names deduplication.Names) v1.CustomerInput {
	if c.Unmasked == nil {
		return c.Body
	}
	in := c.Body
	in.Metadata = v1.WithEntry(in.Metadata, identityKey, names.Derive([]string{"customer"}, c.Unmasked))
	return in
}

// createCustomer makes the whole customer, or finds the existing one. Under a name, v1's record of
// the last step decides whether an earlier request made the customer. It is read again if the
// customer is complete, because that may be by a concurrent request under the name.
func (s session) createCustomer(ctx context.Context, c command.CreateCustomer) (r command.Result) {
	name := ""
	if s.named() {
		name, s = s.IdempotencyKey, s.step(s.IdempotencyKey)
	}
	made, failed := s.completedUnder(ctx, name)
	if failed == nil && made == "" {
		if r = s.findOrCreate(ctx, c, name); r.Outcome == command.Repeated {
			made, failed = s.completedUnder(ctx, name)
		}
	}
	switch {
	case failed != nil:
		return *failed
	case made == "":
		return r
	}
	m, failed := s.maker(ctx, c, name)
	if failed != nil {
		return *failed
	}
	return m.completedBefore(ctx, made)
}

// findOrCreate makes the customer unless a complete one exists.
func (s session) findOrCreate(ctx context.Context, c command.CreateCustomer, name string) command.Result {
	same, left, failed := s.customersLike(ctx, c, "")
	switch {
	case failed != nil:
		return *failed
	case same != nil:
		return command.Result{Outcome: command.Repeated, Status: http.StatusOK, Customer: same}
	}
	m, failed := s.maker(ctx, c, name)
	if failed != nil {
		return *failed
	}
	for n := range maxCustomerKeys {
		r, again := m.under(n).create(ctx)
		if again {
			continue
		}
		s.deleteAbandoned(ctx, left, r)
		return r
	}
	return command.Result{Outcome: command.Unavailable, Code: v1.CodeOperationInProgress}
}

// deleteAbandoned deletes abandoned customers with the same fields once a complete one exists. V1
// no longer keeps their keys.
func (s session) deleteAbandoned(ctx context.Context, left []v1.Customer, r command.Result) {
	if r.Outcome != command.Done {
		return
	}
	for i := range left {
		if left[i].ID != r.Customer.ID {
			s.deleteCustomer(ctx, &left[i])
		}
	}
}

// customer reads one customer. It returns nil and the result to give if it cannot.
func (s session) customer(ctx context.Context, customer string) (*seenCustomer, command.Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetCustomer(ctx, customer, nil, s.WithKey)
	})
	var c v1.Customer
	if r, ok := resp.read(&c, func() bool { return c.ID == customer }); !ok {
		return nil, r
	}
	return &seenCustomer{c, resp.Date}, command.Result{}
}

// deleteCustomer deletes a customer unless it has changed since it was read. It reports whether the
// customer no longer exists.
func (s session) deleteCustomer(ctx context.Context, c *v1.Customer) bool {
	params := &v1.DeleteCustomerParams{ExpectedVersion: &c.Version}
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.DeleteCustomer(ctx, c.ID, params, s.WithKey)
	})
	return resp.Status/100 == 2 || resp.Status == http.StatusNotFound
}

// mostAbandoned bounds the abandoned customers that one command deletes.
const mostAbandoned = 100

// customersLike returns the newest complete customer with the same identifying fields, made under
// either secret, that is not the excepted one. Without one it returns the ids and versions of
// abandoned customers. A merchant can have any number of large customers with the same fields, so
// it keeps no more. v1 lists customers by two of the fields; without both, there is none.
func (s session) customersLike(
	ctx context.Context, c command.CreateCustomer, except string,
) (same *v1.Customer, left []v1.Customer, failed *command.Result) {
	c.Body = findable(c.Body)
	params := v1.ListCustomersParams{Reference: c.Body.Reference, Email: c.Body.Email}
	if params.Reference == nil && params.Email == nil {
		return nil, nil, nil
	}
	var wanted []v1.CustomerInput
	for _, names := range s.AllNames() {
		wanted = append(wanted, identified(c, names))
	}
	failed = s.eachCustomer(ctx, params, func(found seenCustomer) bool {
		switch {
		case found.ID == except,
			!slices.ContainsFunc(wanted, func(in v1.CustomerInput) bool { return sameIdentity(&found.Customer, in) }):
		case complete(&found.Customer):
			same = &found.Customer
		case found.abandoned() && len(left) < mostAbandoned:
			left = append(left, v1.Customer{ID: strings.Clone(found.ID), Version: found.Version})
		}
		return same == nil
	})
	return same, left, failed
}

// token makes a token under the key.
func (s session) token(ctx context.Context, c command.CreateToken, key string) command.Result {
	params := &v1.CreateTokenParams{IdempotencyKey: &key}
	resp, ok := s.post(ctx, c.Body, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return s.x.client.API.CreateTokenWithBody(ctx, params, v1client.ContentType, body, s.WithKey)
	})
	var made v1.Token
	if r, read := resp.readCreated(ok, &made, func() bool { return isID(id.Token, made.ID) && made.Value != nil }); !read {
		return r
	}
	return command.Result{Outcome: command.Done, Status: resp.Status, Token: &made}
}

// readCreated reads the object that a call made into v. It reports false, with the result to give,
// if the response has no matching object.
func (resp response) readCreated(encoded bool, v any, matches func() bool) (command.Result, bool) {
	switch {
	case !encoded:
		return command.Unencodable(), false
	case resp.Status/100 != 2:
		return resp.result(), false
	case !resp.DecodeMatching(v, matches):
		return command.Result{Outcome: command.Uncertain, Status: resp.Status}, false
	}
	return command.Result{}, true
}

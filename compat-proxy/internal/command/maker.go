package command

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strconv"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maker makes one customer under one key.
type maker struct {
	session

	command    CreateCustomer
	key        string // shared by all requests for a customer with these identifying fields
	content    string // the name of the content
	contentKey string // shared by requests with the same content
	// name is the key of the Named command; "" for any other. The customer keeps it as the entry
	// requestName.
	name string
}

// create does the steps that are left. It reports true if the key belongs to a customer that no
// longer exists.
func (m maker) create(ctx context.Context) (Result, bool) {
	tokens, failed := m.tokens(ctx)
	if failed != nil {
		return *failed, false
	}
	if failed := m.bindName(ctx); failed != nil {
		return *failed, false
	}
	made, r := m.createIncomplete(ctx)
	if made == nil {
		return r, false
	}
	ours := !r.replayed
	if !ours {
		if r, ended, again := m.join(ctx, made); ended {
			return r, again
		}
	}
	methods := make([]v1.PaymentMethod, 0, len(tokens))
	for i, token := range tokens {
		method, r := m.attach(ctx, made.ID, i, token)
		if method == nil {
			r.Position = i + 1
			return m.stop(ctx, made, r, ours)
		}
		methods, ours = append(methods, *method), true
	}
	if m.madeBefore(&made.Customer) {
		return Result{Outcome: Done, Status: http.StatusCreated, Customer: &made.Customer, Methods: methods}, false
	}
	whole, r := m.finish(ctx, made.ID, methods)
	if whole == nil {
		return m.stop(ctx, made, r, ours)
	}
	return Result{Outcome: Done, Status: http.StatusCreated, Customer: whole, Methods: methods}, false
}

// requestName is the metadata entry of a customer that a Named command made. It distinguishes the
// customer of an earlier request under the name from a duplicate.
const requestName = "request"

// madeBefore reports whether an earlier request under the name completed the customer.
func (m maker) madeBefore(c *v1.Customer) bool {
	return m.name != "" && complete(c) && c.Metadata[requestName] == m.name
}

// bindName reserves the name for this content. It returns the result of a command whose name
// belongs to other content, or nil.
func (m maker) bindName(ctx context.Context) *Result {
	if m.name == "" {
		return nil
	}
	held, failed := m.reserve(ctx, m.name, m.content)
	if failed == nil && !held {
		failed = keyReused()
	}
	return failed
}

// tokens makes the tokens of all payment methods before the customer exists. V1 refuses an invalid
// card or account here.
func (m maker) tokens(ctx context.Context) ([]string, *Result) {
	made := make([]string, 0, len(m.command.Methods))
	for i := range m.command.Methods {
		r := m.token(ctx, m.command.Methods[i].Token, m.contentKey+"-token-"+strconv.Itoa(i))
		if r.Token == nil {
			r.Position = i + 1
			return nil, &r
		}
		made = append(made, r.Token.Value.Reveal())
	}
	return made, nil
}

// createIncomplete makes the customer, or finds the one that an equal request made earlier.
func (m maker) createIncomplete(ctx context.Context) (*seenCustomer, Result) {
	params := &v1.CreateCustomerParams{IdempotencyKey: &m.key}
	var made v1.Customer
	resp, ok := m.post(ctx, identifyingPart(m.command.Body), "",
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return m.x.client.CreateCustomerWithBody(ctx, params, contentType, body, m.authorized)
		})
	matches := func() bool { return isID(id.Customer, made.ID) && sameIdentity(&made, m.command.Body) }
	if r, read := resp.readCreated(ok, &made, matches); !read {
		return nil, r
	}
	return &seenCustomer{made, resp.date}, Result{replayed: resp.replayed}
}

// The codes of refusals of an old token.
var staleToken = map[string]bool{"token_expired": true, "token_used": true}

// join reads a customer that another request created. It reports ended if nothing is left to do,
// and again if the customer no longer exists.
func (m maker) join(ctx context.Context, made *seenCustomer) (r Result, ended, again bool) {
	there, r := m.customer(ctx, made.ID)
	switch {
	case r.Outcome == NotFound, there != nil && !sameIdentity(&there.Customer, m.command.Body):
		return Result{}, true, true
	case there == nil:
		return r, true, false
	case m.madeBefore(&there.Customer):
		*made = *there
		return Result{}, false, false
	case complete(&there.Customer):
		return Result{Outcome: Repeated, Status: r.Status, Customer: &there.Customer}, true, false
	case len(m.command.Methods) > 0:
		return Result{}, false, false // the first attachment decides which request has the customer
	}
	first, failed := m.awaitKey(ctx, m.firstMethodKey())
	switch {
	case failed != nil:
		return *failed, true, false
	case first.found:
		r, again = m.contested(ctx, made)
		return r, true, again
	}
	return Result{}, false, false
}

// firstMethodKey returns the key of the first attachment.
func (m maker) firstMethodKey() string { return m.key + "-method-0" }

// attach gives the customer its ith payment method. It makes a new token if the token of an earlier
// request is no longer valid. V1 stored that refusal under the key, so the new token uses the next
// key.
func (m maker) attach(ctx context.Context, customer string, i int, token string) (*v1.PaymentMethod, Result) {
	method, r := m.attachToken(ctx, customer, i, 0, token)
	if !staleToken[r.Code] {
		return method, r
	}
	r = m.token(ctx, m.command.Methods[i].Token, m.contentKey+"-token-"+strconv.Itoa(i)+"-"+m.idempotencyKey)
	if r.Token == nil {
		return nil, r
	}
	return m.attachToken(ctx, customer, i, 1, r.Token.Value.Reveal())
}

// attachToken attaches the ith payment method under the nth of its keys, and uses the token. The
// keys of the first payment method are the same for all requests. The request that attaches it has
// the customer to itself.
func (m maker) attachToken(ctx context.Context, customer string, i, nth int, token string) (*v1.PaymentMethod, Result) {
	wanted, key := m.command.Methods[i], m.contentKey+"-method-"+strconv.Itoa(i)
	if i == 0 {
		key = m.firstMethodKey()
	}
	key = numbered(key, nth)
	params := &v1.AttachPaymentMethodParams{IdempotencyKey: &key}
	in := v1.PaymentMethodCreate{Token: token, Billing: wanted.Billing, Metadata: metadata(wanted.Metadata)}
	var made v1.PaymentMethod
	resp, ok := m.post(ctx, in, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.AttachPaymentMethodWithBody(ctx, customer, params, contentType, body, m.authorized)
	})
	matches := func() bool { return isID(id.PaymentMethod, made.ID) && made.Customer == customer }
	if r, read := resp.readCreated(ok, &made, matches); !read {
		return nil, r
	}
	return &made, Result{}
}

// customerUpdate is the body of the last call. Its metadata replaces the mark, so it is sent even
// when empty.
type customerUpdate struct {
	DefaultMethod *string           `json:"default_payment_method,omitzero"`
	FirstName     *string           `json:"first_name,omitzero"`
	LastName      *string           `json:"last_name,omitzero"`
	Company       *string           `json:"company,omitzero"`
	Phone         *string           `json:"phone,omitzero"`
	Billing       *v1.Contact       `json:"billing,omitzero"`
	Shipping      *v1.Contact       `json:"shipping,omitzero"`
	Metadata      map[string]string `json:"metadata"`
}

// finish adds the other fields to the customer and removes the mark.
func (m maker) finish(ctx context.Context, customer string, methods []v1.PaymentMethod) (*v1.Customer, Result) {
	in := m.command.Body
	last := customerUpdate{
		FirstName: in.FirstName, LastName: in.LastName, Company: in.Company, Phone: in.Phone, Billing: in.Billing,
		Shipping: in.Shipping, Metadata: map[string]string{},
	}
	if in.Metadata != nil {
		maps.Copy(last.Metadata, *in.Metadata)
	}
	if m.name != "" {
		last.Metadata[requestName] = m.name
	}
	if d := m.command.Default; d > 0 && d <= len(methods) {
		last.DefaultMethod = &methods[d-1].ID
	}
	var whole v1.Customer
	resp, ok := m.post(ctx, last, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.UpdateCustomerWithBody(ctx, customer, nil, contentType, body, m.authorized)
	})
	if r, read := resp.readCreated(ok, &whole, func() bool { return whole.ID == customer }); !read {
		return nil, r
	}
	return &whole, Result{}
}

// stop ends the making at a step that failed. If v1 refused the step, and this request alone has
// the customer, stop reads the incomplete customer and deletes it. It does not delete one that
// another request has changed meanwhile. If v1 was unavailable, or the response was lost, stop
// leaves the customer to a retry. It reports true if the customer no longer exists and another may
// be made.
func (m maker) stop(ctx context.Context, made *seenCustomer, r Result, ours bool) (Result, bool) {
	switch {
	case r.Code == CodeKeyReused:
		return m.contested(ctx, made)
	case r.Outcome == NotFound:
		return Result{}, true
	case r.Outcome == Refused && ours:
		if _, there := m.completed(ctx, made.ID); there != nil && !complete(&there.Customer) {
			m.deleteCustomer(ctx, &there.Customer)
		}
	}
	return r, false
}

// contested waits for the request that has the customer to itself. If that request was abandoned,
// contested deletes the incomplete customer and returns true: another may be made.
func (m maker) contested(ctx context.Context, made *seenCustomer) (Result, bool) {
	last := made
	for i := range followReads {
		if !wait(ctx, m.x.cfg.FollowPause<<i) {
			break
		}
		r, there := m.completed(ctx, made.ID)
		if r.Outcome != Unavailable {
			return r, r.Outcome == NotFound
		}
		if there != nil {
			last = there
		}
	}
	if !last.abandoned() {
		return Result{Outcome: Unavailable, Code: CodeOperationInProgress}, false
	}
	if m.deleteCustomer(ctx, &last.Customer) {
		return Result{}, true
	}
	r, _ := m.completed(ctx, made.ID)
	return r, r.Outcome == NotFound
}

// completed reads a customer that another request makes. It returns Repeated if the customer is
// complete, and NotFound if it does not exist. Else it returns Unavailable with the customer, if it
// could be read.
func (m maker) completed(ctx context.Context, customer string) (Result, *seenCustomer) {
	there, r := m.customer(ctx, customer)
	switch {
	case r.Outcome == NotFound:
		return r, nil
	case there != nil && complete(&there.Customer):
		return Result{Outcome: Repeated, Status: http.StatusOK, Customer: &there.Customer}, there
	}
	return Result{Outcome: Unavailable, Code: CodeOperationInProgress}, there
}

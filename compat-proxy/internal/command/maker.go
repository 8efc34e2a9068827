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

	command CreateCustomer
	key     string // of all that make a customer told apart by the same fields
	own     string // of those who make the very same
}

// make does what is left to do. It reports true when the key stands for a customer that is no more.
func (m maker) make(ctx context.Context) (Result, bool) {
	tokens, failed := m.tokens(ctx)
	if failed != nil {
		return *failed, false
	}
	made, r := m.open(ctx)
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
			r.Place = i + 1
			return m.stop(ctx, made, r, ours)
		}
		methods, ours = append(methods, *method), true
	}
	whole, r := m.finish(ctx, made.ID, methods)
	if whole == nil {
		return m.stop(ctx, made, r, ours)
	}
	return Result{Outcome: Done, Status: http.StatusCreated, Customer: whole, Methods: methods}, false
}

// tokens makes those of all payment methods, before there is a customer: what v1 refuses of a card or an account, it refuses here.
func (m maker) tokens(ctx context.Context) ([]string, *Result) {
	made := make([]string, 0, len(m.command.Methods))
	for i := range m.command.Methods {
		r := m.token(ctx, m.command.Methods[i].Token, m.own+"-token-"+strconv.Itoa(i))
		if r.Token == nil {
			r.Place = i + 1
			return nil, &r
		}
		made = append(made, r.Token.Value.Reveal())
	}
	return made, nil
}

// open makes the customer, or finds the one that an earlier request of the same made.
func (m maker) open(ctx context.Context) (*seenCustomer, Result) {
	params := &v1.CreateCustomerParams{IdempotencyKey: &m.key}
	var made v1.Customer
	a, ok := m.post(ctx, opening(m.command.Body), "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.CreateCustomerWithBody(ctx, params, contentType, body, m.authorized)
	})
	fits := func() bool { return is(id.Customer, made.ID) && alike(&made, m.command.Body) }
	if r, read := a.made(ok, &made, fits); !read {
		return nil, r
	}
	return &seenCustomer{made, a.date}, Result{replayed: a.replayed}
}

// The refusals that tell of a token of an earlier request.
var staleToken = map[string]bool{"token_expired": true, "token_used": true}

// join looks at a customer that another request opened. It reports ended when there is nothing left to do for this one, and again when the
// customer is no more.
func (m maker) join(ctx context.Context, made *seenCustomer) (r Result, ended, again bool) {
	there, r := m.customer(ctx, made.ID)
	switch {
	case r.Outcome == NotFound, there != nil && !alike(&there.Customer, m.command.Body):
		return Result{}, true, true
	case there == nil:
		return r, true, false
	case complete(&there.Customer):
		return Result{Outcome: Repeated, Status: r.Status, Customer: &there.Customer}, true, false
	case len(m.command.Methods) > 0:
		return Result{}, false, false // the first attachment will tell whose it is
	}
	first, failed := m.look(ctx, m.first())
	switch {
	case failed != nil:
		return *failed, true, false
	case first.found:
		r, again = m.contested(ctx, made)
		return r, true, again
	}
	return Result{}, false, false
}

// first is the key of the first attachment.
func (m maker) first() string { return m.key + "-method-0" }

// attach gives the customer its ith payment method. It uses a new token if the one of an earlier
// request can no longer be used. V1 stored that refusal under the key, so the new token has the
// next.
func (m maker) attach(ctx context.Context, customer string, i int, token string) (*v1.PaymentMethod, Result) {
	method, r := m.attachToken(ctx, customer, i, 0, token)
	if !staleToken[r.Code] {
		return method, r
	}
	r = m.token(ctx, m.command.Methods[i].Token, m.own+"-token-"+strconv.Itoa(i)+"-"+m.idempotencyKey)
	if r.Token == nil {
		return nil, r
	}
	return m.attachToken(ctx, customer, i, 1, r.Token.Value.Reveal())
}

// attachToken attaches the ith payment method under the nth of its keys, which uses the token up.
// The keys of the first payment method are the same for all requests: the one that attaches it has
// the customer to itself.
func (m maker) attachToken(ctx context.Context, customer string, i, nth int, token string) (*v1.PaymentMethod, Result) {
	wanted, key := m.command.Methods[i], m.own+"-method-"+strconv.Itoa(i)
	if i == 0 {
		key = m.first()
	}
	key = numbered(key, nth)
	params := &v1.AttachPaymentMethodParams{IdempotencyKey: &key}
	in := v1.PaymentMethodCreate{Token: token, Billing: wanted.Billing, Metadata: metadata(wanted.Metadata)}
	var made v1.PaymentMethod
	a, ok := m.post(ctx, in, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.AttachPaymentMethodWithBody(ctx, customer, params, contentType, body, m.authorized)
	})
	if r, read := a.made(ok, &made, func() bool { return is(id.PaymentMethod, made.ID) && made.Customer == customer }); !read {
		return nil, r
	}
	return &made, Result{}
}

// rest is the last call's body. Its metadata replaces the mark, so it is there even when it is empty.
type rest struct {
	DefaultMethod *string           `json:"default_payment_method,omitzero"`
	FirstName     *string           `json:"first_name,omitzero"`
	LastName      *string           `json:"last_name,omitzero"`
	Company       *string           `json:"company,omitzero"`
	Phone         *string           `json:"phone,omitzero"`
	Billing       *v1.Contact       `json:"billing,omitzero"`
	Shipping      *v1.Contact       `json:"shipping,omitzero"`
	Metadata      map[string]string `json:"metadata"`
}

// finish gives the customer the rest and takes the mark away.
func (m maker) finish(ctx context.Context, customer string, methods []v1.PaymentMethod) (*v1.Customer, Result) {
	in := m.command.Body
	last := rest{
		FirstName: in.FirstName, LastName: in.LastName, Company: in.Company, Phone: in.Phone, Billing: in.Billing, Shipping: in.Shipping,
		Metadata: map[string]string{},
	}
	if in.Metadata != nil {
		maps.Copy(last.Metadata, *in.Metadata)
	}
	if d := m.command.Default; d > 0 && d <= len(methods) {
		last.DefaultMethod = &methods[d-1].ID
	}
	var whole v1.Customer
	a, ok := m.post(ctx, last, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.UpdateCustomerWithBody(ctx, customer, nil, contentType, body, m.authorized)
	})
	if r, read := a.made(ok, &whole, func() bool { return whole.ID == customer }); !read {
		return nil, r
	}
	return &whole, Result{}
}

// stop ends the making at a step that failed. If v1 refused the step, it reads the incomplete
// customer that this request alone has, whose attachments have changed it, and deletes it. Another
// request's completion or attachment since then keeps it. A step that v1 could not take, or whose
// response was lost, is left to a retry. It reports true if the customer is gone and another may be
// made.
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

// contested waits for the other request that has the customer to itself. If that request was
// abandoned, it deletes the incomplete customer and reports true: another may be made.
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

// completed reads a customer that another request makes: Repeated if it is complete, NotFound if it
// is gone, else Unavailable with the customer, if it could be read.
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

package command

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// A customer is made in several calls: it is opened with what tells it apart, its payment methods are attached, and the last call gives it
// the rest. Until then it carries a mark. All calls but the last carry Idempotency-Keys that follow from what tells the customer apart, so
// whoever asks for the same one again, at any proxy, goes on where the one before stopped.
const (
	setupName       = "setup"
	setupIncomplete = "incomplete"
)

// abandoned is after how long nobody can still be at work on a customer that is incomplete. It is well above TotalTimeout, so that the
// clocks of proxies and of v1 need not agree to the second.
const abandoned = 3 * time.Minute

// maxOpenings bounds how many customers with the same fields may have been deleted within the day that v1 remembers keys.
const maxOpenings = 100

// complete reports whether the making of c has ended.
func complete(c *v1.Customer) bool { return c.Metadata[setupName] != setupIncomplete }

// v1 lists customers by reference and e-mail address. One that only a description tells apart has that for its reference too, and says in
// its metadata where the reference is from.
const (
	referenceFrom        = "reference_from"
	referenceDescription = "description"
	maxReference         = 255 // v1's limit
)

// findable is in with something that v1 can list it by, if there is.
func findable(in v1.CustomerInput) v1.CustomerInput {
	if in.Reference != nil || in.Email != nil || utf8.RuneCountInString(text(in.Description)) > maxReference {
		return in
	}
	marked := v1.Metadata{referenceFrom: referenceDescription}
	if in.Metadata != nil {
		maps.Copy(marked, *in.Metadata)
	}
	in.Reference, in.Metadata = in.Description, &marked
	return in
}

// opening is the part of a customer that tells it apart from others.
func opening(in v1.CustomerInput) v1.CustomerInput {
	marks := v1.Metadata{setupName: setupIncomplete}
	if from := origin(in.Metadata); from != "" {
		marks[referenceFrom] = from
	}
	return v1.CustomerInput{Reference: in.Reference, Description: in.Description, Email: in.Email, Metadata: &marks}
}

// origin is where a reference is from, "" when it is the customer's own.
func origin(m *v1.Metadata) string {
	if m == nil {
		return ""
	}
	return (*m)[referenceFrom]
}

// alike reports whether c is told apart by the same fields as in.
func alike(c *v1.Customer, in v1.CustomerInput) bool {
	return text(c.Reference) == text(in.Reference) && text(c.Description) == text(in.Description) && text(c.Email) == text(in.Email) &&
		origin(&c.Metadata) == origin(in.Metadata)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// createCustomer makes the customer whole, or finds the one that there is.
func (s session) createCustomer(ctx context.Context, c CreateCustomer) Result {
	identity := s.identify([]string{string(c.Kind()), text(c.Body.Reference), text(c.Body.Description), text(c.Body.Email)})
	c.Body = findable(c.Body)
	same, failed := s.customersLike(ctx, c.Body)
	if failed != nil {
		return *failed
	}
	for i := range same {
		if complete(&same[i]) {
			return Result{Outcome: Repeated, Status: http.StatusOK, Customer: &same[i]}
		}
	}
	for n := range maxOpenings {
		m := maker{session: s, command: c, key: "customer-" + identity + "-" + strconv.Itoa(n)}
		r, again := m.make(ctx)
		if again {
			continue
		}
		s.sweep(ctx, same, r)
		return r
	}
	return Result{Outcome: Unavailable, Code: CodeOperationInProgress}
}

// sweep deletes what was left of the same customer longer ago than v1 remembers keys, now that there is a whole one.
func (s session) sweep(ctx context.Context, same []v1.Customer, r Result) {
	if r.Outcome != Done {
		return
	}
	for i := range same {
		if same[i].ID != r.Customer.ID && s.isAbandoned(&same[i]) {
			s.deleteCustomer(ctx, same[i].ID)
		}
	}
}

func (s session) isAbandoned(c *v1.Customer) bool {
	return s.x.cfg.Clock.Now().Sub(c.CreatedAt.Time) > abandoned
}

// maker makes one customer under one key.
type maker struct {
	session

	command CreateCustomer
	key     string
}

// make does what is left to do. It reports true when the key stands for a customer that is no more.
func (m maker) make(ctx context.Context) (Result, bool) {
	made, r := m.open(ctx)
	if made == nil {
		return r, false
	}
	if r.replayed {
		there, r := m.customer(ctx, made.ID)
		switch {
		case r.Outcome == NotFound, there != nil && !alike(there, m.command.Body):
			return Result{}, true
		case there == nil:
			return r, false
		case complete(there):
			return Result{Outcome: Repeated, Status: r.Status, Customer: there}, false
		}
	}
	methods := make([]v1.PaymentMethod, 0, len(m.command.Methods))
	for i := range m.command.Methods {
		method, r := m.attach(ctx, made.ID, i)
		if method == nil {
			r.Place = i + 1
			return m.stop(ctx, made, r)
		}
		methods = append(methods, *method)
	}
	whole, r := m.finish(ctx, made.ID, methods)
	if whole == nil {
		return m.stop(ctx, made, r)
	}
	return Result{Outcome: Done, Status: http.StatusCreated, Customer: whole, Methods: methods}, false
}

// open makes the customer, or finds the one that an earlier request of the same made.
func (m maker) open(ctx context.Context) (*v1.Customer, Result) {
	params := &v1.CreateCustomerParams{IdempotencyKey: &m.key}
	var made v1.Customer
	a, ok := m.post(ctx, opening(m.command.Body), "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.CreateCustomerWithBody(ctx, params, contentType, body, m.authorized)
	})
	if r, read := a.made(ok, &made); !read {
		return nil, r
	}
	return &made, Result{replayed: a.replayed}
}

// attach gives the customer its payment method of that place.
func (m maker) attach(ctx context.Context, customer string, i int) (*v1.PaymentMethod, Result) {
	wanted := m.command.Methods[i]
	place := strconv.Itoa(i)
	r := m.token(ctx, wanted.Token, m.key+"-token-"+place)
	if r.Token == nil {
		return nil, r
	}
	key := m.key + "-method-" + place
	params := &v1.AttachPaymentMethodParams{IdempotencyKey: &key}
	in := v1.PaymentMethodCreate{Token: r.Token.ID, Billing: wanted.Billing, Metadata: metadata(wanted.Metadata)}
	var made v1.PaymentMethod
	a, ok := m.post(ctx, in, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.AttachPaymentMethodWithBody(ctx, customer, params, contentType, body, m.authorized)
	})
	if r, read := a.made(ok, &made); !read {
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
		return m.x.client.UpdateCustomerWithBody(ctx, customer, contentType, body, m.authorized)
	})
	if r, read := a.made(ok, &whole); !read {
		return nil, r
	}
	return &whole, Result{}
}

// The refusals that tell of a token of an earlier request.
var staleToken = map[string]bool{"token_expired": true, "token_used": true}

// stop ends the making at a step that was not done. What v1 refused takes the customer with it; what v1 could not take, or whose answer was
// lost, is left for a repetition to go on with. It reports true when the customer is no more and another may be made.
func (m maker) stop(ctx context.Context, made *v1.Customer, r Result) (Result, bool) {
	switch {
	case r.Code == CodeKeyReused:
		return m.contested(ctx, made)
	case r.Outcome == NotFound:
		return Result{}, true
	case staleToken[r.Code]:
		return r, m.deleteCustomer(ctx, made.ID)
	case r.Outcome == Refused:
		m.deleteCustomer(ctx, made.ID)
	}
	return r, false
}

// contested ends the making of a customer that another request, with other payment methods, has begun: it is waited for.
func (m maker) contested(ctx context.Context, made *v1.Customer) (Result, bool) {
	for i := range followReads {
		if !wait(ctx, m.x.cfg.FollowPause<<i) {
			break
		}
		there, r := m.customer(ctx, made.ID)
		if r.Outcome == NotFound {
			return Result{}, true
		}
		if there != nil && complete(there) {
			return Result{Outcome: Repeated, Status: http.StatusOK, Customer: there}, false
		}
	}
	if m.isAbandoned(made) && m.deleteCustomer(ctx, made.ID) {
		return Result{}, true
	}
	return Result{Outcome: Unavailable, Code: CodeOperationInProgress}, false
}

// customer reads one customer; nil with a result when it can not.
func (s session) customer(ctx context.Context, customer string) (*v1.Customer, Result) {
	a := s.x.call(ctx, "", func(ctx context.Context) (*http.Response, error) {
		return s.x.client.GetCustomer(ctx, customer, s.authorized)
	})
	var c v1.Customer
	if r, ok := a.read(&c); !ok {
		return nil, r
	}
	return &c, Result{}
}

// deleteCustomer reports whether the customer is no more.
func (s session) deleteCustomer(ctx context.Context, customer string) bool {
	a := s.x.call(ctx, "", func(ctx context.Context) (*http.Response, error) {
		return s.x.client.DeleteCustomer(ctx, customer, s.authorized)
	})
	return a.status/100 == 2 || a.status == http.StatusNotFound
}

// pageSize is how many customers one page of a list has at most.
const pageSize = 100

// customersLike lists the customers that are told apart by the same fields. v1 finds customers by two of them; of those that have neither
// it can tell none.
func (s session) customersLike(ctx context.Context, in v1.CustomerInput) ([]v1.Customer, *Result) {
	limit := pageSize
	params := &v1.ListCustomersParams{Limit: &limit, Reference: in.Reference, Email: in.Email}
	if params.Reference == nil && params.Email == nil {
		return nil, nil
	}
	var same []v1.Customer
	for {
		a := s.x.call(ctx, "", func(ctx context.Context) (*http.Response, error) {
			return s.x.client.ListCustomers(ctx, params, s.authorized)
		})
		var page v1.CustomerList
		if r, ok := a.read(&page); !ok {
			return nil, &r
		}
		for i := range page.Data {
			if alike(&page.Data[i], in) {
				same = append(same, page.Data[i])
			}
		}
		if !page.HasMore || len(page.Data) == 0 {
			return same, nil
		}
		params.StartingAfter = &page.Data[len(page.Data)-1].ID
	}
}

// token makes a token under the key.
func (s session) token(ctx context.Context, c CreateToken, key string) Result {
	params := &v1.CreateTokenParams{IdempotencyKey: &key}
	a, ok := s.post(ctx, c.Body, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return s.x.client.CreateTokenWithBody(ctx, params, contentType, body, s.authorized)
	})
	var made v1.Token
	if r, read := a.made(ok, &made); !read {
		return r
	}
	return Result{Outcome: Done, Status: a.status, Token: &made}
}

// made reads what a call made into v. It reports false, with the result to give, when there is nothing.
func (a answer) made(encoded bool, v any) (Result, bool) {
	switch {
	case !encoded:
		return unencodable(), false
	case a.status/100 != 2:
		return a.result(), false
	case a.decode(v) != nil:
		return Result{Outcome: Uncertain, Status: a.status}, false
	}
	return Result{}, true
}

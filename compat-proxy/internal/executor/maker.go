package executor

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maker makes one customer under one key.
type maker struct {
	session

	command    command.CreateCustomer
	keys       string // begins the keys of all customers with these identifying fields
	key        string // shared by all requests for this customer
	content    string // the name of the content
	contentKey string // shared by requests with the same content
	name       string // the key of the Named command; "" for any other
}

// maker returns the maker of a customer, without a key.
func (s session) maker(ctx context.Context, c command.CreateCustomer, name string) (maker, *command.Result) {
	// The masked fields count too: v1 compares them with the earlier body under the key.
	identity := [][]string{{string(c.Kind())}, command.Identifying(c.Body), c.Unmasked}
	first := func(n deduplication.Names) string { return "customer-" + n.Derive(identity...) + "-" }
	names, failed := s.ChooseNames(ctx, func(n deduplication.Names) string { return first(n) + "0" })
	if failed != nil {
		return maker{}, failed
	}
	c.Body = findable(c.Body)
	c.Body = identified(c, names)
	all, err := v1.MarshalRevealed(c.WithoutCodes())
	if err != nil {
		return maker{}, new(command.Unencodable())
	}
	return maker{session: s, command: c, keys: first(names), content: names.Derive([]string{string(all)}), name: name}, nil
}

// under returns the maker with the nth of the keys.
func (m maker) under(n int) maker {
	m.key = m.keys + strconv.Itoa(n)
	m.contentKey = m.key + "-" + m.content
	return m
}

// create does the steps that are left. It reports true if the key belongs to a customer that no
// longer exists.
func (m maker) create(ctx context.Context) (command.Result, bool) {
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
	ours := !r.Origin.Replayed
	if !ours {
		if r, ended, again := m.checkExisting(ctx, made); ended {
			return r, again
		}
	}
	if r, ended, again := m.claimBare(ctx, made); ended {
		return r, again
	}
	ours = ours || len(tokens) == 0 // claimBare has claimed the customer
	methods := make([]v1.PaymentMethod, 0, len(tokens))
	for i, token := range tokens {
		method, r := m.attach(ctx, made.ID, i, token.Value.Reveal())
		if method == nil {
			r.Position = i + 1
			return m.stop(ctx, made, r, ours)
		}
		methods, ours = append(methods, *method), true
	}
	for i := range m.command.Addresses {
		address, r := m.createAddress(ctx, made.ID, &m.command.Addresses[i], m.addressKey(i))
		if address == nil {
			return m.stop(ctx, made, r, ours)
		}
		ours = true
	}
	whole, r := m.finish(ctx, made.ID, methods)
	if whole == nil {
		return m.stop(ctx, made, r, ours)
	}
	return command.Result{Outcome: command.Done, Status: http.StatusCreated, Customer: whole, Methods: methods}, false
}

// finishKey returns the key of the last step under a name. V1 keeps the step with the customer's
// id. So a retry finds the customer that an earlier request under the name completed, even if the
// customer has changed since, or no longer exists.
func finishKey(name string) string { return name + "-finish" }

// completedUnder returns the id of the customer that an earlier request under the name completed;
// "" for none.
func (s session) completedUnder(ctx context.Context, name string) (string, *command.Result) {
	if name == "" {
		return "", nil
	}
	u, failed := s.AwaitKey(ctx, finishKey(name))
	if failed == nil && u.Running {
		failed = new(command.KeyInUse())
	}
	return u.Resource, failed
}

// completedBefore returns the first result of the request that completed the customer under the
// name.
func (m maker) completedBefore(ctx context.Context, customer string) command.Result {
	if failed := m.bindName(ctx); failed != nil {
		return *failed
	}
	for n := range maxCustomerKeys {
		m = m.under(n)
		u, failed := m.ReadKey(ctx, m.key)
		switch {
		case failed != nil:
			return *failed
		case u.Resource != customer:
			continue
		}
		methods, failed := m.attachedBefore(ctx, customer)
		if failed != nil {
			return *failed
		}
		addresses, failed := m.addedBefore(ctx)
		if failed != nil {
			return *failed
		}
		made := &v1.Customer{ID: customer, ShippingAddresses: addresses}
		return command.Result{Outcome: command.Done, Status: http.StatusCreated, Customer: made, Methods: methods}
	}
	return command.KeyInUse() // the other keys have expired, and the last one soon will
}

// attachedBefore returns the payment methods that were attached under the maker's keys, with their
// ids only.
func (m maker) attachedBefore(ctx context.Context, customer string) ([]v1.PaymentMethod, *command.Result) {
	methods := make([]v1.PaymentMethod, 0, len(m.command.Methods))
	for i := range m.command.Methods {
		var u deduplication.Use
		for nth := 0; nth < attachKeys && !u.Effect; nth++ {
			var failed *command.Result
			if u, failed = m.ReadKey(ctx, m.attachKey(i, nth)); failed != nil {
				return nil, failed
			}
		}
		methods = append(methods, v1.PaymentMethod{ID: u.Resource, Customer: customer})
	}
	return methods, nil
}

// bindName reserves the name for this content. It returns the result of a command whose name
// belongs to other content, or nil.
func (m maker) bindName(ctx context.Context) *command.Result {
	if m.name == "" {
		return nil
	}
	held, failed := m.Reserve(ctx, m.name, m.content)
	if failed == nil && !held {
		failed = command.KeyReused()
	}
	return failed
}

// tokens makes the tokens of all payment methods before the customer exists. V1 refuses an invalid
// card or account here.
func (m maker) tokens(ctx context.Context) ([]*v1.Token, *command.Result) {
	made := make([]*v1.Token, 0, len(m.command.Methods))
	for i := range m.command.Methods {
		r := m.token(ctx, m.command.Methods[i].Token, m.contentKey+"-token-"+strconv.Itoa(i))
		if r.Token == nil {
			r.Position = i + 1
			return nil, &r
		}
		made = append(made, r.Token)
	}
	return made, nil
}

// createIncomplete makes the customer, or finds the one that an equal request made earlier.
func (m maker) createIncomplete(ctx context.Context) (*seenCustomer, command.Result) {
	params := &v1.CreateCustomerParams{IdempotencyKey: &m.key}
	var made v1.Customer
	resp, ok := m.post(ctx, identifyingPart(m.command.Body), "",
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return m.x.client.API.CreateCustomerWithBody(ctx, params, v1client.ContentType, body, m.WithKey)
		})
	matches := func() bool { return isID(id.Customer, made.ID) && sameIdentity(&made, m.command.Body) }
	if r, read := resp.readCreated(ok, &made, matches); !read {
		return nil, r
	}
	return &seenCustomer{made, resp.Date}, command.Result{Origin: command.Origin{Replayed: resp.Replayed}}
}

// The codes of refusals of an old token.
var staleToken = map[string]bool{v1.CodeTokenExpired: true, v1.CodeTokenUsed: true}

// checkExisting reads a customer that another request created. It reports ended if nothing is left
// to do, and again if the customer no longer exists.
func (m maker) checkExisting(ctx context.Context, made *seenCustomer) (r command.Result, ended, again bool) {
	there, r := m.customer(ctx, made.ID)
	switch {
	case r.Outcome == command.NotFound, there != nil && !sameIdentity(&there.Customer, m.command.Body):
		return command.Result{}, true, true
	case there == nil:
		return r, true, false
	case complete(&there.Customer):
		return command.Result{Outcome: command.Repeated, Status: r.Status, Customer: &there.Customer}, true, false
	}
	return command.Result{}, false, false
}

// claimBare reserves the key of the first attachment for a request without payment methods. As with
// an attachment, the request then has the customer to itself: no other one attaches a payment
// method or adds an address. It reports ended and again as checkExisting does.
func (m maker) claimBare(ctx context.Context, made *seenCustomer) (r command.Result, ended, again bool) {
	if len(m.command.Methods) > 0 {
		return command.Result{}, false, false
	}
	held, failed := m.Reserve(ctx, m.firstMethodKey(), m.content)
	switch {
	case failed != nil && failed.Code != v1.CodeKeyInUse:
		return *failed, true, false
	case !held:
		r, again = m.contested(ctx, made)
		return r, true, again
	}
	return command.Result{}, false, false
}

// firstMethodKey returns the key of the first attachment.
func (m maker) firstMethodKey() string { return m.key + "-method-0" }

// attach gives the customer its ith payment method. It makes a new token if the token of an earlier
// request is no longer valid. V1 stored that refusal under the key, so the new token uses the next
// key.
func (m maker) attach(ctx context.Context, customer string, i int, token string) (*v1.PaymentMethod, command.Result) {
	method, r := m.attachToken(ctx, customer, i, 0, token)
	if !staleToken[r.Code] {
		return method, r
	}
	r = m.token(ctx, m.command.Methods[i].Token, m.contentKey+"-token-"+strconv.Itoa(i)+"-"+m.IdempotencyKey)
	if r.Token == nil {
		return nil, r
	}
	return m.attachToken(ctx, customer, i, 1, r.Token.Value.Reveal())
}

// attachKeys is how many keys an attachment has: a second one for a new token.
const attachKeys = 2

// attachKey returns the nth key of the ith attachment. The keys of the first payment method are the
// same for all requests. The request that attaches it has the customer to itself.
func (m maker) attachKey(i, nth int) string {
	key := m.contentKey + "-method-" + strconv.Itoa(i)
	if i == 0 {
		key = m.firstMethodKey()
	}
	return numbered(key, nth)
}

// attachToken attaches the ith payment method under the nth of its keys, and uses the token.
func (m maker) attachToken(
	ctx context.Context, customer string, i, nth int, token string,
) (*v1.PaymentMethod, command.Result) {
	wanted, key := m.command.Methods[i], m.attachKey(i, nth)
	params := &v1.AttachPaymentMethodParams{IdempotencyKey: &key}
	in := v1.PaymentMethodCreate{Token: token, Billing: wanted.Billing, Metadata: v1.OptionalMetadata(wanted.Metadata)}
	var made v1.PaymentMethod
	resp, ok := m.post(ctx, in, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.API.AttachPaymentMethodWithBody(ctx, customer, params, v1client.ContentType, body, m.WithKey)
	})
	matches := func() bool { return isID(id.PaymentMethod, made.ID) && made.Customer == customer }
	if r, read := resp.readCreated(ok, &made, matches); !read {
		return nil, r
	}
	return &made, command.Result{Origin: command.Origin{Replayed: resp.Replayed}}
}

// customerUpdate is the body of an update. It keeps an empty contact, which removes the stored one.
// An empty entry of the metadata removes the entry.
type customerUpdate struct {
	Reference     *string           `json:"reference,omitzero"`
	Description   *string           `json:"description,omitzero"`
	Email         *string           `json:"email,omitzero"`
	DefaultMethod *string           `json:"default_payment_method,omitzero"`
	FirstName     *string           `json:"first_name,omitzero"`
	LastName      *string           `json:"last_name,omitzero"`
	Company       *string           `json:"company,omitzero"`
	Phone         *string           `json:"phone,omitzero"`
	Billing       *v1.Contact       `json:"billing,omitzero"`
	Metadata      map[string]string `json:"metadata,omitzero"`
}

// updateOf returns the update that sets the fields of in.
func updateOf(in v1.CustomerInput) customerUpdate {
	u := customerUpdate{
		Reference: in.Reference, Description: in.Description, Email: in.Email, DefaultMethod: in.DefaultPaymentMethod,
		FirstName: in.FirstName, LastName: in.LastName, Company: in.Company, Phone: in.Phone, Billing: in.Billing,
	}
	if in.Metadata != nil {
		u.Metadata = *in.Metadata
	}
	return u
}

// finish adds the other fields to the customer and removes the mark. Under a name, it first
// reserves that step for the name, so of several names for one customer, only one has made it. A
// retry under that name can still finish. The others wait as for any request that has the customer
// to itself.
func (m maker) finish(ctx context.Context, customer string, methods []v1.PaymentMethod) (*v1.Customer, command.Result) {
	last := updateOf(m.command.Body)
	last.Reference, last.Description, last.Email = nil, nil, nil // it has them already
	marks := map[string]string{setupName: ""}
	maps.Copy(marks, last.Metadata)
	last.Metadata = marks
	if d := m.command.Default; d > 0 && d <= len(methods) {
		last.DefaultMethod = &methods[d-1].ID
	}
	var params v1.UpdateCustomerParams
	if m.name != "" {
		held, failed := m.Reserve(ctx, finishKey(m.key), m.name)
		switch {
		case failed != nil:
			return nil, *failed
		case !held:
			return nil, *command.KeyReused()
		}
		params.IdempotencyKey = new(finishKey(m.name))
	}
	var whole v1.Customer
	resp, ok := m.post(ctx, last, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return m.x.client.API.UpdateCustomerWithBody(ctx, customer, &params, v1client.ContentType, body, m.WithKey)
	})
	if r, read := resp.readCreated(ok, &whole, func() bool { return whole.ID == customer }); !read {
		return nil, r
	}
	return &whole, command.Result{}
}

// stop ends the making at a step that failed. If v1 refused the step, and this request alone has
// the customer, stop reads the incomplete customer and deletes it. It does not delete one that
// another request has changed meanwhile. If v1 was unavailable, or the response was lost, stop
// leaves the customer to a retry. It reports true if the customer no longer exists and another may
// be made.
func (m maker) stop(ctx context.Context, made *seenCustomer, r command.Result, ours bool) (command.Result, bool) {
	switch {
	case r.Code == v1.CodeKeyReused:
		return m.contested(ctx, made)
	case r.Outcome == command.NotFound:
		return command.Result{}, true
	case (r.Outcome == command.Refused || r.Unmet == command.ConditionMost) && ours:
		if _, there := m.completed(ctx, made.ID); there != nil && !complete(&there.Customer) {
			m.deleteCustomer(ctx, &there.Customer)
		}
	}
	return r, false
}

// contested waits for the request that has the customer to itself. If that request was abandoned,
// contested deletes the incomplete customer and returns true: another may be made.
func (m maker) contested(ctx context.Context, made *seenCustomer) (command.Result, bool) {
	last := made
	for i := range followReads {
		if !v1client.Wait(ctx, m.x.cfg.FollowPause<<i) {
			break
		}
		r, there := m.completed(ctx, made.ID)
		if r.Outcome != command.Unavailable {
			return r, r.Outcome == command.NotFound
		}
		if there != nil {
			last = there
		}
	}
	if !last.abandoned() {
		return command.Result{Outcome: command.Unavailable, Code: v1.CodeOperationInProgress}, false
	}
	if m.deleteCustomer(ctx, &last.Customer) {
		return command.Result{}, true
	}
	r, _ := m.completed(ctx, made.ID)
	return r, r.Outcome == command.NotFound
}

// completed reads a customer that another request makes. It returns Repeated if the customer is
// complete, and NotFound if it does not exist. Else it returns Unavailable with the customer, if it
// could be read.
func (m maker) completed(ctx context.Context, customer string) (command.Result, *seenCustomer) {
	there, r := m.customer(ctx, customer)
	switch {
	case r.Outcome == command.NotFound:
		return r, nil
	case there != nil && complete(&there.Customer):
		return command.Result{Outcome: command.Repeated, Status: http.StatusOK, Customer: &there.Customer}, there
	}
	return command.Result{Outcome: command.Unavailable, Code: v1.CodeOperationInProgress}, there
}

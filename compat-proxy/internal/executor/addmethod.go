package executor

import (
	"bytes"
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

// getMethod reads a customer and one of its payment methods.
func (s session) getMethod(ctx context.Context, c command.GetMethod) command.Result {
	customer, r := s.findCustomer(ctx, command.GetCustomer{Customer: c.Customer})
	if customer == nil {
		return r
	}
	name := v1.Text(customer.DefaultPaymentMethod)
	if c.Method != "" {
		var err error
		if name, err = id.Decimal(id.PaymentMethod, string(c.Method)); err != nil {
			return command.Result{Outcome: command.NotFound}
		}
	}
	if name == "" {
		return command.Result{Outcome: command.Unmet, Unmet: command.ConditionDefault}
	}
	method, r := s.method(ctx, customer.ID, name)
	if method == nil {
		return r
	}
	return command.Result{
		Outcome: command.Done, Status: http.StatusOK, Customer: customer, Methods: []v1.PaymentMethod{*method},
	}
}

// detachMethod removes a payment method from its customer.
func (s session) detachMethod(ctx context.Context, c command.DetachMethod) command.Result {
	customer, errCustomer := id.Decimal(id.Customer, string(c.Customer))
	method, errMethod := id.Decimal(id.PaymentMethod, string(c.Method))
	if errCustomer != nil || errMethod != nil {
		return command.Result{Outcome: command.NotFound}
	}
	return s.delete(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.DetachPaymentMethod(ctx, customer, method, s.WithKey)
	})
}

// addMethod gives a customer a payment method that it does not have yet. The keys of its calls are
// derived from the command. So of equal concurrent requests only one adds it, and a retry at any
// proxy continues at the step where the earlier request stopped. Under a name, v1's record of the
// attachment decides whether an earlier request made it.
func (s session) addMethod(ctx context.Context, c command.AddMethod) command.Result {
	customer, err := id.Decimal(id.Customer, string(c.Customer))
	if err != nil {
		return command.Result{Outcome: command.NotFound}
	}
	adder, failed := s.adder(ctx, c, customer)
	if failed != nil {
		return *failed
	}
	if s.named() {
		adder.maker = adder.under(s.IdempotencyKey)
		if r := adder.earlier(ctx); r != nil {
			return *r
		}
		adder.named = true
		r, _ := adder.add(ctx)
		return r
	}
	for n := range maxCustomerKeys {
		adder.maker = adder.under(adder.keys + strconv.Itoa(n))
		if r, again := adder.add(ctx); !again {
			return r
		}
	}
	return command.Result{Outcome: command.Unavailable, Code: v1.CodeOperationInProgress}
}

// adder adds one payment method to a customer.
type adder struct {
	maker

	wanted   command.AddMethod
	customer string
	named    bool // the key is that of a name, so an earlier request with it is the same one
}

// adder returns the adder of a payment method, without a key.
func (s session) adder(ctx context.Context, c command.AddMethod, customer string) (adder, *command.Result) {
	alone := command.CreateCustomer{Methods: []command.NewMethod{c.Method}}.WithoutCodes()
	content, err := v1.MarshalRevealed(alone)
	if err != nil {
		return adder{}, new(command.Unencodable())
	}
	keys := func(n deduplication.Names) string {
		return "add-" + n.Derive([]string{customer, string(content)}) + "-"
	}
	names, failed := s.ChooseNames(ctx, func(n deduplication.Names) string {
		return maker{key: keys(n) + "0"}.firstMethodKey()
	})
	if failed != nil {
		return adder{}, failed
	}
	m := maker{session: s.step(s.IdempotencyKey), command: alone, keys: keys(names)}
	return adder{maker: m, wanted: c, customer: customer}, nil
}

// under returns the maker with a key.
func (a adder) under(key string) maker {
	m := a.maker
	m.key, m.contentKey = key, key
	return m
}

// add attaches the payment method unless the customer has an equal one. It reports true if the key
// belongs to a payment method that the customer no longer has, or that has changed.
func (a adder) add(ctx context.Context) (command.Result, bool) {
	tokens, failed := a.tokens(ctx)
	if failed != nil {
		return *failed, false
	}
	if r := a.refuse(ctx, tokens[0]); r != nil {
		return a.refused(ctx, *r), false
	}
	if failed := a.announceDefault(ctx); failed != nil {
		return *failed, false
	}
	method, r := a.attach(ctx, a.customer, 0, tokens[0].Value.Reveal())
	switch {
	case a.named && method != nil, method != nil && !r.Origin.Replayed:
		return a.added(ctx, method), false
	case a.named, method == nil && r.Code != v1.CodeKeyReused:
		return r, false
	}
	if r := a.refuse(ctx, tokens[0]); r != nil {
		return a.withDefault(ctx, *r), false
	}
	return command.Result{}, true
}

// earlier returns the result of an earlier request with the key that attached the payment method,
// nil if there is none.
func (a adder) earlier(ctx context.Context) *command.Result {
	before, failed := a.attachedBefore(ctx, a.customer)
	switch {
	case failed != nil:
		return failed
	case before[0].ID == "":
		return nil
	}
	return new(a.added(ctx, &before[0]))
}

// refused returns the result of a request that the customer's payment methods refuse, with the
// refusal r. One of them may come from a concurrent request with the same name.
func (a adder) refused(ctx context.Context, r command.Result) command.Result {
	if !a.named {
		return a.withDefault(ctx, r)
	}
	if earlier := a.earlier(ctx); earlier != nil {
		return *earlier
	}
	return r
}

// defaultKey returns the key of the update that makes the payment method the default.
func (a adder) defaultKey() string { return a.key + "-default" }

// announceDefault reserves a key before the attachment if the command wants the payment method as
// the default. If the proxy then dies before the update, the reservation distinguishes a retry from
// a duplicate. A name already does that.
func (a adder) announceDefault(ctx context.Context) *command.Result {
	if !a.wanted.Default || a.named {
		return nil
	}
	_, failed := a.Reserve(ctx, a.defaultKey()+"-wanted", "default")
	return failed
}

// withDefault completes a request that died between the attachment of its payment method and the
// update of the default. The result r of its retry stays the duplicate. V1 replays an update that
// was complete, so a default that was chosen since stays.
func (a adder) withDefault(ctx context.Context, r command.Result) command.Result {
	if r.Outcome != command.Repeated || !a.wanted.Default {
		return r
	}
	for n := range maxCustomerKeys {
		a.maker = a.under(a.keys + strconv.Itoa(n))
		before, failed := a.attachedBefore(ctx, a.customer)
		switch {
		case failed != nil:
			return *failed
		case before[0].ID == "":
			return r
		case before[0].ID != r.Methods[0].ID: // since deleted
			continue
		}
		announced, failed := a.ReadKey(ctx, a.defaultKey()+"-wanted")
		switch {
		case failed != nil:
			return *failed
		case !announced.Found:
			return r
		}
		return a.setDefault(ctx, r)
	}
	return r
}

// setDefault makes the payment method of a result the default. It returns the result, or the result
// of the update if v1 refuses that.
func (a adder) setDefault(ctx context.Context, r command.Result) command.Result {
	in := v1.CustomerInput{DefaultPaymentMethod: &r.Methods[0].ID}
	if updated, failed := a.patchCustomer(ctx, a.customer, in, a.defaultKey()); updated == nil {
		return failed
	}
	return r
}

// refuse returns the result if the customer has an equal payment method, or as many as it may have.
func (a adder) refuse(ctx context.Context, token *v1.Token) *command.Result {
	methods, failed := a.methods(ctx, a.customer)
	if failed != nil {
		return failed
	}
	wanted := v1.PaymentMethod{Card: token.Card, BankAccount: token.BankAccount, Billing: a.wanted.Method.Billing}
	i := slices.IndexFunc(methods, func(m v1.PaymentMethod) bool { return equalMethods(&m, &wanted) })
	r := command.Result{Status: http.StatusOK, Customer: &v1.Customer{ID: a.customer}}
	switch {
	case i >= 0:
		r.Outcome, r.Methods = command.Repeated, methods[i:i+1]
	case len(methods) >= a.wanted.Most:
		r.Outcome, r.Unmet = command.Unmet, command.ConditionMost
	default:
		return nil
	}
	return &r
}

// added returns the result of an attachment, after it has made the payment method the default if
// the command wants that.
func (a adder) added(ctx context.Context, method *v1.PaymentMethod) command.Result {
	r := command.Result{
		Outcome: command.Done, Status: http.StatusCreated, Customer: &v1.Customer{ID: a.customer},
		Methods: []v1.PaymentMethod{*method},
	}
	if a.wanted.Default {
		return a.setDefault(ctx, r)
	}
	return r
}

// patchCustomer changes fields of a customer under a key. It returns nil and the result to give if
// it cannot.
func (s session) patchCustomer(
	ctx context.Context, customer string, in v1.CustomerInput, key string,
) (*v1.Customer, command.Result) {
	params := &v1.UpdateCustomerParams{IdempotencyKey: &key}
	var updated v1.Customer
	resp, ok := s.post(ctx, updateOf(in), "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return s.x.client.API.UpdateCustomerWithBody(ctx, customer, params, v1client.ContentType, body, s.WithKey)
	})
	if r, read := resp.readCreated(ok, &updated, func() bool { return updated.ID == customer }); !read {
		return nil, r
	}
	return &updated, command.Result{}
}

// equalMethods reports whether two payment methods of one customer are equal.
func equalMethods(a, b *v1.PaymentMethod) bool {
	return sourceOf(a) == sourceOf(b) && payerOf(a.Billing) == payerOf(b.Billing)
}

// source identifies a card or a bank account.
type source struct {
	fingerprint       string
	expMonth, expYear int
}

func sourceOf(m *v1.PaymentMethod) source {
	switch {
	case m.Card != nil:
		return source{m.Card.Fingerprint, m.Card.ExpMonth, m.Card.ExpYear}
	case m.BankAccount != nil:
		return source{fingerprint: m.BankAccount.Fingerprint}
	}
	return source{}
}

// payer holds the parts of a billing contact by which payment methods are equal.
type payer struct{ firstName, lastName, line1, line2, postalCode string }

func payerOf(c *v1.Contact) payer {
	if c == nil {
		return payer{}
	}
	p := payer{firstName: v1.Text(c.FirstName), lastName: v1.Text(c.LastName)}
	if a := c.Address; a != nil {
		p.line1, p.line2, p.postalCode = v1.Text(a.Line1), v1.Text(a.Line2), v1.Text(a.PostalCode)
	}
	return p
}

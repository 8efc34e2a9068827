package api

import (
	"cmp"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// prepareTransaction creates a transaction that waits to be confirmed.
func (a *API) prepareTransaction(c *call, in *v1.TransactionCreate) (engine.Result, error) {
	if f := earlyFault(in); f != nil {
		return engine.Result{}, f
	}
	named, err := a.namedPayer(c, in)
	if err != nil {
		return engine.Result{}, err
	}
	return a.Engine.Prepare(c.Context(), c.request, engine.Payment{
		Amount: in.Amount, Currency: in.Currency, AutoCapture: autoCapture(in), Partial: partial(in), PaymentMethod: in.PaymentMethod,
		Drawn:   named.drawn,
		Details: encode(details(in, shownSource{}, named.customer)), Terms: terms(named.customer, in.Reference),
	})
}

// earlyFault refuses fields that belong to the confirmation, because the transaction does not store
// them.
func earlyFault(in *v1.TransactionCreate) *fault {
	for _, object := range []struct {
		param string
		given bool
	}{
		{kindCard, in.Card != nil},
		{cardCVC, in.CardCvc != nil},
		{kindNetworkToken, in.NetworkToken != nil},
		{kindBankAccount, in.BankAccount != nil},
		{"three_d_secure", in.ThreeDSecure != nil},
	} {
		if object.given {
			return &fault{code: codeInvalidValue, param: object.param, message: "With confirm false, send this field with the confirmation."}
		}
	}
	return nil
}

// namedPayer finds the customer and the default that a create names for its confirmation.
func (a *API) namedPayer(c *call, in *v1.TransactionCreate) (payer, error) {
	switch in.PaymentMethod {
	case "", kindCard, kindNetworkToken, kindBankAccount:
		return payer{}.of(in.Customer)
	}
	if isToken(in.PaymentMethod) || isID(id.Token, in.PaymentMethod) {
		return payer{}, &fault{
			code: codeInvalidValue, param: "payment_method", message: "With confirm false, send a token with the confirmation.",
		}
	}
	p, err := a.payer(c.Context(), c.key.Tenant, givenSource{method: in.PaymentMethod, customer: in.Customer})
	if err != nil {
		return payer{}, err
	}
	if f := p.debitFault(autoCapture(in), in.Currency, nil); f != nil {
		return payer{}, f
	}
	return p, nil
}

func (a *API) confirmTransaction(c *call) (engine.Result, error) {
	if c.publishable() {
		c.show = func(out *engine.Result) error { out.Body = forPayer(out.Body); return nil }
	}
	n, err := pathID(c.Request, id.Transaction)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.TransactionConfirm
	if err := c.decode(&in, true); err != nil {
		return engine.Result{}, err
	}
	if f := a.confirmFault(c, n, &in); f != nil {
		return engine.Result{}, f
	}
	if in.PaymentMethod == "" && given(c.body, "payment_method") { // otherwise a client without the id would pay with the create's source
		return engine.Result{}, &fault{code: codeMissingField, param: "payment_method"}
	}
	if c.publishable() {
		return a.confirmBounded(c, n, &in)
	}
	t, err := a.Store.Transaction(c.Context(), c.key.Tenant, n)
	if err != nil {
		return engine.Result{}, err
	}
	return a.confirm(c, t, &in)
}

// confirmBounded carries out a confirmation by a publishable key. It refuses the confirmation if
// too many confirmations of the transaction were refused for their source. It also refuses it while
// concurrent ones could exceed the bound; the client can then retry. It refuses the confirmation,
// too, if too many confirmations by the key or from the client address were declined.
func (a *API) confirmBounded(c *call, n int64, in *v1.TransactionConfirm) (engine.Result, error) {
	declined := false
	end, f := a.holdDecline(c)
	if f != nil {
		return engine.Result{}, f
	}
	defer func() { end(a.Clock.Now(), declined) }()
	var others int
	others, c.end = a.confirmations.begin(n)
	t, err := a.Store.Transaction(c.Context(), c.key.Tenant, n)
	if err != nil {
		return engine.Result{}, err
	}
	switch left := payment.MaxRefusedConfirmations - t.RefusedConfirmations; {
	case left <= 0:
		return engine.Result{}, &fault{code: codeTooManyConfirmations}
	case int64(others) >= left:
		busy := payment.Busy()
		return engine.Result{}, &fault{code: busy.Code, message: busy.Message}
	}
	out, err := a.confirm(c, t, in)
	if engine.RefusedForSource(err) {
		c.counted = t
	}
	declined = out.Kind == engine.Refused && out.Refusal.Code == codeCardDeclined // a replay has another kind
	return out, err
}

// holdDecline counts a confirmation as declined until end is called with its outcome. Otherwise
// concurrent confirmations could exceed the limits. It refuses a confirmation by a client with too
// many declined ones. While only confirmations without an outcome exceed a limit, the client can
// retry.
func (a *API) holdDecline(c *call) (end func(now time.Time, declined bool), f *fault) {
	if a.DeclineLimit == nil {
		return func(time.Time, bool) {}, nil
	}
	v, end := a.DeclineLimit.Hold(limitedClient(c.Request, c.key), a.Clock.Now())
	switch {
	case v.Allowed:
		return end, nil
	case v.Held:
		return nil, &fault{code: payment.OperationInProgress, message: "Other confirmations are in progress. Retry after the seconds in Retry-After."}
	}
	return nil, &fault{code: codeTooManyDeclines, limit: &v}
}

func (a *API) confirm(c *call, t *payment.Transaction, in *v1.TransactionConfirm) (engine.Result, error) {
	if why := t.WhyNoConfirm(); why != nil && in.PaymentMethod == "" { // another confirmation has chosen the source
		return engine.Result{}, &fault{code: why.Code, message: why.Message}
	}
	var d transactionDetails
	decodeDetails(t.Details, &d)
	from, err := a.confirmingPayer(c, t, in, d.Customer)
	if err != nil {
		return engine.Result{}, err
	}
	out, err := a.Engine.Confirm(c.Context(), c.request, t, confirmed(in, d, from))
	return out, from.sourceFault(err)
}

// confirmFault checks the parts that do not depend on the transaction. The secret comes first, so
// that a client without it learns nothing, not even whether the transaction exists.
func (a *API) confirmFault(c *call, n int64, in *v1.TransactionConfirm) *fault {
	const param = "client_secret"
	if in.ClientSecret == nil && c.publishable() {
		return &fault{code: codeMissingField, param: param}
	}
	if in.ClientSecret != nil && !a.Engine.IsClientSecret(c.Context(), *in.ClientSecret, c.key.Tenant, n) {
		return &fault{code: codeInvalidClientSecret, param: param}
	}
	for _, f := range []*fault{
		priceFault(in), lengthFault(field{"payment_method", &in.PaymentMethod, 64}), threeDSecureFault(in.ThreeDSecure), contactFault("billing", in.Billing),
	} {
		if f != nil {
			return f
		}
	}
	return nil
}

// priceFault checks the amount and currency that the payer has seen.
func priceFault(in *v1.TransactionConfirm) *fault {
	switch {
	case in.Amount == nil && in.Currency == nil:
		return nil
	case in.Amount == nil:
		return &fault{code: codeMissingField, param: "amount"}
	case in.Currency == nil:
		return &fault{code: codeMissingField, param: "currency"}
	case *in.Amount < 0 || *in.Amount > money.Max:
		return &fault{code: codeInvalidAmount, param: "amount"}
	}
	if _, ok := money.Lookup(*in.Currency); !ok {
		return &fault{code: codeUnknownCurrency, param: "currency"}
	}
	return nil
}

// confirmingPayer finds the source by which a confirmation pays for a waiting transaction of a
// customer. A nil customer is none.
func (a *API) confirmingPayer(c *call, t *payment.Transaction, in *v1.TransactionConfirm, customer *string) (payer, error) {
	method := cmp.Or(in.PaymentMethod, t.PaymentMethod)
	if method == "" && customer == nil {
		return payer{}, &fault{code: codeMissingField, param: "payment_method"}
	}
	from, err := a.payer(c.Context(), t.Tenant, givenSource{method, in.Card, in.CardCvc, in.NetworkToken, in.BankAccount, customer})
	if err != nil {
		return payer{}, err
	}
	if c.publishable() && from.drawn.Method != 0 && customer == nil {
		return payer{}, payment.ErrOtherCustomer // a publishable key could charge the method of any customer
	}
	if f := from.debitFault(t.AutoCapture, t.Currency, in.ThreeDSecure); f != nil {
		if f.param != "three_d_secure" {
			f.param = "payment_method" // capture and currency were settled before
		}
		return payer{}, f
	}
	return from, nil
}

// confirmed returns the payment that a confirmation makes of a waiting transaction with these
// details.
func confirmed(in *v1.TransactionConfirm, d transactionDetails, from payer) engine.Payment {
	d.shownSource, d.ThreeDSecure, d.Customer = from.shown, shownThreeDSecure(in.ThreeDSecure), v1.Optional(from.customer)
	switch {
	case in.Billing != nil:
		d.Billing = in.Billing
	case d.Billing == nil:
		d.Billing = from.billing
	}
	p := engine.Payment{
		PaymentMethod: from.method, Source: from.Source, Drawn: from.drawn, Billing: billing(d.Billing),
		ThreeDSecure: threeDSecure(in.ThreeDSecure), Initiator: initiator(d.Initiator), Order: order(&d), Details: encode(&d),
		Terms: terms(from.customer, d.Reference),
	}
	if in.Amount != nil && in.Currency != nil {
		p.Amount, p.Currency = *in.Amount, *in.Currency
	}
	return p
}

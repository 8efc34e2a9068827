package api

import (
	"crypto/hmac"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// prepareTransaction creates a transaction that waits to be confirmed.
func (a *API) prepareTransaction(w http.ResponseWriter, r *http.Request, k *store.Key, in *v1.TransactionCreate, body []byte) error {
	if f := earlyFault(in); f != nil {
		return f
	}
	named, err := a.namedPayer(r, k, in)
	if err != nil {
		return err
	}
	req, err := a.request(r, k, body)
	if err != nil {
		return err
	}
	out, err := a.Engine.Prepare(r.Context(), req, engine.Payment{
		Amount: in.Amount, Currency: in.Currency, AutoCapture: autoCapture(in), Partial: partial(in), PaymentMethod: in.PaymentMethod,
		Drawn:   named.drawn,
		Details: encode(details(in, shownSource{}, named.customer)), Terms: terms(named.customer, in.Reference),
	})
	if err == nil && out.Status == http.StatusCreated {
		out.Body = a.withClientSecret(k.Tenant, out.Body)
	}
	return a.answer(w, r, out, err)
}

// earlyFault refuses what comes with the confirmation. Nothing keeps it until then.
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
			return &fault{code: codeInvalidValue, param: object.param, message: "With confirm false, this comes with the confirmation."}
		}
	}
	return nil
}

// namedPayer finds the customer and the default that a create names for its confirmation.
func (a *API) namedPayer(r *http.Request, k *store.Key, in *v1.TransactionCreate) (payer, error) {
	switch in.PaymentMethod {
	case "", kindCard, kindNetworkToken, kindBankAccount:
		return payer{}.of(in.Customer)
	}
	p, err := a.payer(r.Context(), k.Tenant, givenSource{method: in.PaymentMethod, customer: in.Customer})
	if err != nil {
		return payer{}, err
	}
	if f := p.debitFault(autoCapture(in), in.Currency, nil); f != nil {
		return payer{}, f
	}
	return p, nil
}

func (a *API) confirmTransaction(w http.ResponseWriter, r *http.Request, k *store.Key) error {
	n, err := pathID(r, id.Transaction)
	if err != nil {
		return err
	}
	var in v1.TransactionConfirm
	body, err := decode(w, r, &in, true)
	if err != nil {
		return err
	}
	if f := a.confirmFault(k, n, &in); f != nil {
		return f
	}
	if in.PaymentMethod == "" && given(body, "payment_method") { // a client that lost the id would pay with what the create named
		return &fault{code: codeMissingField, param: "payment_method"}
	}
	t, err := a.Store.Transaction(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	p, err := a.confirmation(r, k, t, &in)
	if err != nil {
		return err
	}
	req, err := a.request(r, k, body)
	if err != nil {
		return err
	}
	out, err := a.Engine.Confirm(r.Context(), req, t, p)
	if err == nil && k.Kind == string(apikey.Publishable) {
		out.Body = forPayer(out.Body)
	}
	return a.answer(w, r, out, err)
}

// confirmFault checks what needs no look at the transaction. The secret comes first, so that whoever lacks it learns nothing, not even
// whether there is such a transaction.
func (a *API) confirmFault(k *store.Key, n int64, in *v1.TransactionConfirm) *fault {
	const param = "client_secret"
	if in.ClientSecret == nil && k.Kind == string(apikey.Publishable) {
		return &fault{code: codeMissingField, param: param}
	}
	if in.ClientSecret != nil && !hmac.Equal([]byte(in.ClientSecret.Reveal()), []byte(a.clientSecret(k.Tenant, n).Reveal())) {
		return &fault{code: codeInvalidClientSecret, param: param}
	}
	for _, f := range []*fault{
		lengthFault(field{"payment_method", &in.PaymentMethod, 64}), threeDSecureFault(in.ThreeDSecure), contactFault("billing", in.Billing),
	} {
		if f != nil {
			return f
		}
	}
	return nil
}

// confirmation is the payment that a confirmation makes of a waiting transaction.
func (a *API) confirmation(r *http.Request, k *store.Key, t *payment.Transaction, in *v1.TransactionConfirm) (engine.Payment, error) {
	method := in.PaymentMethod
	if method == "" {
		method = t.PaymentMethod
	}
	var d transactionDetails
	decodeDetails(t.Details, &d)
	if method == "" && d.Customer == nil {
		return engine.Payment{}, &fault{code: codeMissingField, param: "payment_method"}
	}
	payer, err := a.payer(r.Context(), t.Tenant, givenSource{method, in.Card, in.CardCvc, in.NetworkToken, in.BankAccount, d.Customer})
	if err != nil {
		return engine.Payment{}, err
	}
	if k.Kind == string(apikey.Publishable) && payer.drawn.Method != 0 && d.Customer == nil {
		return engine.Payment{}, engine.ErrOtherCustomer // whoever holds the payer's key could name anybody's
	}
	if f := payer.debitFault(t.AutoCapture, t.Currency, in.ThreeDSecure); f != nil {
		if f.param != "three_d_secure" {
			f.param = "payment_method" // capture and currency were settled before
		}
		return engine.Payment{}, f
	}
	d.shownSource, d.ThreeDSecure, d.Customer = payer.shown, shownThreeDSecure(in.ThreeDSecure), text(payer.customer)
	switch {
	case in.Billing != nil:
		d.Billing = in.Billing
	case d.Billing == nil:
		d.Billing = payer.billing
	}
	return engine.Payment{
		PaymentMethod: payer.method, Source: payer.Source, Drawn: payer.drawn, Billing: billing(d.Billing), ThreeDSecure: threeDSecure(in.ThreeDSecure),
		Initiator: initiator(d.Initiator), Details: encode(&d), Terms: terms(payer.customer, d.Reference),
	}, nil
}

package api

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// linkFault refuses fields that do not fit a refund of a transaction, or a refund without one.
func linkFault(in *v1.RefundCreate) *fault {
	if in.Transaction == "" {
		return unlinkedFault(in)
	}
	for _, object := range []struct {
		param string
		given bool
	}{
		{"currency", in.Currency != nil},
		{"payment_method", in.PaymentMethod != nil},
		{kindCard, in.Card != nil},
		{kindBankAccount, in.BankAccount != nil},
	} {
		if object.given {
			return &fault{code: codeInvalidValue, param: object.param, message: "The refund of a transaction goes to its payment source. Omit this field."}
		}
	}
	return nil
}

func unlinkedFault(in *v1.RefundCreate) *fault {
	switch {
	case in.PaymentMethod != nil && *in.PaymentMethod == "":
		return &fault{code: codeMissingField, param: "payment_method"}
	case in.PaymentMethod == nil:
		return &fault{code: codeMissingField, param: "transaction", message: "Send the transaction, or a payment_method for an unlinked refund."}
	case in.Capture != nil:
		return &fault{code: codeInvalidValue, param: "capture", message: "A capture needs its transaction. Send transaction too."}
	case in.Amount == nil:
		return &fault{code: codeMissingField, param: "amount"}
	case in.Currency == nil || *in.Currency == "":
		return &fault{code: codeMissingField, param: "currency"}
	case *in.PaymentMethod == kindNetworkToken:
		return &fault{code: codeInvalidValue, param: "payment_method", message: "An unlinked refund must go to a card or bank account."}
	}
	if _, ok := money.Lookup(*in.Currency); !ok {
		return &fault{code: codeUnknownCurrency, param: "currency"}
	}
	return lengthFault(field{"payment_method", in.PaymentMethod, 64})
}

// createCredit makes an unlinked refund.
func (a *API) createCredit(c *call, in *v1.RefundCreate) (engine.Result, error) {
	payee, err := a.payer(c.Context(), c.key.Tenant, givenSource{method: *in.PaymentMethod, card: in.Card, bankAccount: in.BankAccount})
	if err != nil {
		return engine.Result{}, err
	}
	if f := payee.debitFault(true, *in.Currency, nil); f != nil {
		return engine.Result{}, f
	}
	return a.Engine.Credit(c.Context(), c.request, engine.Credit{
		Amount: *in.Amount, Currency: *in.Currency, PaymentMethod: payee.method, Source: payee.Source, Drawn: payee.drawn,
		Order: acquirer.Order{Reference: v1.Text(in.Reference)},
		Details: encode(&stepDetails{
			Reason: in.Reason, Reference: in.Reference, Metadata: in.Metadata, PaymentMethod: &payee.method, shownSource: payee.shown,
		}),
	})
}

package api

import (
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) updateTransaction(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.Transaction)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.TransactionUpdate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if f := updateFault(&in); f != nil {
		return engine.Result{}, f
	}
	return a.Engine.ChangeTransaction(c.Context(), c.request, n, engine.TransactionChange{
		Early: earlyField(&in), Reference: in.Reference,
		Apply: func(t *payment.Transaction) error { return applyUpdate(t, &in) },
	})
}

// updateFault checks the fields of an update that do not depend on the transaction.
func updateFault(in *v1.TransactionUpdate) *fault {
	if in.Amount != nil && (*in.Amount < 0 || *in.Amount > money.Max) {
		return &fault{code: codeInvalidAmount, param: "amount"}
	}
	for _, f := range []*fault{
		controlFault("statement_descriptor", in.StatementDescriptor),
		lengthFault(
			field{"reference", in.Reference, 255}, field{"description", in.Description, 1000},
			field{"statement_descriptor", in.StatementDescriptor, 22},
		),
		contactFault("billing", in.Billing), contactFault("shipping", in.Shipping), orderFault(in.Order),
		metadataFault(in.Metadata),
	} {
		if f != nil {
			return f
		}
	}
	return nil
}

// earlyField returns the first field of an update that can change only before the confirmation, ""
// for none.
func earlyField(in *v1.TransactionUpdate) string {
	for _, field := range []struct {
		param string
		given bool
	}{
		{"amount", in.Amount != nil},
		{"statement_descriptor", in.StatementDescriptor != nil},
		{"billing", in.Billing != nil},
		{"shipping", in.Shipping != nil},
		{"order", in.Order != nil},
	} {
		if field.given {
			return field.param
		}
	}
	return ""
}

// applyUpdate writes the given fields into a transaction. An empty text or object removes its
// field. It refuses the amount 0 if an approval is captured immediately.
func applyUpdate(t *payment.Transaction, in *v1.TransactionUpdate) error {
	if in.Amount != nil {
		if *in.Amount == 0 && t.AutoCapture {
			return &fault{code: codeInvalidAmount, param: "amount"}
		}
		t.Amount = *in.Amount
	}
	var d transactionDetails
	decodeDetails(t.Details, &d)
	for _, text := range []struct {
		was **string
		now *string
	}{
		{&d.Reference, in.Reference},
		{&d.Description, in.Description},
		{&d.StatementDescriptor, in.StatementDescriptor},
	} {
		if text.now != nil {
			*text.was = nonempty(text.now)
		}
	}
	if in.Billing != nil {
		d.Billing = contact(in.Billing)
	}
	if in.Shipping != nil {
		d.Shipping = contact(in.Shipping)
	}
	if in.Order != nil {
		d.Order = nonempty(in.Order)
	}
	var err error
	if d.Metadata, err = mergeMetadata(d.Metadata, in.Metadata); err != nil {
		return err
	}
	t.Details = encode(&d)
	return nil
}

// nonempty is nil for a pointer to the zero value.
func nonempty[T comparable](p *T) *T {
	var zero T
	if p == nil || *p == zero {
		return nil
	}
	return p
}

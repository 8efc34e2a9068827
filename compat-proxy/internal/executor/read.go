package executor

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// get reads the transaction with the number, or else the refund or capture with it and their
// transaction, if any. It adds their settlement day if the command wants it.
func (s session) get(ctx context.Context, c command.Get) command.Result {
	r := s.find(ctx, c)
	if !c.Day || r.Outcome != command.Done {
		return r
	}
	day, failed := s.dayOf(ctx, r)
	switch {
	case failed != nil:
		return *failed
	case day == "":
		return r
	}
	found := s.readDay(ctx, day)
	if found.Outcome != command.Done {
		return found
	}
	r.Days = found.Days
	return r
}

// dayOf returns the id of the settlement day of a refund, or else of a payment, "" if it has not
// settled. It returns a result if it cannot read the captures.
func (s session) dayOf(ctx context.Context, of command.Result) (string, *command.Result) {
	switch {
	case of.Refund != nil:
		return v1.Text(of.Refund.SettlementDay), nil
	case of.Transaction.Settlement != v1.SettlementSettled:
		return "", nil
	}
	list, failed := s.captures(ctx, of.Transaction)
	if list == nil {
		return "", &failed
	}
	last := ""
	for i := range list {
		last = max(last, v1.Text(list[i].SettlementDay)) // later days have greater ids
	}
	return last, nil
}

// find is get without the settlement day.
func (s session) find(ctx context.Context, c command.Get) command.Result {
	t, captured, r := s.payment(ctx, c.Target, c.Captures)
	if t == nil && r.Refund != nil && r.Refund.Transaction == "" {
		return command.Result{Outcome: command.Done, Status: http.StatusOK, Refund: r.Refund}
	}
	if t == nil && r.Refund != nil {
		of, failed := s.read(ctx, r.Refund.Transaction)
		if of == nil {
			return failed
		}
		return command.Result{Outcome: command.Done, Status: http.StatusOK, Transaction: of, Refund: r.Refund}
	}
	if t == nil {
		return r
	}
	r = command.Result{Outcome: command.Done, Status: http.StatusOK, Transaction: t, Capture: captured}
	if c.Captures {
		return s.withVoidedCapture(ctx, r)
	}
	return r
}

// target reads the transaction with the number n. Without one it returns nil and the result to
// give.
func (s session) target(ctx context.Context, n command.Number) (*v1.Transaction, command.Result) {
	t, _, r := s.payment(ctx, n, false)
	return t, r
}

// payment reads the transaction with the number n. If captures is set, it also tries the capture
// with that number and its transaction. Without a transaction it returns nil and the result to
// give.
func (s session) payment(
	ctx context.Context, n command.Number, captures bool,
) (*v1.Transaction, *v1.Capture, command.Result) {
	txn, ok := transactionID(n)
	if !ok {
		return nil, nil, command.Result{Outcome: command.NotFound}
	}
	t, r := s.read(ctx, txn)
	if t != nil || r.Outcome != command.NotFound {
		return t, nil, r
	}
	if captures {
		c, r := s.readCapture(ctx, n)
		if c == nil && r.Outcome != command.NotFound {
			return nil, nil, r
		}
		if c != nil {
			t, r := s.read(ctx, c.Transaction)
			return t, c, r
		}
	}
	return nil, nil, s.notFound(ctx, n)
}

// readCapture reads the capture with that number. It returns nil and the result to give if it
// cannot.
func (s session) readCapture(ctx context.Context, n command.Number) (*v1.Capture, command.Result) {
	captured, err := id.Decimal(id.Capture, string(n))
	if err != nil {
		return nil, command.Result{Outcome: command.NotFound}
	}
	return s.captureOf(ctx, captured)
}

// captureOf reads one capture by its id. It returns nil and the result to give if it cannot.
func (s session) captureOf(ctx context.Context, captured string) (*v1.Capture, command.Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetCapture(ctx, captured, nil, s.WithKey)
	})
	var c v1.Capture
	if r, ok := resp.read(&c, func() bool { return c.ID == captured }); !ok {
		return nil, r
	}
	return &c, command.Result{}
}

// read reads one transaction by its id. It returns nil and the result to give if it cannot.
func (s session) read(ctx context.Context, txn string) (*v1.Transaction, command.Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetTransaction(ctx, txn, nil, s.WithKey)
	})
	var t v1.Transaction
	if r, ok := resp.read(&t, func() bool { return t.ID == txn }); !ok {
		return nil, r
	}
	return &t, command.Result{}
}

// notFound returns the result for a number that no transaction has. It may still belong to a
// refund, which callers refuse differently.
func (s session) notFound(ctx context.Context, n command.Number) command.Result {
	r := command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
	re, err := id.Decimal(id.Refund, string(n))
	if err != nil {
		return r
	}
	found, failed := s.refundOf(ctx, re)
	if found != nil {
		r.Refund = found
	} else if other := unlessV1Decides(failed); other != nil {
		return *other // the refund may still exist
	}
	return r
}

// refundOf reads one refund by its id. It returns nil and the result to give if it cannot.
func (s session) refundOf(ctx context.Context, re string) (*v1.Refund, command.Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetRefund(ctx, re, nil, s.WithKey)
	})
	var found v1.Refund
	if r, ok := resp.read(&found, func() bool { return found.ID == re }); !ok {
		return nil, r
	}
	return &found, command.Result{}
}

// transactionID returns the v1 id of the transaction with that number, and false if the number is
// invalid.
func transactionID(n command.Number) (string, bool) {
	txn, err := id.Decimal(id.Transaction, string(n))
	return txn, err == nil
}

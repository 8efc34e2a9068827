package command

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// get reads the transaction that the number means, or the refund or capture with the transaction that it is of, if any.
func (s session) get(ctx context.Context, c Get) Result {
	t, captured, r := s.payment(ctx, c.Target, c.Captures)
	if t == nil && r.Refund != nil && r.Refund.Transaction == "" {
		return Result{Outcome: Done, Status: http.StatusOK, Refund: r.Refund}
	}
	if t == nil && r.Refund != nil {
		of, failed := s.read(ctx, r.Refund.Transaction)
		if of == nil {
			return failed
		}
		return Result{Outcome: Done, Status: http.StatusOK, Transaction: of, Refund: r.Refund}
	}
	if t == nil {
		return r
	}
	r = Result{Outcome: Done, Status: http.StatusOK, Transaction: t, Capture: captured}
	if c.Captures {
		return s.told(ctx, r)
	}
	return r
}

// target reads the transaction that n means. Without one it returns nil and the result to give.
func (s session) target(ctx context.Context, n Number) (*v1.Transaction, Result) {
	t, _, r := s.payment(ctx, n, false)
	return t, r
}

// payment reads the transaction that n means, or where captures are allowed the capture of that number and the transaction that it is of.
// Without a transaction it returns nil and the result to give.
func (s session) payment(ctx context.Context, n Number, captures bool) (*v1.Transaction, *v1.Capture, Result) {
	txn, ok := transactionID(n)
	if !ok {
		return nil, nil, Result{Outcome: NotFound}
	}
	t, r := s.read(ctx, txn)
	if t != nil || r.Outcome != NotFound {
		return t, nil, r
	}
	if captures {
		c, r := s.readCapture(ctx, n)
		if c == nil && r.Outcome != NotFound {
			return nil, nil, r
		}
		if c != nil {
			t, r := s.read(ctx, c.Transaction)
			return t, c, r
		}
	}
	return nil, nil, s.notFound(ctx, n)
}

// readCapture reads the capture of that number; nil with a result when it can not.
func (s session) readCapture(ctx context.Context, n Number) (*v1.Capture, Result) {
	captured, err := id.Decimal(id.Capture, string(n))
	if err != nil {
		return nil, Result{Outcome: NotFound}
	}
	return s.captureOf(ctx, captured)
}

// captureOf reads one capture by its id; nil with a result when it can not.
func (s session) captureOf(ctx context.Context, captured string) (*v1.Capture, Result) {
	a := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.GetCapture(ctx, captured, s.authorized)
	})
	var c v1.Capture
	if r, ok := a.read(&c, func() bool { return c.ID == captured }); !ok {
		return nil, r
	}
	return &c, Result{}
}

// read reads one transaction by its id; nil with a result when it can not.
func (s session) read(ctx context.Context, txn string) (*v1.Transaction, Result) {
	a := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.GetTransaction(ctx, txn, s.authorized)
	})
	var t v1.Transaction
	if r, ok := a.read(&t, func() bool { return t.ID == txn }); !ok {
		return nil, r
	}
	return &t, Result{}
}

// notFound is the result for a number that no transaction has: it may still be a refund's, which callers refuse differently.
func (s session) notFound(ctx context.Context, n Number) Result {
	r := Result{Outcome: NotFound, Status: http.StatusNotFound}
	re, err := id.Decimal(id.Refund, string(n))
	if err != nil {
		return r
	}
	a := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.GetRefund(ctx, re, s.authorized)
	})
	var found v1.Refund
	unread, ok := a.read(&found, func() bool { return found.ID == re })
	if ok {
		r.Refund = &found
	} else if a.status/100 == 2 {
		return unread // it is not said that there is none
	}
	return r
}

// read reads the answer to a GET into v. It reports false, with the result to give, when there is nothing to read that fits; a lost answer
// to a read loses nothing, so it is never Uncertain.
func (a answer) read(v any, fits func() bool) (Result, bool) {
	if a.status/100 == 2 && a.holds(v, fits) {
		return Result{}, true
	}
	r := a.result()
	if r.Outcome == Uncertain || a.status/100 == 2 {
		r.Outcome = Unavailable
	}
	return r, false
}

// transactionID is the v1 id of the transaction with that number, and false when no id has it.
func transactionID(n Number) (string, bool) {
	txn, err := id.Decimal(id.Transaction, string(n))
	return txn, err == nil
}

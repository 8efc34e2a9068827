package command

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// get reads the transaction with the number, or else the refund or capture with it and their
// transaction, if any.
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
		return s.withVoidedCapture(ctx, r)
	}
	return r
}

// target reads the transaction with the number n. Without one it returns nil and the result to
// give.
func (s session) target(ctx context.Context, n Number) (*v1.Transaction, Result) {
	t, _, r := s.payment(ctx, n, false)
	return t, r
}

// payment reads the transaction with the number n. If captures is set, it also tries the capture
// with that number and its transaction. Without a transaction it returns nil and the result to
// give.
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

// readCapture reads the capture with that number. It returns nil and the result to give if it
// cannot.
func (s session) readCapture(ctx context.Context, n Number) (*v1.Capture, Result) {
	captured, err := id.Decimal(id.Capture, string(n))
	if err != nil {
		return nil, Result{Outcome: NotFound}
	}
	return s.captureOf(ctx, captured)
}

// captureOf reads one capture by its id. It returns nil and the result to give if it cannot.
func (s session) captureOf(ctx context.Context, captured string) (*v1.Capture, Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetCapture(ctx, captured, nil, s.authorized)
	})
	var c v1.Capture
	if r, ok := resp.read(&c, func() bool { return c.ID == captured }); !ok {
		return nil, r
	}
	return &c, Result{}
}

// read reads one transaction by its id. It returns nil and the result to give if it cannot.
func (s session) read(ctx context.Context, txn string) (*v1.Transaction, Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetTransaction(ctx, txn, nil, s.authorized)
	})
	var t v1.Transaction
	if r, ok := resp.read(&t, func() bool { return t.ID == txn }); !ok {
		return nil, r
	}
	return &t, Result{}
}

// notFound returns the result for a number that no transaction has. It may still belong to a
// refund, which callers refuse differently.
func (s session) notFound(ctx context.Context, n Number) Result {
	r := Result{Outcome: NotFound, Status: http.StatusNotFound}
	re, err := id.Decimal(id.Refund, string(n))
	if err != nil {
		return r
	}
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetRefund(ctx, re, nil, s.authorized)
	})
	var found v1.Refund
	readFailure, ok := resp.read(&found, func() bool { return found.ID == re })
	if ok {
		r.Refund = &found
	} else if resp.Status/100 == 2 {
		return readFailure // the refund may still exist
	}
	return r
}

// read reads the response to a GET into v. It reports false, with the result to give, if nothing in
// it matches. A lost response to a read is never Uncertain, because a read has no effect.
func (resp response) read(v any, matches func() bool) (Result, bool) {
	if resp.Status/100 == 2 && resp.DecodeMatching(v, matches) {
		return Result{}, true
	}
	return resp.unread(), false
}

// unread returns the result of a read whose response has no matching object.
func (resp response) unread() Result {
	r := resp.result()
	if r.Outcome == Uncertain || resp.Status/100 == 2 {
		r.Outcome = Unavailable
	}
	return r
}

// transactionID returns the v1 id of the transaction with that number, and false if the number is
// invalid.
func transactionID(n Number) (string, bool) {
	txn, err := id.Decimal(id.Transaction, string(n))
	return txn, err == nil
}

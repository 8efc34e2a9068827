package executor

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// pay makes a payment. It looks for an equal request before it reads the customer, so a retry does
// not become another payment because the customer changed meanwhile.
func (s session) pay(ctx context.Context, c command.Authorize) command.Result {
	if c.Joins != "" {
		return s.join(ctx, c)
	}
	r := s.deduplicate(ctx, c.Deduplication, deduplication.Job{Identity: c.Identity(), Reads: readsCustomer(c)},
		func(s session) command.Result { return s.charge(ctx, c) })
	if s.named() && readsCustomer(c) {
		r = s.madeBefore(ctx, c, r)
	}
	if c.Body.Customer != nil {
		s.loadDuplicated(ctx, &r)
	}
	return r
}

// readsCustomer reports whether the payment depends on fields of its customer at v1.
func readsCustomer(c command.Authorize) bool {
	return c.ShipTo != "" || len(c.AcceptedBrands) > 0 && c.Body.Customer != nil
}

// madeBefore returns the result of the payment that an earlier request under the session's name
// made, if r has none. The customer may have changed since then, and so v1 or the proxy refused to
// make the payment again.
func (s session) madeBefore(ctx context.Context, c command.Authorize, r command.Result) command.Result {
	if r.Outcome == command.Done || r.Outcome == command.Declined || r.Outcome == command.Unavailable ||
		r.Code == v1.CodeKeyInUse {
		return r
	}
	u, failed := s.AwaitKey(ctx, s.IdempotencyKey)
	switch {
	case failed != nil:
		return *failed
	case u.Running:
		return command.KeyInUse()
	case u.Denied != nil:
		return s.refusedUnderHiddenKey(ctx, r)
	case u.Resource == "":
		return r
	}
	t, unread := s.read(ctx, u.Resource)
	switch {
	case t == nil:
		return unread
	case !matchesPayment(t, &c.Body), c.Body.PaymentMethod != "" && c.Body.PaymentMethod != t.PaymentMethod:
		return *command.KeyReused()
	}
	s.keyResponse.replayed = true
	return s.follow(ctx, earlierAuthorization(t), earlierAuthorization)
}

// refusedUnderHiddenKey returns the result of a refused request whose key the caller may not read.
// A refusal by the proxy stands only once v1 has reserved the key for it. Else an earlier request
// under the name may have paid, and the result is Uncertain.
func (s session) refusedUnderHiddenKey(ctx context.Context, r command.Result) command.Result {
	switch {
	case r.Code == v1.CodeKeyReused:
		return command.KeyInUse()
	case r.Outcome != command.Unmet:
		return r // v1 looked the key up before it refused
	}
	held, failed := s.Reserve(ctx, s.IdempotencyKey, deduplication.RefusedPurpose)
	switch {
	case failed != nil:
		return *failed
	case !held:
		return command.KeyInUse()
	}
	return r
}

// earlierAuthorization returns the result of an authorization that an earlier request made. The
// payment may have been voided since, or have lapsed.
func earlierAuthorization(t *v1.Transaction) command.Result {
	r := authorized(t)
	if r.Code == command.CodeFailed && t.AmountAuthorized > 0 {
		return command.Result{Outcome: command.Done, Transaction: t}
	}
	return r
}

// charge makes a payment under the session's key, with the current payment method and address of
// its customer. If a stored payment method was not charged, the result has it.
func (s session) charge(ctx context.Context, c command.Authorize) command.Result {
	if r := s.address(ctx, &c); r != nil {
		return *r
	}
	method, refused := s.storedMethod(ctx, &c)
	if refused != nil {
		return *refused
	}
	r := s.authorize(ctx, c.Body)
	if method != nil && r.Transaction == nil {
		r.Methods = []v1.PaymentMethod{*method}
	}
	return r
}

func (s session) authorize(ctx context.Context, create v1.TransactionCreate) command.Result {
	create.Metadata = s.Marked(create.Metadata)
	resp, ok := s.post(ctx, create, "", s.create)
	var t v1.Transaction
	switch {
	case !ok:
		return command.Unencodable()
	case resp.Status/100 != 2:
		r := s.follow(ctx, resp.resultOn(func(t *v1.Transaction) bool { return matchesPayment(t, &create) }), authorized)
		if r.Transaction == nil {
			return r
		}
		return withOrigin(r, resp, r.Transaction.CreatedAt.Time)
	case !resp.DecodeMatching(&t, func() bool { return matchesPayment(&t, &create) }):
		return command.Result{Outcome: command.Uncertain, Status: resp.Status}
	}
	return withOrigin(s.follow(ctx, authorized(&t), authorized), resp, t.CreatedAt.Time)
}

func (s session) create(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
	return s.x.client.CreateTransaction(ctx, s.APIKey, s.IdempotencyKey, body) //nolint:wrapcheck // only logged
}

func (s session) capture(ctx context.Context, c command.Capture) command.Result {
	if txn, ok := transactionID(c.Target); ok && c.Seen {
		return s.captureID(ctx, c, txn, nil, nil)
	}
	t, r := s.target(ctx, c.Target)
	if t == nil {
		return r
	}
	amount, unmet := check(t, c.Require, c.Amount)
	if unmet != "" {
		return command.Result{Outcome: command.Unmet, Unmet: unmet, Transaction: t}
	}
	return s.captureID(ctx, c, t.ID, t, amount)
}

// captureID captures an amount of the payment with that id, nil for all of it. t is the payment if
// it was read, else nil.
func (s session) captureID(
	ctx context.Context, c command.Capture, txn string, t *v1.Transaction, amount *int64,
) command.Result {
	body := v1.CaptureCreate{
		Amount: amount, Reference: v1.Optional(c.Reference), Metadata: v1.OptionalMetadata(c.Metadata),
	}
	if c.Final {
		body.Final = &c.Final
	}
	params := &v1.CreateCaptureParams{IdempotencyKey: &s.IdempotencyKey}
	resp, ok := s.post(ctx, body, v1.CodeOutcomeUnknown,
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return s.x.client.API.CreateCaptureWithBody(ctx, txn, params, v1client.ContentType, body, s.WithKey)
		})
	var made v1.Capture
	if r, done := resp.readStep(ok, txn, t, &made, func() bool { return matchesCapture(&made, &body, txn, t) }); !done {
		return r
	}
	r := command.Result{Outcome: command.Done, Status: resp.Status, Transaction: t, Capture: &made}
	if made.Status == v1.CaptureStatusFailed {
		r.Outcome = command.Refused
	}
	return r
}

func (s session) refund(ctx context.Context, c command.Refund) command.Result {
	t, captured, r := s.payment(ctx, c.Target, c.Captures)
	if t == nil {
		return r
	}
	amount, unmet := check(t, c.Require, c.Amount)
	if unmet != "" {
		return command.Result{Outcome: command.Unmet, Unmet: unmet, Transaction: t, Capture: captured}
	}
	body := v1.RefundCreate{
		Transaction: t.ID, Amount: amount, Reference: v1.Optional(c.Reference),
		Metadata: s.Marked(v1.OptionalMetadata(c.Metadata)),
	}
	if captured != nil {
		body.Capture = &captured.ID
	}
	params := &v1.CreateRefundParams{IdempotencyKey: &s.IdempotencyKey}
	resp, ok := s.post(ctx, body, v1.CodeOutcomeUnknown,
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return s.x.client.API.CreateRefundWithBody(ctx, params, v1client.ContentType, body, s.WithKey)
		})
	var made v1.Refund
	matches := func() bool { return matchesRefund(&made, &body, t.Currency) }
	if r, done := resp.readStep(ok, t.ID, t, &made, matches); !done {
		if r.Capture = captured; c.Captures {
			r = s.withVoidedCapture(ctx, r)
		}
		return r
	}
	r = command.Result{Outcome: command.Done, Status: resp.Status, Transaction: t, Capture: captured, Refund: &made}
	r = withOrigin(r, resp, made.CreatedAt.Time)
	if made.Status == v1.RefundStatusFailed {
		r.Outcome = command.Refused
	}
	return r
}

func (s session) void(ctx context.Context, c command.Void) command.Result {
	id, ok := transactionID(c.Target)
	if !ok {
		return command.Result{Outcome: command.NotFound}
	}
	if c.Require != (command.Require{}) {
		t, r := s.target(ctx, c.Target)
		if t == nil {
			return r
		}
		if _, unmet := check(t, c.Require, ""); unmet != "" {
			return command.Result{Outcome: command.Unmet, Unmet: unmet, Transaction: t}
		}
	}
	r := s.voidID(ctx, id, c.Expected)
	switch {
	case r.Outcome == command.NotFound:
		return s.notFound(ctx, c.Target)
	case r.Code == v1.CodeVersionConflict:
		r.Code = v1.CodeNotVoidable // the caller decided on a version, so this does not decide again
	}
	return r
}

// voidRead voids a payment at the version that was read. v1.CodeVersionConflict means that it has
// changed since and nothing was done. The command then decides again, under another key.
func (s session) voidRead(ctx context.Context, t *v1.Transaction) command.Result {
	if t.Status != v1.TransactionStatusVoided && t.Status != v1.TransactionStatusCanceled {
		return s.voidID(ctx, t.ID, &t.Version)
	}
	// A retry sends the version that the earlier void expected, and gets its response. That is the
	// previous version, unless the merchant has changed the payment's texts since.
	for before := int64(1); ; before++ {
		expected := t.Version - before
		r := s.voidID(ctx, t.ID, &expected)
		if r.Code != v1.CodeKeyReused || before == maxDecisions || expected <= 0 {
			return r
		}
	}
}

// voidID voids a payment if it has the expected version. Nil accepts any version.
func (s session) voidID(ctx context.Context, txn string, expected *int64) command.Result {
	params := &v1.VoidTransactionParams{IdempotencyKey: &s.IdempotencyKey}
	resp, ok := s.post(ctx, v1.TransactionVoid{ExpectedVersion: expected}, "",
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return s.x.client.API.VoidTransactionWithBody(ctx, txn, params, v1client.ContentType, body, s.WithKey)
		})
	var t v1.Transaction
	switch {
	case !ok:
		return command.Unencodable()
	case resp.Status/100 != 2:
		return s.follow(ctx, resp.resultOn(hasID(txn)), voided)
	case !resp.DecodeMatching(&t, func() bool { return t.ID == txn }):
		return command.Result{Outcome: command.Uncertain, Status: resp.Status}
	}
	return s.follow(ctx, voided(&t), voided)
}

// post encodes v once and sends it until the response is final; see call for again. It reports
// false if v cannot be encoded.
func (s session) post(
	ctx context.Context, v any, again string, send func(context.Context, *bytes.Reader) (*http.Response, error),
) (response, bool) {
	body, err := v1.MarshalRevealed(v)
	if err != nil {
		return response{}, false
	}
	var before v1client.Earlier
	for i := 0; ; i++ {
		resp := s.x.client.CallAfter(ctx, &before, again, func(ctx context.Context) (*http.Response, error) {
			return send(ctx, bytes.NewReader(body))
		})
		resp.Claimed = before.Claimed
		// V1 does not store this refusal under the key.
		busy := s.patient && resp.Err.Code == v1.CodeOperationInProgress
		if !busy || i == busyRepeats || !v1client.Wait(ctx, s.x.cfg.FollowPause<<i) {
			s.keyResponse.record(resp)
			return response{resp}, true
		}
	}
}

// busyRepeats is how often a patient session retries while another operation on the payment runs.
const busyRepeats = 4

// readStep reads the object of a step into made: a capture, refund or credit. It reports false,
// with the result to give, if the response has no matching object. txn is the id of the payment. t
// is the payment if it was read, else nil.
func (resp response) readStep(
	encoded bool, txn string, t *v1.Transaction, made any, matches func() bool,
) (command.Result, bool) {
	switch {
	case !encoded:
		return command.Unencodable(), false
	case resp.Status/100 != 2:
		r := resp.resultOn(hasID(txn))
		if r.Transaction == nil {
			r.Transaction = t
		}
		return r, false
	case !resp.DecodeMatching(made, matches):
		return command.Result{Outcome: command.Uncertain, Status: resp.Status, Transaction: t}, false
	}
	return command.Result{}, true
}

// check returns the amount in minor units of t's currency, nil for all of it, or the condition that
// does not hold.
func check(t *v1.Transaction, require command.Require, amount string) (*int64, command.Condition) {
	if require.Currency != "" && require.Currency != t.Currency {
		return nil, command.ConditionCurrency
	}
	if require.Customer != "" && require.Customer != v1.Text(t.Customer) ||
		require.Method != "" && require.Method != t.PaymentMethod {
		return nil, command.ConditionSource
	}
	if require.MethodType != "" && require.MethodType != methodTypeOf(t) {
		return nil, command.ConditionMethodType
	}
	if require.Settled && t.Settlement != v1.SettlementSettled {
		return nil, command.ConditionSettled
	}
	if require.Last4 != "" && !endsWith(t, require.Last4) {
		return nil, command.ConditionLast4
	}
	if t.BankAccount != nil && !strings.HasSuffix(t.BankAccount.RoutingNumber, require.Routing) {
		return nil, command.ConditionRouting
	}
	if amount == "" {
		return nil, ""
	}
	currency, known := money.Lookup(t.Currency)
	minor, err := money.Parse(amount, currency.Exponent)
	if errors.Is(err, money.ErrRange) {
		return nil, command.ConditionRange
	}
	if !known || err != nil || minor <= 0 {
		return nil, command.ConditionAmount
	}
	return &minor, ""
}

// methodTypeOf returns "" for a payment with neither.
func methodTypeOf(t *v1.Transaction) command.MethodType {
	switch {
	case t.Card != nil, t.NetworkToken != nil:
		return command.CardMethod
	case t.BankAccount != nil:
		return command.BankMethod
	}
	return ""
}

// endsWith reports whether the number of the payment source ends in last4. V1 shows less than four
// digits of a short account number, so only these are compared.
func endsWith(t *v1.Transaction, last4 string) bool {
	switch {
	case t.Card != nil:
		return t.Card.Last4 == last4
	case t.NetworkToken != nil:
		return t.NetworkToken.Last4 == last4
	case t.BankAccount != nil:
		return t.BankAccount.Last4 != "" && strings.HasSuffix(last4, t.BankAccount.Last4)
	}
	return false
}

// followReads is how often a payment with an unknown outcome is read again.
const followReads = 4

// follow reads the payment of an uncertain result again for a while, because v1 queries the
// acquirer in the background. It returns judge's result once that is certain.
func (s session) follow(
	ctx context.Context, r command.Result, judge func(*v1.Transaction) command.Result,
) command.Result {
	if r.Outcome != command.Uncertain || r.Transaction == nil {
		return r
	}
	id := r.Transaction.ID
	for i := range followReads {
		if !v1client.Wait(ctx, s.x.cfg.FollowPause<<i) {
			return r
		}
		t, read := s.read(ctx, id)
		if t == nil && read.Outcome != command.Unavailable {
			return r
		}
		if t == nil {
			continue
		}
		if found := judge(t); found.Outcome != command.Uncertain {
			return found
		}
	}
	return r
}

// authorized returns the result of an authorization from the state of its payment.
func authorized(t *v1.Transaction) command.Result {
	r := command.Result{Outcome: command.Uncertain, Transaction: t}
	switch t.Status {
	case v1.TransactionStatusAuthorized, v1.TransactionStatusCaptured, v1.TransactionStatusPartiallyCaptured:
		r.Outcome = command.Done
	case v1.TransactionStatusDeclined:
		r.Outcome = command.Declined
	// V1 voids a payment whose outcome was lost, and expires one that lapsed before its outcome was
	// known.
	case v1.TransactionStatusFailed, v1.TransactionStatusVoided, v1.TransactionStatusExpired:
		r.Outcome, r.Code = command.Refused, command.CodeFailed
	case v1.TransactionStatusProcessing, v1.TransactionStatusUnknown:
	case v1.TransactionStatusRequiresConfirmation, v1.TransactionStatusCanceled: // not of a payment made here
	}
	return r
}

// voided returns the result of a void from the state of its payment. Any other state may still
// change when the acquirer responds.
func voided(t *v1.Transaction) command.Result {
	if t.Status == v1.TransactionStatusVoided {
		return command.Result{Outcome: command.Done, Transaction: t}
	}
	return command.Result{Outcome: command.Uncertain, Code: v1.CodeOutcomeUnknown, Transaction: t}
}

package command

import "net/http"

// earlier is the record of the attempts that were sent under one Idempotency-Key.
type earlier struct {
	lost bool // one may have had an effect, or may still have one
	ours bool // one may have had the effect that a later response describes
}

// add judges the response to the next attempt by the attempts before it, and adds it to them.
func (e *earlier) add(a *answer) {
	a.replayed = a.replayed && !e.ours && !a.resent
	e.ours = e.ours || a.resent || a.maybe && a.err.Code != CodeKeyInUse
	a.maybe = a.maybe || e.lost && !a.settles()
	e.lost = a.maybe
}

// hadNoEffect reports whether a response that is no success proves that the attempt it is the
// response to had no effect. A gateway's 5xx proves nothing about v1 behind it, unless it is a 503
// with httpx.UnsentHeader.
func (a answer) hadNoEffect() bool {
	switch {
	case a.err.Code == CodeKeyInUse:
		return false
	case a.status == http.StatusServiceUnavailable:
		return beforeEffect[a.err.Code] || a.unsent
	}
	return a.status < http.StatusInternalServerError || a.err.Code == CodeNotProcessed
}

// beforeEffect are the codes of 503 of which v1 had no effect. Any other, such as
// store_unavailable, may come after the commit of an intent, which v1 then carries out.
var beforeEffect = map[string]bool{
	"overloaded": true, CodeAcquirerNotConfigured: true, CodeAcquirerUnavailable: true,
}

// settles reports whether the response also settles the earlier attempts with the same key.
func (a answer) settles() bool {
	return a.status/100 == 2 || settling[a.err.Code]
}

// settling are the codes of refusals that v1 makes after it has looked the key up, so an effect
// would have been replayed, and that any equal request gets from then on: v1 stores the refusal
// under the key, or it depends on nothing but the request. All other refusals leave the key free,
// and an earlier attempt that was delayed may still take it. Invalid_json is not among them: it is
// a body that did not arrive whole, since those that are sent here are valid.
var settling = map[string]bool{
	CodeKeyReused: true, "not_found": true,

	"unknown_field": true, "duplicate_field": true, CodeMissingField: true, "invalid_type": true,
	"invalid_value": true, "invalid_amount": true, "unknown_currency": true, "invalid_card_number": true,
	CodeExpiredCard: true, "invalid_cvc": true, CodeUnknownMethod: true, CodeUnknownCustomer: true,
	"too_many_payment_methods": true, "token_used": true, "token_expired": true, "token_code_lost": true,
	CodeUnlinkedRefunds: true,

	"card_declined": true, "acquirer_declined": true,
	CodeNotCapturable: true, CodeNotVoidable: true, CodeNotRefundable: true,
	CodeExceedsCapturable: true, CodeExceedsRefundable: true, CodeVersionConflict: true,
}

package command

import (
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// ResultOf returns the result that a response other than a success stands for.
func ResultOf(resp v1client.Response) Result {
	r := Result{
		Outcome: Refused, Status: resp.Status, Code: resp.Err.Code, Transaction: resp.Err.Transaction,
		Origin: Origin{Replayed: resp.Replayed, Stored: resp.Stored, Claimed: resp.Claimed},
	}
	if resp.Err.Param != nil {
		r.Param = *resp.Err.Param
	}
	switch {
	case resp.MayHaveReached || resp.Err.Code == v1.CodeOutcomeUnknown:
		r.Outcome = Uncertain
	case resp.Err.Code == v1.CodeNotProcessed:
		r.Outcome = Refused
	case resp.Status == http.StatusPaymentRequired:
		r.Outcome = Declined
	case resp.Status == http.StatusNotFound:
		r.Outcome = NotFound
	case resp.Status == 0 || resp.Status >= 500 || resp.Status == http.StatusTooManyRequests || resp.Status/100 == 3:
		r.Outcome = Unavailable
	}
	return r
}

// Read reads the response to a GET into v. It reports false, with the result to give, if nothing in
// it matches. A lost response to a read is never Uncertain, because a read has no effect.
func Read(resp v1client.Response, v any, matches func() bool) (Result, bool) {
	if resp.Status/100 == 2 && resp.DecodeMatching(v, matches) {
		return Result{}, true
	}
	return Unread(resp), false
}

// Unread returns the result of a read whose response has no matching object.
func Unread(resp v1client.Response) Result {
	r := ResultOf(resp)
	if r.Outcome == Uncertain || resp.Status/100 == 2 {
		r.Outcome = Unavailable
	}
	return r
}

// Effective reports whether the status means that v1 did something. A decline counts.
func Effective(status int) bool { return status/100 == 2 || status == http.StatusPaymentRequired }

// Refuses reports whether the status means that v1 did nothing and never will.
func Refuses(status int) bool { return status/100 == 4 && !Effective(status) }

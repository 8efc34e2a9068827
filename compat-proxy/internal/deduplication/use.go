package deduplication

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Use is the use of an Idempotency-Key, as v1 returns it.
type Use struct {
	Found    bool            // a request has the key
	Running  bool            // its outcome is unknown
	Refused  bool            // v1 refused it: it has no effect and never will
	Conflict bool            // Refused because the payment had changed since it was read
	Effect   bool            // it made something: a payment, a decline, a refund
	Made     time.Time       // zero if v1 does not return it to this caller
	Denied   *command.Result // v1's refusal to show the key to the caller: then only found is certain

	Resource string // the id of the object that it made, if v1 returned it
	Purpose  string // of a reservation; "" if it is none
}

// final reports whether the use has ended and keeps the key. V1 then refuses the key to a delayed
// attempt of any other request.
func (u Use) final() bool { return u.Found && !u.Running && (u.Denied == nil || u.Purpose != "") }

// MayActLate reports whether an attempt of the request with the result r may still have an effect
// under a key of that use. V1 refused the key to a later attempt, but may free it. The request must
// not use another key then.
func (u Use) MayActLate(r command.Result) bool {
	return r.Code == v1.CodeKeyReused && r.Outcome == command.Uncertain && !u.final()
}

// DuplicateResult returns the result of a request that is equal to the use, if the use is running
// or was made after recent. Else it reports false.
func (u Use) DuplicateResult(r command.Result, recent time.Time) (command.Result, bool) {
	switch {
	case u.Running:
		// A running request must not be repeated, however long it takes.
		return command.KeyInUse(), true
	case u.Effect && (u.Made.IsZero() || u.Made.After(recent)):
		return command.Result{
			Outcome: command.Repeated, Status: r.Status, Transaction: r.Transaction, Refund: r.Refund,
			Duplicated: u.Resource,
		}, true
	}
	return command.Result{}, false
}

// ofOtherRequest reports whether an earlier request has the key: v1 returned that request's
// response, or refused the key.
func ofOtherRequest(r command.Result) bool { return r.Origin.Replayed || r.Code == v1.CodeKeyReused }

// useOf returns the use of the key that a replayed response describes.
func useOf(r command.Result) Use {
	return Use{
		Found: true, Effect: r.Outcome == command.Done || r.Outcome == command.Declined,
		Running: r.Outcome == command.Uncertain, Made: r.Origin.Made,
	}
}

// awaitReads is how often a key in use is read again. Most requests end in a moment.
const awaitReads = 3

// AwaitKey reads v1's record of a key, and again for a while as long as its request is running.
func (s Request) AwaitKey(ctx context.Context, key string) (Use, *command.Result) {
	for i := 0; ; i++ {
		u, failed := s.ReadKey(ctx, key)
		if failed != nil || !u.Running || i == awaitReads || !v1client.Wait(ctx, s.d.cfg.Pause<<i) {
			return u, failed
		}
	}
}

// ReadKey reads an Idempotency-Key at v1. A caller without the right to read keys gets a use of
// unknown time for the key of its last request. It gets no use for any other key. See
// internal/providera/DIVERGENCES.md.
func (s Request) ReadKey(ctx context.Context, key string) (Use, *command.Result) {
	resp := s.d.cfg.Client.Call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.d.cfg.Client.API.GetIdempotencyKey(ctx, key, s.WithKey)
	})
	var found v1.IdempotencyKeyRecord
	r, ok := command.Read(resp, &found, func() bool { return found.Key == "" || found.Key == key })
	switch {
	case !ok && r.Outcome == command.NotFound:
		return Use{}, nil
	case !ok && r.Status == http.StatusForbidden:
		return Use{Found: key == s.IdempotencyKey, Effect: true, Denied: &r}, nil
	case !ok:
		return Use{}, &r
	}
	u := Use{
		Found: true, Running: found.HTTPStatus == nil, Made: found.CreatedAt.Time,
		Resource: v1.Text(found.Resource), Purpose: v1.Text(found.Purpose),
	}
	if !u.Running {
		u.Effect = command.Effective(*found.HTTPStatus) && u.Purpose == ""
		u.Refused = command.Refuses(*found.HTTPStatus) || u.Purpose == RefusedPurpose
		u.Conflict = v1.Text(found.ErrorCode) == v1.CodeVersionConflict
	}
	return u, nil
}

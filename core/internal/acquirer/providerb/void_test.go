package providerb_test

import (
	"context"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

const (
	pathFirst, pathSecond = "/pts/v2/captures/2/voids", "/pts/v2/captures/3/voids"
	pathSale, pathRest    = "/pts/v2/payments/1/voids", "/pts/v2/payments/1/reversals"
	pathLook              = "/tss/v2/transactions/1"
)

// script has the responses of a host by path.
type script map[string]string

// stateOf returns the details of an authorization.
func stateOf(status string) string {
	return `200 {"id":"1","status":"` + status + `","orderInformation":{"amountDetails":` +
		`{"authorizedAmount":"10.00","currency":"USD"}}}`
}

// voidCases are the voids of TestVoid.
var voidCases = map[string]struct {
	kind     acquirer.Kind
	captures int
	script   script
	want     string // the outcome
	paths    string
}{
	"authorization":       {acquirer.Authorization, 0, script{pathRest: reversed}, "approved", pathRest},
	"reversed before":     {acquirer.Authorization, 0, script{pathRest: reversedBefore}, "approved", pathRest},
	"captured by another": {acquirer.Authorization, 0, script{pathRest: settled}, "declined", pathRest},
	"no response":         {acquirer.Authorization, 0, script{pathRest: ""}, "unknown", pathRest},
	"time-out":            {acquirer.Authorization, 0, script{pathRest: serverLost}, "unknown", pathRest},
	"settled or reversed": {
		acquirer.Authorization, 0,
		script{pathRest: eitherWay, pathLook: stateOf("REVERSED")},
		"approved", pathRest + " " + pathLook,
	},
	"reversed or settled": {
		acquirer.Authorization, 0,
		script{pathRest: eitherWay, pathLook: stateOf("TRANSMITTED")},
		"declined", pathRest + " " + pathLook,
	},
	"settled or not": {
		acquirer.Authorization, 0,
		script{pathRest: eitherWay, pathLook: "404 {}"},
		"unknown", pathRest + " " + pathLook,
	},
	"sale": {
		acquirer.Sale, 0,
		script{pathSale: voided, pathRest: reversed},
		"approved", pathSale + " " + pathRest,
	},
	"settled sale": {acquirer.Sale, 0, script{pathSale: notVoidable}, "declined", pathSale},
	"sale without a hold": {
		acquirer.Sale, 0,
		script{pathSale: voided, pathRest: noAuth},
		"approved", pathSale + " " + pathRest,
	},
	"sale half lost": {
		acquirer.Sale, 0,
		script{pathSale: voided, pathRest: ""},
		"unknown", pathSale + " " + pathRest,
	},
	"sale again": {
		acquirer.Sale, 0,
		script{pathSale: voidedBefore, pathRest: reversedBefore},
		"approved", pathSale + " " + pathRest,
	},
	"two captures": {
		acquirer.Authorization, 2,
		script{pathFirst: voided, pathSecond: voided, pathRest: reversed},
		"approved", pathFirst + " " + pathSecond + " " + pathRest,
	},
	"settled capture": {acquirer.Authorization, 2, script{pathFirst: notVoidable}, "declined", pathFirst},
	"one settled capture": {
		acquirer.Authorization, 2,
		script{pathFirst: voided, pathSecond: notVoidable},
		"unknown", pathFirst + " " + pathSecond,
	},
	"one lost capture": {
		acquirer.Authorization, 2,
		script{pathFirst: voided, pathSecond: ""},
		"unknown", pathFirst + " " + pathSecond,
	},
	"refund": {acquirer.Refund, 0, script{"/pts/v2/refunds/1/voids": voided}, "approved", "/pts/v2/refunds/1/voids"},
	"refund without voids": {
		acquirer.Refund, 0,
		script{"/pts/v2/refunds/1/voids": notVoidable},
		"declined", "/pts/v2/refunds/1/voids",
	},
	"credit": {
		acquirer.UnlinkedRefund, 0,
		script{"/pts/v2/credits/1/voids": voided},
		"approved", "/pts/v2/credits/1/voids",
	},
	"capture alone": {
		acquirer.Capture, 0,
		script{"/pts/v2/captures/1/voids": voided},
		"approved", "/pts/v2/captures/1/voids",
	},
	"void": {acquirer.Void, 0, nil, "unavailable", ""},
}

// TestVoid: a void ends the captures and the authorization. It is approved only if the money is not
// taken, and declined only if nothing was voided.
func TestVoid(t *testing.T) {
	t.Parallel()
	for name, c := range voidCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			s.respond(c.script)
			r := acquirer.Follow{
				Reference: "void", Original: acquirer.Sent{Kind: c.kind, ID: "1"}, Amount: 1000, Currency: "usd",
			}
			for _, id := range []string{"2", "3"}[:c.captures] {
				r.Captures = append(r.Captures, acquirer.Sent{Kind: acquirer.Capture, ID: id})
			}
			for range 2 { // a repeated void sends the same
				got, err := s.Void(t.Context(), r)
				if result(got, err) != c.want || got.Approved && got.Amount != 1000 {
					t.Errorf("got %+v and %v, want %s", got, err, c.want)
				}
				if paths := s.paths(); paths != c.paths {
					t.Errorf("the host received %s, want %s", paths, c.paths)
				}
				if c.captures > 0 && c.want == "unknown" && !strings.HasSuffix(err.Error(), "not the capture 3") {
					t.Errorf("got %v, want the capture that stands", err)
				}
			}
		})
	}
}

// TestVoidBeforeItsDetails: the details of an authorization show its reversal late. Until they show
// that or a capture, a repeated void is unknown.
func TestVoidBeforeItsDetails(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	r := acquirer.Follow{
		Reference: "void", Original: acquirer.Sent{Kind: acquirer.Authorization, ID: "1"}, Amount: 1000, Currency: "usd",
		Again: true,
	}
	for details, want := range map[string]string{
		"AUTHORIZED": "unknown", "REVERSED": "approved", "TRANSMITTED": "declined",
	} {
		s.respond(script{pathRest: eitherWay, pathLook: stateOf(details)})
		if got, err := s.Void(t.Context(), r); result(got, err) != want {
			t.Errorf("details %s: got %+v, %v, want %s", details, got, err, want)
		}
	}
}

// TestVoidWithoutID: a void that cannot name one of its captures is declined and sends nothing.
func TestVoidWithoutID(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	s.respond(script{pathFirst: voided})
	got, err := s.Void(t.Context(), acquirer.Follow{
		Reference: "void", Original: acquirer.Sent{Kind: acquirer.Authorization, ID: "1"}, Amount: 1000, Currency: "usd",
		Captures: []acquirer.Sent{{Kind: acquirer.Capture, ID: "2"}, {Kind: acquirer.Capture}},
	})
	if paths := s.paths(); result(got, err) != "declined" || paths != "" {
		t.Errorf("got %+v and %v, and requests %q, want a decline and none", got, err, paths)
	}
}

// TestFollowWithoutID: an operator approved a payment without its id. Its captures and refunds are
// declined and not sent, because no retry can be sent.
func TestFollowWithoutID(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	f := acquirer.Follow{
		Reference: "next", Amount: 1000, Currency: "usd", Final: true,
		Original: acquirer.Sent{Kind: acquirer.Sale, Reference: "txn_1", Tag: "tag", Amount: 1000, Currency: "usd"},
	}
	for name, send := range map[string]func(context.Context, acquirer.Follow) (acquirer.Response, error){
		"capture": s.Capture, "refund": s.Refund,
	} {
		got, err := send(t.Context(), f)
		if paths := s.paths(); result(got, err) != "declined" || paths != "" {
			t.Errorf("%s: got %+v and %v, and requests %q, want a decline and none", name, got, err, paths)
		}
	}
}

package providerb_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
)

const byReversal, byVoid, byBoth = "/pts/v2/reversals", "/pts/v2/voids", "/pts/v2/voids /pts/v2/reversals"

// undoCases are the responses to timeout voids and timeout reversals of TestUndo.
var undoCases = map[string]struct {
	kind           acquirer.Kind
	void, reversal string
	paths          string
	inquiries      [2]string // outcomes of Inquire after a minute, and after a day
	voids          [2]string // outcomes of Void with Drop, which approves a request without effect
}{
	"authorization": {
		acquirer.Authorization, "", reversed, byReversal,
		[2]string{"released", "released"},
		[2]string{"approved", "approved"},
	},
	"reversed before": {
		acquirer.Authorization, "", reversedBefore, byReversal,
		[2]string{"released", "released"},
		[2]string{"approved", "approved"},
	},
	"no authorization": {
		acquirer.Authorization, "", noMatch, byReversal,
		[2]string{"unknown", "not_found"},
		[2]string{"unknown", "approved"},
	},
	"missing": {
		acquirer.Authorization, "", noAuth, byReversal,
		[2]string{"unknown", "not_found"},
		[2]string{"unknown", "approved"},
	},
	"settled": {
		acquirer.Authorization, "", settled, byReversal,
		[2]string{"unknown", "unknown"},
		[2]string{"unknown", "unknown"},
	},
	"no response": {
		acquirer.Authorization, "", "", byReversal,
		[2]string{"unknown", "unknown"},
		[2]string{"unknown", "unknown"},
	},
	"time-out": {
		acquirer.Authorization, "", serverLost, byReversal,
		[2]string{"unknown", "unknown"},
		[2]string{"unknown", "unknown"},
	},
	"refused credentials": {
		acquirer.Authorization, "", `401 {"response":{"rmsg":"Authentication Failed"}}`, byReversal,
		[2]string{"unknown", "unknown"},
		[2]string{"unknown", "unknown"},
	},
	"sale": {
		acquirer.Sale, voided, reversed, byBoth,
		[2]string{"released", "released"},
		[2]string{"approved", "approved"},
	},
	"sale without a hold": {
		acquirer.Sale, voided, settled, byBoth,
		[2]string{"released", "released"},
		[2]string{"approved", "approved"},
	},
	"held sale": {
		acquirer.Sale, notVoidable, reversed, byBoth,
		[2]string{"released", "released"},
		[2]string{"approved", "approved"},
	},
	"settled sale": {
		acquirer.Sale, notVoidable, settled, byBoth,
		[2]string{"unknown", "unknown"},
		[2]string{"unknown", "unknown"},
	},
	"no sale": {
		acquirer.Sale, noMatch, "", byVoid,
		[2]string{"unknown", "not_found"},
		[2]string{"unknown", "approved"},
	},
	"half lost": {
		acquirer.Sale, voided, "", byBoth,
		[2]string{"unknown", "unknown"},
		[2]string{"unknown", "unknown"},
	},
	"refund": {
		acquirer.Refund, voided, "", byVoid,
		[2]string{"released", "released"},
		[2]string{"approved", "approved"},
	},
	"capture": {
		acquirer.Capture, voided, "", byVoid,
		[2]string{"released", "released"},
		[2]string{"approved", "approved"},
	},
	"credit": {
		acquirer.UnlinkedRefund, noMatch, "", byVoid,
		[2]string{"unknown", "not_found"},
		[2]string{"unknown", "approved"},
	},
	"void": {acquirer.Void, "", "", "", [2]string{"unknown", "unknown"}, [2]string{"unavailable", "unavailable"}},
	"another field": {
		acquirer.Authorization, "", `400 {"status":"INVALID_REQUEST","reason":"INVALID_DATA","details":` +
			`[{"field":"reversalInformation.amountDetails.totalAmount","reason":"INVALID_DATA"}]}`,
		byReversal,
		[2]string{"unknown", "unknown"},
		[2]string{"unknown", "unknown"},
	},
}

// TestUndo: a request without an id is undone by its transactionId, after a minute. It is without
// effect once the provider has acknowledged that, or has not had it for a day.
func TestUndo(t *testing.T) {
	t.Parallel()
	for name, c := range undoCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			s.respond(script{byVoid: c.void, byReversal: c.reversal})
			about := acquirer.Sent{Kind: c.kind, Reference: "lost", Amount: 1000, Currency: "usd"}
			inquire := func(want, paths string) {
				t.Helper()
				if got, err := s.Inquire(t.Context(), about); result(got, err) != want || got.Released && got.Amount != 1000 {
					t.Errorf("inquire: got %+v and %v, want %s", got, err, want)
				}
				if got := s.paths(); got != paths {
					t.Errorf("inquire: the host received %s, want %s", got, paths)
				}
			}
			void := func(want string) {
				t.Helper()
				got, err := s.Void(t.Context(), acquirer.Follow{
					Reference: "void", Drop: true, Original: about, Amount: 1000, Currency: "usd",
				})
				if result(got, err) != want {
					t.Errorf("void: got %+v and %v, want %s", got, err, want)
				}
				s.paths()
			}
			inquire("unknown", "") // without a time
			about.Tag, _ = s.Prepare(t.Context())
			s.clock.Advance(time.Minute - time.Second)
			inquire("unknown", "")
			s.clock.Advance(time.Second)
			inquire(c.inquiries[0], c.paths)
			void(c.voids[0])
			s.clock.Advance(24*time.Hour - time.Second) // since the first inquiry
			inquire(c.inquiries[0], c.paths)
			s.clock.Advance(time.Second)
			inquire(c.inquiries[1], c.paths)
			void(c.voids[1])
		})
	}
}

// TestVoidOfADecidedPayment: an operator has approved a payment whose id is unknown. Its void is
// approved only if the provider has voided it. A day later, a payment that the provider does not
// find is no proof.
func TestVoidOfADecidedPayment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind            acquirer.Kind
		void, reversal  string
		first, repeated string // outcomes of Void
	}{
		"sale":             {acquirer.Sale, voided, reversed, "approved", "approved"},
		"voided before":    {acquirer.Sale, voidedBefore, reversedBefore, "approved", "approved"},
		"no sale":          {acquirer.Sale, noMatch, "", "declined", "unknown"},
		"settled sale":     {acquirer.Sale, notVoidable, settled, "declined", "declined"},
		"half lost":        {acquirer.Sale, voided, "", "unknown", "unknown"},
		"authorization":    {acquirer.Authorization, "", reversed, "approved", "approved"},
		"reversed before":  {acquirer.Authorization, "", reversedBefore, "approved", "approved"},
		"no authorization": {acquirer.Authorization, "", noMatch, "declined", "unknown"},
		"missing":          {acquirer.Authorization, "", noAuth, "declined", "unknown"},
		"settled":          {acquirer.Authorization, "", settled, "declined", "declined"},
		"either way":       {acquirer.Authorization, "", eitherWay, "unknown", "unknown"},
		"no response":      {acquirer.Authorization, "", "", "unknown", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			s.respond(script{byVoid: c.void, byReversal: c.reversal})
			r := acquirer.Follow{
				Reference: "void", Amount: 1000, Currency: "usd",
				Original: acquirer.Sent{Kind: c.kind, Reference: "lost", Amount: 1000, Currency: "usd"},
			}
			r.Original.Tag, _ = s.Prepare(t.Context())
			if got, err := s.Void(t.Context(), r); result(got, err) != "unknown" || s.paths() != "" {
				t.Errorf("too early: got %+v and %v, want unknown", got, err)
			}
			for _, later := range []time.Duration{time.Minute, 24 * time.Hour} {
				s.clock.Advance(later)
				for again, want := range map[bool]string{false: c.first, true: c.repeated} {
					r.Again = again
					got, err := s.Void(t.Context(), r)
					if result(got, err) != want || got.Approved && got.Amount != 1000 {
						t.Errorf("after %s, again %t: got %+v and %v, want %s", later, again, got, err, want)
					}
				}
			}
		})
	}
}

// TestAgain: a repeated capture or refund is not sent again. It is undone.
func TestAgain(t *testing.T) {
	t.Parallel()
	type send func(context.Context, acquirer.Follow) (acquirer.Response, error)
	for name, send := range map[string]func(*scripted) send{
		"capture": func(s *scripted) send { return s.Capture }, "refund": func(s *scripted) send { return s.Refund },
	} {
		for response, want := range map[string]string{voided: "not_found", noMatch: "unknown", "": "unknown"} {
			s := newScripted(t)
			s.respond(script{"/pts/v2/voids": response})
			r := acquirer.Follow{
				Reference: "step", Again: true, Amount: 100, Currency: "usd",
				Original: acquirer.Sent{Kind: acquirer.Authorization, ID: "1"},
			}
			r.Tag, _ = s.Prepare(t.Context())
			if got, err := send(s)(t.Context(), r); result(got, err) != "unknown" || s.paths() != "" {
				t.Errorf("%s, too early: got %+v and %v, want unknown", name, got, err)
			}
			s.clock.Advance(time.Minute)
			got, err := send(s)(t.Context(), r)
			if result(got, err) != want {
				t.Errorf("%s, %s: got %+v and %v, want %s", name, response, got, err, want)
			}
			if body := s.sent(); !strings.Contains(body, `"transactionId":"`+providerb.TransactionID("step")+`"`) {
				t.Errorf("%s: the void names another operation: %s", name, body)
			}
			if paths := s.paths(); paths != "/pts/v2/voids" {
				t.Errorf("%s: the host received %s, want a timeout void", name, paths)
			}
		}
	}
}

// TestRefundThatStands: a refund that the provider does not find is without effect only if the
// payment's refundable rest does not show a refund.
func TestRefundThatStands(t *testing.T) {
	t.Parallel()
	const of2 = "/tss/v2/transactions/2"
	sale := acquirer.Sent{Kind: acquirer.Sale, ID: "1", Amount: 1000, Currency: "usd"}
	capture := acquirer.Sent{Kind: acquirer.Capture, ID: "2", Amount: 600, Currency: "usd"}
	nameless := capture
	nameless.ID = ""
	authorized := sale
	authorized.Kind = acquirer.Authorization
	rest := func(id, amount string) string {
		return `200 {"id":"` + id + `","status":"PENDING","orderInformation":{"amountDetails":{"refundBalance":"` + amount +
			`","currency":"USD"}}}`
	}
	for name, c := range map[string]struct {
		original acquirer.Sent
		captures []acquirer.Sent
		path     string
		details  string
		want     string
	}{
		"whole":                 {sale, nil, pathLook, rest("1", "10.00"), "not_found"},
		"refunded":              {sale, nil, pathLook, rest("1", "9.00"), "unknown"},
		"all refunded":          {sale, nil, pathLook, rest("1", "0.00"), "unknown"},
		"not shown":             {sale, nil, pathLook, `200 {"id":"1","status":"TRANSMITTED"}`, "unknown"},
		"not an amount":         {sale, nil, pathLook, rest("1", "all"), "unknown"},
		"of another":            {sale, nil, pathLook, rest("2", "10.00"), "unknown"},
		"no details":            {sale, nil, pathLook, "404 {}", "unknown"},
		"no response":           {sale, nil, pathLook, "", "unknown"},
		"capture":               {authorized, []acquirer.Sent{capture}, of2, rest("2", "6.00"), "not_found"},
		"refunded capture":      {authorized, []acquirer.Sent{capture}, of2, rest("2", "5.00"), "unknown"},
		"a late capture":        {capture, nil, of2, rest("2", "6.00"), "not_found"},
		"a refunded late one":   {capture, nil, of2, rest("2", "5.00"), "unknown"},
		"capture without an id": {authorized, []acquirer.Sent{nameless}, pathLook, rest("1", "10.00"), "unknown"},
	} {
		s := newScripted(t)
		s.respond(script{"/pts/v2/voids": noMatch, c.path: c.details})
		r := acquirer.Follow{
			Reference: "step", Again: true, Amount: 100, Currency: "usd", Original: c.original, Captures: c.captures,
		}
		r.Tag, _ = s.Prepare(t.Context())
		s.clock.Advance(23 * time.Hour)
		if got, err := s.Refund(t.Context(), r); result(got, err) != "unknown" {
			t.Errorf("%s, too early: got %+v and %v, want unknown", name, got, err)
		}
		s.clock.Advance(24 * time.Hour) // since this process missed it
		if got, err := s.Refund(t.Context(), r); result(got, err) != c.want {
			t.Errorf("%s: got %+v and %v, want %s", name, got, err, c.want)
		}
	}
}

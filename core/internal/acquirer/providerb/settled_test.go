package providerb_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// reportCases are the details of an operation of 10.00 US dollars, and the report that they make.
var reportCases = map[string]struct {
	kind    acquirer.Kind
	details string
	want    acquirer.Settlement
}{
	"settled sale":    {acquirer.Sale, stateOf("TRANSMITTED"), settles()},
	"settled, older":  {acquirer.Sale, older("TRANSMITTED"), settles()},
	"settled capture": {acquirer.Capture, capturedAs("TRANSMITTED", "10.00"), settles()},
	"other amount":    {acquirer.Capture, capturedAs("TRANSMITTED", "9.99"), fails("another amount")},
	"no amount":       {acquirer.Capture, stateOf("TRANSMITTED"), fails("another amount")},
	"pending":         {acquirer.Capture, capturedAs("PENDING", "10.00"), waits("PENDING")},
	"authorized sale": {acquirer.Sale, stateOf("AUTHORIZED"), waits("AUTHORIZED")},
	"voided":          {acquirer.Capture, capturedAs("VOIDED", "10.00"), fails("VOIDED")},
	"reversed":        {acquirer.Sale, stateOf("REVERSED"), fails("REVERSED")},
	"failed":          {acquirer.Sale, stateOf("FAILED"), fails("FAILED")},
	"another status":  {acquirer.Sale, stateOf("<b>4111111111111111"), waits("another status")},
	"no status":       {acquirer.Sale, stateOf(""), waits("another status")},
	"not found":       {acquirer.Sale, `404 {"message":"The requested resource does not exist"}`, waits("not found")},
	"no response":     {acquirer.Sale, "", waits("no response")},
	"busy":            {acquirer.Sale, "503 {}", waits("HTTP 503")},
	"no JSON":         {acquirer.Sale, "200 ok", waits("malformed response")},
	"another's":       {acquirer.Sale, `200 {"id":"2","status":"TRANSMITTED"}`, waits("malformed response")},
}

// The reports with a reason.
func settles() acquirer.Settlement {
	return acquirer.Settlement{State: acquirer.Settled, Reason: "TRANSMITTED"}
}

func fails(why string) acquirer.Settlement {
	return acquirer.Settlement{State: acquirer.SettlementFailed, Reason: why}
}

func waits(why string) acquirer.Settlement { return acquirer.Settlement{Reason: why} }

// capturedAs returns the details of a capture with a status.
func capturedAs(status, amount string) string {
	return strings.Replace(captured(amount, "USD"), "PENDING", status, 1)
}

// TestSettled: the status of an operation is its report. One that cannot be read delays no other.
func TestSettled(t *testing.T) {
	t.Parallel()
	for name, c := range reportCases {
		s := newScripted(t)
		const second = "/tss/v2/transactions/2"
		s.respond(script{pathLook: c.details, second: strings.Replace(older("TRANSMITTED"), `"id":"1"`, `"id":"2"`, 1)})
		of := acquirer.Sent{Kind: c.kind, ID: "1", Amount: 1000, Currency: "usd"}
		got, err := s.Settled(t.Context(), []acquirer.Sent{of, {Kind: acquirer.Sale, Amount: 1000, Currency: "usd"}, {
			Kind: acquirer.Sale, ID: "2", Amount: 1000, Currency: "usd",
		}})
		want := []acquirer.Settlement{c.want, waits("no id"), settles()}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
		for _, path := range strings.Fields(s.paths()) {
			if path != pathLook && path != second { // a broken GET can be sent twice
				t.Errorf("%s: the host received %s", name, path)
			}
		}
	}
}

// TestSettledEnds: after three failures in a row the connector sends no more requests, and returns
// the reports that it has.
func TestSettledEnds(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	s.respond(script{pathLook: stateOf("TRANSMITTED"), "/tss/v2/transactions/2": "500 {}"})
	good := acquirer.Sent{Kind: acquirer.Sale, ID: "1", Amount: 1000, Currency: "usd"}
	bad := good
	bad.ID = "2"
	got, err := s.Settled(t.Context(), []acquirer.Sent{bad, bad, good, bad, bad, bad, good})
	if err == nil || len(got) != 7 || got[2].State != acquirer.Settled || got[6] != (acquirer.Settlement{}) {
		t.Errorf("got %v, %v", got, err)
	}
	if n := len(strings.Fields(s.paths())); n != 6 {
		t.Errorf("the host received %d requests, want 6", n)
	}
}

// reports settles a sale and a capture of a running standalone, and reads their reports.
func reports(t *testing.T, a *account) {
	t.Helper()
	sale, _ := a.authorize(t, payment(1500, true))
	auth, _ := a.authorize(t, payment(1500, false))
	part := a.follow(t, a.Capture, acquirer.Follow{Original: auth, Amount: 900, Final: true}, true)
	part.Kind = acquirer.Capture
	voided, _ := a.authorize(t, payment(1500, true))
	a.follow(t, a.Void, acquirer.Follow{Original: voided, Amount: 1500}, true)
	of := []acquirer.Sent{sale, part, voided}
	want := func(when string, states ...acquirer.SettlementState) {
		t.Helper()
		got, err := a.Settled(t.Context(), of)
		if err != nil || len(got) != len(of) {
			t.Fatalf("%s: got %v, %v", when, got, err)
		}
		for i, s := range states {
			if got[i].State != s {
				t.Errorf("%s: got %v, want %q", when, got, states)
			}
		}
	}
	want("before the settlement", acquirer.Unreported, acquirer.Unreported, acquirer.SettlementFailed)
	a.settle(t, sale.ID)
	a.settle(t, auth.ID)
	want("after the settlement", acquirer.Settled, acquirer.Settled, acquirer.SettlementFailed)
}

// settle settles a payment of v1.
func (s *standalone) settle(t *testing.T, number string) {
	t.Helper()
	p := read[v1.Transaction](t, s, id.Transaction, "/v1/transactions/", number)
	path := "/v1/test_helpers/transactions/" + p.ID + "/settle"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.HTTP+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Keys.SKTest)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: HTTP %d", path, response.StatusCode)
	}
}

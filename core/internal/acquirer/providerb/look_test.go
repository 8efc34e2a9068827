package providerb_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// lookCases are the details of an operation of 10.00 US dollars. Its id is 1.
var lookCases = map[string]struct {
	kind    acquirer.Kind
	details string
	want    string
}{
	"authorized":      {acquirer.Authorization, stateOf("AUTHORIZED"), "approved"},
	"held":            {acquirer.Authorization, stateOf("AUTHORIZED_PENDING_REVIEW"), "approved"},
	"held sale":       {acquirer.Sale, stateOf("AUTHORIZED_PENDING_REVIEW"), "unknown"},
	"settled sale":    {acquirer.Sale, stateOf("TRANSMITTED"), "approved"},
	"reversed":        {acquirer.Authorization, stateOf("REVERSED"), "released"},
	"lapsed":          {acquirer.Authorization, stateOf("CANCELLED"), "released"},
	"voided sale":     {acquirer.Sale, stateOf("VOIDED"), "released"},
	"declined":        {acquirer.Sale, `200 {"id":"1","status":"DECLINED"}`, "declined"},
	"failed":          {acquirer.Refund, `200 {"id":"1","status":"FAILED"}`, "declined"},
	"another status":  {acquirer.Sale, stateOf("PENDING_REVIEW"), "unknown"},
	"no status":       {acquirer.Sale, stateOf(""), "unknown"},
	"not found":       {acquirer.Sale, `404 {"message":"The requested resource does not exist"}`, "unknown"},
	"no response":     {acquirer.Sale, "", "unknown"},
	"no JSON":         {acquirer.Sale, "200 ok", "unknown"},
	"refused":         {acquirer.Sale, `401 {"response":{"rmsg":"Authentication Failed"}}`, "unknown"},
	"another's":       {acquirer.Sale, `200 {"id":"2","status":"DECLINED"}`, "unknown"},
	"without amount":  {acquirer.Sale, `200 {"id":"1","status":"AUTHORIZED"}`, "unknown"},
	"other currency":  {acquirer.Capture, captured("10.00", "EUR"), "unknown"},
	"more":            {acquirer.Capture, captured("10.01", "USD"), "unknown"},
	"below zero":      {acquirer.Capture, captured("-10.00", "USD"), "unknown"},
	"captured":        {acquirer.Capture, captured("10.00", "USD"), "approved"},
	"older form":      {acquirer.Sale, older("AUTHORIZED"), "approved"},
	"older form, end": {acquirer.Sale, older("REVERSED"), "released"},
}

// captured returns the details of a capture.
func captured(amount, currency string) string {
	return `200 {"id":"1","status":"PENDING","orderInformation":{"amountDetails":` +
		`{"totalAmount":"` + amount + `","currency":"` + currency + `"}}}`
}

// older returns details whose status is only in applicationInformation.
func older(status string) string {
	return `200 {"id":"1","applicationInformation":{"status":"` + status + `"},"orderInformation":{"amountDetails":` +
		`{"totalAmount":"10.00","authorizedAmount":"10.00","currency":"USD"}}}`
}

// TestLook: an operation with an id has the state of its details. Nothing is sent to undo it.
func TestLook(t *testing.T) {
	t.Parallel()
	for name, c := range lookCases {
		s := newScripted(t)
		s.respond(script{pathLook: c.details})
		got, err := s.Inquire(t.Context(), acquirer.Sent{Kind: c.kind, ID: "1", Amount: 1000, Currency: "usd"})
		if result(got, err) != c.want || got.Approved && got.Amount != 1000 {
			t.Errorf("%s: got %+v and %v, want %s", name, got, err, c.want)
		}
		if !got.Approved && err == nil && got.DeclineCode == "" {
			t.Errorf("%s: a decline without a code", name)
		}
		if paths := s.paths(); paths != pathLook {
			t.Errorf("%s: the host received %s, want one inquiry", name, paths)
		}
	}
}

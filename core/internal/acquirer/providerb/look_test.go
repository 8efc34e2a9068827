package providerb_test

import (
	"errors"
	"strings"
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

// of returns details of the operation with an id instead of 1.
func of(id, details string) string {
	return strings.Replace(details, `"id":"1"`, `"id":"`+id+`"`, 1)
}

// voidedCases are the states of the operations that a void undoes. Their order is that of the
// inquiries.
var voidedCases = map[string]struct {
	kind   acquirer.Kind // of the payment
	states []string      // of the payment 1, or of its captures 2 and 3
	want   string
	stands string // the capture that the error names
}{
	"released":      {acquirer.Authorization, []string{stateOf("REVERSED")}, "approved", ""},
	"lapsed":        {acquirer.Authorization, []string{stateOf("CANCELLED")}, "approved", ""},
	"held":          {acquirer.Authorization, []string{stateOf("AUTHORIZED")}, "not_found", ""},
	"other capture": {acquirer.Authorization, []string{stateOf("TRANSMITTED")}, "not_found", ""},
	"voided sale":   {acquirer.Sale, []string{stateOf("VOIDED")}, "approved", ""},
	"settled sale":  {acquirer.Sale, []string{stateOf("TRANSMITTED")}, "not_found", ""},
	"new status":    {acquirer.Sale, []string{stateOf("HALTED")}, "undecided", ""},
	"no response":   {acquirer.Sale, []string{""}, "unknown", ""},
	"not shown yet": {acquirer.Sale, []string{"404 {}"}, "unknown", ""},
	"both voided":   {acquirer.Authorization, []string{ended("2", "VOIDED"), ended("3", "VOIDED")}, "approved", ""},
	"both taken":    {acquirer.Authorization, []string{ended("2", "PENDING"), ended("3", "TRANSMITTED")}, "not_found", ""},
	"one voided":    {acquirer.Authorization, []string{ended("2", "VOIDED"), ended("3", "TRANSMITTED")}, "undecided", "3"},
	"other voided":  {acquirer.Authorization, []string{ended("2", "PENDING"), ended("3", "VOIDED")}, "undecided", "2"},
}

// ended returns the details of a capture.
func ended(id, status string) string {
	return strings.Replace(of(id, captured("10.00", "USD")), "PENDING", status, 1)
}

// TestInquireVoid: a void has the state of the captures that it undoes, and without one that of the
// payment. The void may have an id. The inquiry sends nothing to undo them.
func TestInquireVoid(t *testing.T) {
	t.Parallel()
	for name, c := range voidedCases {
		for _, id := range []string{"", "9"} {
			s := newScripted(t)
			responses := script{}
			void := acquirer.Sent{Kind: acquirer.Void, Reference: "void", ID: id, Amount: 1000, Currency: "usd"}
			void.Follow = &acquirer.Follow{
				Original: acquirer.Sent{Kind: c.kind, ID: "1", Amount: 1000, Currency: "usd"},
			}
			for i, state := range c.states {
				id := "1"
				if len(c.states) > 1 {
					id = []string{"2", "3"}[i]
					void.Follow.Captures = append(void.Follow.Captures,
						acquirer.Sent{Kind: acquirer.Capture, ID: id, Amount: 1000, Currency: "usd"})
				}
				responses["/tss/v2/transactions/"+id] = state
			}
			s.respond(responses)
			got, err := s.Inquire(t.Context(), void)
			outcome := result(got, err)
			if errors.Is(err, acquirer.ErrUndecided) {
				outcome = "undecided"
			}
			if c.stands != "" && !strings.HasSuffix(err.Error(), "not the capture "+c.stands) {
				t.Errorf("%s: got %v, want the capture that stands", name, err)
			}
			if outcome != c.want || got.Approved && (got.Amount != 1000 || got.Released) {
				t.Errorf("%s, id %q: got %+v and %v, want %s", name, id, got, err, c.want)
			}
			if paths := s.paths(); len(strings.Fields(paths)) != len(c.states) {
				t.Errorf("%s: the host received %s, want an inquiry for each", name, paths)
			}
		}
	}
}

// TestInquireVoidWithoutID: the voided sale has no id, so no inquiry can decide. Nothing is sent:
// without an id the provider would undo the sale.
func TestInquireVoidWithoutID(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	sale := acquirer.Sent{
		Kind: acquirer.Sale, Reference: "sale", Tag: "2026-11-30T11:00:00Z", Amount: 1000, Currency: "usd",
	}
	got, err := s.Inquire(t.Context(), acquirer.Sent{
		Kind: acquirer.Void, Amount: 1000, Currency: "usd", Follow: &acquirer.Follow{Original: sale},
	})
	if paths := s.paths(); !errors.Is(err, acquirer.ErrUndecided) || paths != "" {
		t.Errorf("got %+v and %v, and requests %q, want undecided and none", got, err, paths)
	}
}

package providera

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// reference is a reference of the engine.
const reference = "txn_01jd8m3k2q4r5"

func visa() acquirer.Source {
	return acquirer.Source{Card: acquirer.Card{
		Number: secret.New("4111111111111111"), CVC: secret.New("900"), ExpMonth: 4, ExpYear: 2031,
	}}
}

func token() acquirer.Source {
	return acquirer.Source{NetworkToken: acquirer.NetworkToken{
		Number: secret.New("4895370012003478"), Cryptogram: secret.New("AgAAAAAABk4DWZ4C28yUQAAAAAA="), ExpMonth: 12,
		ExpYear: 2030, ECI: "05", RequestorID: "40010030273",
	}}
}

func checking(kind string) acquirer.Source {
	return acquirer.Source{BankAccount: acquirer.BankAccount{
		Number: secret.New("000123456789"), RoutingNumber: "244183602", Type: kind, Holder: "Ana Maria Ruiz Gonzalez",
	}}
}

func billing() acquirer.Billing {
	return acquirer.Billing{
		FirstName: "Åna", LastName: "Ruiz & Söhne", Company: "Ruiz <Ltd>", AddressLine: "1 Elm St", AddressLine2: "Flat 2",
		City: "Seattle", State: "WA", PostalCode: "98004", Country: "US", Email: "ana@example.org", Phone: "+1 206 555 0100",
	}
}

func pay(source acquirer.Source, change func(*acquirer.Authorize)) acquirer.Authorize {
	r := acquirer.Authorize{Reference: reference, Amount: 1999, Currency: "usd", Source: source}
	if change != nil {
		change(&r)
	}
	return r
}

const orderDetails = `{"purchase_order_number":"PO-1234567890-1234567890-1234567890","tax_amount":120,` +
	`"tax_exempt":false,` +
	`"duty_amount":0,"shipping_amount":499,"discount_amount":50,"line_items":[` +
	`{"name":"A mug with a very long name that the API cuts","quantity":"2","unit_price":"6.25","taxable":true,` +
	`"id":"sku-1","description":"blue"},{"name":"tea","quantity":"0.5","unit_price":"3.3333"}]}`

// payments are the payments of the golden files, by the name of the file.
func payments() map[string]acquirer.Authorize {
	initiated := func(by, reason, earlier string) acquirer.Authorize {
		return pay(visa(), func(r *acquirer.Authorize) {
			r.Initiator = acquirer.Initiator{Type: by, Reason: reason, PreviousNetworkTransactionID: earlier}
		})
	}
	return map[string]acquirer.Authorize{
		"authorize": pay(visa(), func(r *acquirer.Authorize) { r.Billing = billing() }),
		"sale":      pay(visa(), func(r *acquirer.Authorize) { r.Capture, r.Partial = true, true }),
		"sale-long-reference": pay(visa(), func(r *acquirer.Authorize) {
			r.Capture, r.Reference = true, reference+"_1000"
		}),
		"verification": pay(visa(), func(r *acquirer.Authorize) { r.Amount, r.Capture = 0, true }),
		"yen":          pay(visa(), func(r *acquirer.Authorize) { r.Currency = "jpy" }),
		"prior-code":   pay(visa(), func(r *acquirer.Authorize) { r.PriorCode, r.Capture = "A1B2C3", true }),
		"token":        pay(token(), func(r *acquirer.Authorize) { r.Capture = true }),
		"token-without-cryptogram": pay(token(), func(r *acquirer.Authorize) {
			r.NetworkToken.Cryptogram, r.NetworkToken.ECI, r.NetworkToken.RequestorID = secret.String{}, "", ""
		}),
		"bank-checking": pay(checking("checking"), func(r *acquirer.Authorize) { r.Capture = true }),
		"bank-savings":  pay(checking("savings"), func(r *acquirer.Authorize) { r.Capture = true }),
		"bank-business": pay(checking("business_checking"), func(r *acquirer.Authorize) { r.Capture = true }),
		"three-d-secure": pay(visa(), func(r *acquirer.Authorize) {
			r.ThreeDSecure = acquirer.ThreeDSecure{ECI: "05", CAVV: secret.New("jJ81HADVRtXfCBATEp01CJUAAAA="), Version: "2.2.0"}
		}),
		"three-d-secure-without-value": pay(visa(), func(r *acquirer.Authorize) { r.ThreeDSecure.ECI = "07" }),
		"first-recurring":              initiated("customer", "recurring", ""),
		"first-unscheduled":            initiated("customer", "unscheduled", ""),
		"customer":                     initiated("customer", "", ""),
		"recurring":                    initiated("merchant", "recurring", "B8C3M0R5T7V1X9Z2L4N6PQW"),
		"unscheduled":                  initiated("merchant", "unscheduled", ""),
		"delayed-charge":               initiated("merchant", "delayed_charge", "not alphanumeric!"),
		"order": pay(visa(), func(r *acquirer.Authorize) {
			r.Order = acquirer.Order{
				Reference: "order 77", Description: strings.Repeat("Two mugs. ", 40), StatementDescriptor: "RUIZ MUGS",
				Details: []byte(orderDetails),
			}
		}),
	}
}

// TestEncode compares each request with its golden file, which the reference bindings of the
// provider's schema accept.
func TestEncode(t *testing.T) {
	t.Parallel()
	all := map[string]func() (transaction, error){}
	for name, r := range payments() {
		all[name] = func() (transaction, error) { return encodeAuthorize(r) }
	}
	follow := acquirer.Follow{Reference: "re_01jd8m3k2q4r5", Amount: 500, Currency: "usd", Last4: "1111"}
	all["capture"] = func() (transaction, error) { return encodeCapture(follow, "60410000130") }
	all["void"] = func() (transaction, error) { return encodeVoid("60410000130"), nil }
	all["refund"] = func() (transaction, error) {
		return encodeRefund(follow, "60410000130", payment{Card: &creditCard{Number: "XXXX1111", Expiration: hiddenMonth}})
	}
	all["refund-bank"] = func() (transaction, error) {
		return encodeRefund(follow, "60410000130", payment{Bank: &bankAccount{
			Type: "checking", Routing: "XXXX3602", Number: "XXXX6789", Holder: "Ana Ruiz",
		}})
	}
	for name, source := range map[string]acquirer.Source{
		"credit": visa(), "credit-token": token(), "credit-bank": checking("checking"),
		"credit-bank-business": checking("business_checking"),
	} {
		all[name] = func() (transaction, error) {
			return encodeCredit(acquirer.Credit{
				Reference: "re_01jd8m3k2q4r5", Amount: 500, Currency: "usd", Source: source,
				Order: acquirer.Order{Reference: "return 5"},
			})
		}
	}
	for name, build := range all {
		made, err := build()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden(t, name, createTransactionRequest{Login: demo, RefID: made.refID(), Transaction: made})
	}
	page := paging{Limit: pageSize, Page: 2}
	golden(t, "check", authenticateTestRequest{Login: demo})
	golden(t, "details", detailsRequest{Login: demo, ID: "60410000130"})
	golden(t, "unsettled", unsettledListRequest{Login: demo, Sorting: oldestFirst, Paging: page})
	golden(t, "batches", batchListRequest{Login: demo, First: "2026-03-02T15:00:00Z", Last: "2026-03-09T15:00:00Z"})
	golden(t, "batch", transactionListRequest{Login: demo, Batch: "7", Sorting: oldestFirst, Paging: page})
}

var demo = login{"demoLogin1", "demoKey000000001"}

func (t transaction) refID() string {
	if t.Order == nil {
		return "cap_01jd8m3k2q4r5"
	}
	return t.Order.Invoice
}

func golden(t *testing.T, name string, request any) {
	t.Helper()
	got, err := encode(request)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	path := filepath.Join("testdata", "requests", name+".xml")
	if flag.Lookup("update").Value.String() == "true" { // coretest has the flag
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %v: got\n%s\nwant\n%s", name, err, got, want)
	}
}

// TestEncodeRefuses: a request that the API has no form for is not sent.
func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*acquirer.Authorize){
		"no source":        func(r *acquirer.Authorize) { r.Source = acquirer.Source{} },
		"no currency":      func(r *acquirer.Authorize) { r.Currency = "xxx" },
		"negative amount":  func(r *acquirer.Authorize) { r.Amount = -1 },
		"broken order":     func(r *acquirer.Authorize) { r.Order.Details = []byte(`{"tax_amount":"x"}`) },
		"negative tax":     func(r *acquirer.Authorize) { r.Order.Details = []byte(`{"tax_amount":-1}`) },
		"negative savings": func(r *acquirer.Authorize) { r.Order.Details = []byte(`{"discount_amount":-1}`) },
	} {
		if _, err := encodeAuthorize(pay(visa(), change)); err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "4111") {
			t.Errorf("%s: the error has the number: %v", name, err)
		}
	}
}

// TestInvoiceNumber: the references of the engine that need a search are their own invoice numbers,
// and longer ones keep apart.
func TestInvoiceNumber(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, r := range []string{
		reference, reference + "_2", reference + "_99", reference + "_100", reference + "_101", "cap_01jd8m3k2q4r5",
		"re_01jd8m3k2q4r5", "void_01jd8m3k2q4r5_01jd8m3k2q4r6", "void_01jd8m3k2q4r5_01jd8m3k2q4r7", "part_01jd8m3k2q4r5_2",
		"reverse_txn_01jd8m3k2q4r5", "reverse_txn_01jd8m3k2q4r5_r1", "late_txn_01jd8m3k2q4r5",
	} {
		got := invoiceNumber(r)
		if len(r) <= longestInvoice && got != r || len(got) > longestInvoice || seen[got] != "" {
			t.Errorf("%s: got %q, as %q", r, got, seen[got])
		}
		seen[got] = r
	}
}

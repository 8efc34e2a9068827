package providera

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	bom  = "\xef\xbb\xbf"
	okay = "<messages><resultCode>Ok</resultCode><message><code>I00001</code><text>Successful.</text></message></messages>"
	bad  = "<messages><resultCode>Error</resultCode><message><code>E00027</code>" +
		"<text>The transaction was unsuccessful.</text></message></messages>"
)

// wrap returns a document of a method.
func wrap(root, inside string) string {
	return bom + `<?xml version="1.0" encoding="utf-8"?><` + root +
		` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="` +
		namespace + `">` + inside + `</` + root + `>`
}

// outcomeOf returns the response to a transaction.
func outcomeOf(messages, inside string) string {
	return wrap("createTransactionResponse",
		"<refId>"+reference+"</refId>"+messages+"<transactionResponse>"+inside+"</transactionResponse>")
}

// The parts of an approval, in the contract's form.
const (
	head  = `<responseCode>1</responseCode><authCode>K7Q2ZD</authCode><avsResultCode>Y</avsResultCode>`
	codes = `<cvvResultCode>M</cvvResultCode><cavvResultCode>2</cavvResultCode>`
	ids   = `<transId>60410000123</transId><refTransID /><transHash /><testRequest>0</testRequest>`
	card  = `<accountNumber>XXXX1111</accountNumber><accountType>Visa</accountType>`
	yes   = `<messages><message><code>1</code><description>This transaction has been approved.</description></message></messages>`
	tail  = `<transHashSha2 /><networkTransId>Q4D8ZK1T0V7MB2X9RJ5CYWN</networkTransId>`
	whole = head + codes + ids + card + yes + tail
)

func errorOf(response, reason, inside string) string {
	return "<responseCode>" + response + "</responseCode><authCode />" + inside +
		"<errors><error><errorCode>" + reason + "</errorCode><errorText>text</errorText></error></errors>"
}

func asked(kind acquirer.Kind) question {
	q := question{
		kind: kind, refID: reference, amount: 1999, currency: "usd", now: time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC),
	}
	switch kind {
	case acquirer.Authorization, acquirer.Sale:
		q.account, q.given = secret.New("4111111111111111"), given{true, true, true}
	case acquirer.Capture, acquirer.Void, acquirer.Refund:
		q.original = "60410000130"
	case acquirer.UnlinkedRefund:
	}
	return q
}

func follow(reason, transaction, original string) string {
	return `<responseCode>1</responseCode><authCode>T3B9LW</authCode><avsResultCode>P</avsResultCode><transId>` + transaction +
		`</transId><refTransID>` + original + `</refTransID><testRequest>0</testRequest>` +
		`<messages><message><code>` + reason + `</code></message></messages>`
}

// TestDecode: what a response proves. text is the outcome in short: approved with the id and amount,
// declined with the codes, unavailable, duplicate or unknown.
func TestDecode(t *testing.T) {
	t.Parallel()
	const (
		auth, sale, capture, void = acquirer.Authorization, acquirer.Sale, acquirer.Capture, acquirer.Void
		refund, credit            = acquirer.Refund, acquirer.UnlinkedRefund
	)
	partial := strings.Replace(strings.Replace(whole, "<responseCode>1<", "<responseCode>4<", 1), "<code>1<", "<code>295<", 1)
	prepaid := func(requested, approved, balance string) string {
		return "<prePaidCard><requestedAmount>" + requested + "</requestedAmount><approvedAmount>" + approved +
			"</approvedAmount><balanceOnCard>" + balance + "</balanceOnCard></prePaidCard>"
	}
	for name, c := range map[string]struct {
		kind acquirer.Kind
		body string
		want string
	}{
		"approved":          {auth, outcomeOf(okay, whole), "approved 60410000123 1999"},
		"sale":              {sale, outcomeOf(okay, whole), "approved 60410000123 1999"},
		"without a BOM":     {auth, strings.TrimPrefix(outcomeOf(okay, whole), bom), "approved 60410000123 1999"},
		"a part":            {sale, outcomeOf(okay, partial+prepaid("19.99", "1.23", "0.00")), "approved 60410000123 123 balance 0"},
		"a whole, prepaid":  {sale, outcomeOf(okay, whole+prepaid("19.99", "19.99", "-1.23")), "approved 60410000123 1999 balance -123"},
		"a part, unnamed":   {sale, outcomeOf(okay, partial), "unknown"},
		"a part of nothing": {sale, outcomeOf(okay, partial+prepaid("19.99", "0.00", "0.00")), "unknown"},
		"more than a whole": {sale, outcomeOf(okay, partial+prepaid("19.99", "20.00", "0.00")), "unknown"},
		"another request":   {sale, outcomeOf(okay, partial+prepaid("20.00", "1.23", "0.00")), "unknown"},
		"a part as a whole": {sale, outcomeOf(okay, whole+prepaid("19.99", "1.23", "0.00")), "unknown"},

		"declined":           {auth, outcomeOf(okay, errorOf("2", "2", ids)), "declined 60410000123 generic_decline 05"},
		"declined, as error": {auth, outcomeOf(bad, errorOf("2", "2", ids)), "declined 60410000123 generic_decline 05"},
		"filtered":           {auth, outcomeOf(okay, errorOf("2", "65", ids+tail)), "declined 60410000123 incorrect_cvc N7"},
		"expired":            {auth, outcomeOf(bad, errorOf("3", "8", "<transId>0</transId>")), "declined  expired_card 54"},
		"retryable":          {auth, outcomeOf(okay, errorOf("2", "209", ids)), "declined 60410000123 processing_error 91"},
		"wrong account":      {auth, outcomeOf(bad, errorOf("3", "35", "")), "unavailable"},
		"system error":       {auth, outcomeOf(bad, errorOf("3", "19", "")), "unknown"},
		"duplicate":          {auth, outcomeOf(bad, errorOf("3", "11", "")), "duplicate"},
		"duplicate there":    {auth, outcomeOf(bad, errorOf("3", "318", "")), "duplicate"},
		"unknown reason":     {auth, outcomeOf(okay, errorOf("2", "999", ids)), "unknown"},
		"unreadable reason":  {auth, outcomeOf(okay, errorOf("2", "x", ids)), "unknown"},
		"two reasons":        {auth, outcomeOf(bad, errorOf("3", "6", "")+"<errors><error><errorCode>8</errorCode></error></errors>"), "declined  card_not_supported 14"},
		"two classes":        {auth, outcomeOf(bad, errorOf("3", "6", "")+"<errors><error><errorCode>19</errorCode></error></errors>"), "unknown"},
		"held":               {auth, outcomeOf(okay, strings.Replace(partial, "295", "253", 1)), "unknown"},
		"unknown response":   {auth, outcomeOf(okay, strings.Replace(whole, "<responseCode>1<", "<responseCode>5<", 1)), "unknown"},

		"no number":          {auth, outcomeOf(okay, strings.Replace(whole, "60410000123", "0", 1)), "unknown"},
		"no digits":          {auth, outcomeOf(okay, strings.Replace(whole, "60410000123", "6041000012x", 1)), "unknown"},
		"another reference":  {auth, strings.Replace(outcomeOf(okay, whole), reference, "txn_01jd8m3k2q4r6", 1), "unknown"},
		"no reference":       {auth, strings.Replace(outcomeOf(okay, whole), "<refId>"+reference+"</refId>", "", 1), "unknown"},
		"another card":       {auth, outcomeOf(okay, strings.Replace(whole, "XXXX1111", "XXXX1112", 1)), "unknown"},
		"another original":   {auth, outcomeOf(okay, strings.Replace(whole, "<refTransID />", "<refTransID>7</refTransID>", 1)), "unknown"},
		"approved as error":  {auth, outcomeOf(bad, whole), "unknown"},
		"errors of approval": {auth, outcomeOf(okay, whole+"<errors><error><errorCode>2</errorCode></error></errors>"), "unknown"},
		"declined with approval": {
			auth, outcomeOf(okay, errorOf("2", "2", ids)+yes), "unknown",
		},
		"repeated number": {auth, outcomeOf(okay, whole+"<transId>60410000124</transId>"), "unknown"},
		"repeated outcome": {
			auth, strings.Replace(outcomeOf(okay, whole), "</createTransactionResponse>",
				"<transactionResponse><responseCode>2</responseCode></transactionResponse></createTransactionResponse>", 1), "unknown",
		},
		"test mode": {auth, outcomeOf(okay, strings.NewReplacer("60410000123", "0", "<testRequest>0", "<testRequest>1").Replace(whole)), "unavailable"},

		"captured":             {capture, outcomeOf(okay, follow("1", "60410000130", "60410000130")), "approved 60410000130 1999"},
		"captured another":     {capture, outcomeOf(okay, follow("1", "60410000131", "60410000130")), "unknown"},
		"captured for another": {capture, outcomeOf(okay, follow("1", "60410000130", "60410000131")), "unknown"},
		"captured before":      {capture, outcomeOf(okay, follow("311", "0", "60410000130")), "declined  processing_error 12"},
		"captured the voided":  {capture, outcomeOf(okay, follow("310", "0", "60410000130")), "declined  processing_error 12"},
		"captured too much":    {capture, outcomeOf(bad, errorOf("3", "47", "")), "declined  processing_error 13"},
		"voided":               {void, outcomeOf(okay, follow("1", "60410000130", "60410000130")), "approved 60410000130 1999"},
		"voided before":        {void, outcomeOf(okay, follow("310", "0", "60410000130")), "approved 60410000130 1999"},
		"voided another":       {void, outcomeOf(okay, follow("310", "0", "60410000131")), "unknown"},
		"voided the captured":  {void, outcomeOf(okay, follow("311", "0", "60410000130")), "unknown"},
		"voided too late":      {void, outcomeOf(bad, errorOf("3", "327", "")), "declined  processing_error 12"},
		"refunded":             {refund, outcomeOf(okay, follow("1", "60410000140", "60410000130")), "approved 60410000140 1999"},
		"refunded itself":      {refund, outcomeOf(okay, follow("1", "60410000130", "60410000130")), "unknown"},
		"refunded before":      {refund, outcomeOf(okay, follow("310", "0", "60410000130")), "unknown"},
		"refunded too early":   {refund, outcomeOf(bad, errorOf("3", "54", "")), "declined  processing_error 12"},
		"credited":             {credit, outcomeOf(okay, follow("1", "60410000140", "")), "approved 60410000140 1999"},
		"credited an original": {credit, outcomeOf(okay, follow("1", "60410000140", "60410000130")), "unknown"},
		"paid the voided":      {auth, outcomeOf(okay, follow("310", "60410000140", "")), "unknown"},

		"wrong login":         {auth, wrap("createTransactionResponse", "<refId>"+reference+"</refId>"+strings.Replace(bad, "E00027", "E00007", 1)+"<transactionResponse />"), "unavailable"},
		"schema":              {auth, wrap("ErrorResponse", strings.Replace(bad, "E00027", "E00003", 1)), "declined  processing_error 30"},
		"busy":                {auth, wrap("ErrorResponse", strings.Replace(bad, "E00027", "E00053", 1)), "unavailable"},
		"processing":          {auth, wrap("ErrorResponse", strings.Replace(bad, "E00027", "E00001", 1)), "unknown"},
		"no reason":           {auth, wrap("createTransactionResponse", bad), "unknown"},
		"unknown code":        {auth, wrap("createTransactionResponse", strings.Replace(bad, "E00027", "E99999", 1)), "unknown"},
		"success of nothing":  {auth, wrap("createTransactionResponse", okay), "unknown"},
		"code of success":     {auth, wrap("createTransactionResponse", strings.Replace(okay, "I00001", "E00007", 1)), "unknown"},
		"error with an error": {auth, outcomeOf(strings.Replace(bad, "E00027", "E00001", 1), errorOf("2", "2", ids)), "unknown"},

		"empty":              {auth, "", "unknown"},
		"only a BOM":         {auth, bom, "unknown"},
		"a page":             {auth, "<html><body>502 Bad Gateway</body></html>", "unknown"},
		"JSON":               {auth, `{"messages":{"resultCode":"Ok"}}`, "unknown"},
		"truncated":          {auth, outcomeOf(okay, whole)[:900], "unknown"},
		"two documents":      {auth, outcomeOf(okay, whole) + "<x/>", "unknown"},
		"other namespace":    {auth, strings.Replace(outcomeOf(okay, whole), namespace, "urn:x", 1), "unknown"},
		"other method":       {auth, strings.ReplaceAll(outcomeOf(okay, whole), "createTransactionResponse", "getTransactionDetailsResponse"), "unknown"},
		"no result code":     {auth, strings.Replace(outcomeOf(okay, whole), "<resultCode>Ok</resultCode>", "", 1), "unknown"},
		"case of the result": {auth, strings.Replace(outcomeOf(okay, whole), ">Ok<", ">OK<", 1), "unknown"},
	} {
		a, err := decode(asked(c.kind), []byte(c.body))
		if got := inShort(a, err); got != c.want {
			t.Errorf("%s: got %q, want %q (%v)", name, got, c.want, err)
		}
	}
}

// inShort returns an outcome as the tables of this package have it.
func inShort(a acquirer.Response, err error) string {
	released := ""
	if a.Released {
		released = " released"
	}
	if a.Balance.Given {
		released += fmt.Sprintf(" balance %d", a.Balance.Amount)
	}
	switch {
	case errors.Is(err, errDuplicate):
		return "duplicate"
	case err != nil && errors.Is(err, acquirer.ErrUnavailable) && errors.Is(err, acquirer.ErrUnknown):
		return "two classes"
	case err != nil && a != (acquirer.Response{}):
		return "a response and an error"
	case err != nil:
		return acquirer.Outcome(a, err)
	case a.Approved && a.ResponseCode == isoApproved && a.DeclineCode == "":
		return fmt.Sprintf("approved %s %d%s", a.ID, a.Amount, released)
	case a.Approved || a.Amount != 0 || a.Released:
		return fmt.Sprintf("inconsistent: %+v", a)
	}
	return fmt.Sprintf("declined %s %s %s", a.ID, a.DeclineCode, a.ResponseCode)
}

// TestDecodeFields checks the data of an approval and of a decline by a filter.
func TestDecodeFields(t *testing.T) {
	t.Parallel()
	got, err := decode(asked(acquirer.Authorization), []byte(outcomeOf(okay, whole)))
	want := acquirer.Response{
		Approved: true, ID: "60410000123", Code: "K7Q2ZD", NetworkTransactionID: "Q4D8ZK1T0V7MB2X9RJ5CYWN", ResponseCode: "00",
		Amount: 1999, ExpiresAt: time.Date(2026, 4, 1, 15, 0, 0, 0, time.UTC),
		Checks: acquirer.Checks{
			CVC: "match", AddressLine: "match", PostalCode: "match", Codes: acquirer.ResultCodes{AVS: "Y", CVC: "M", CAVV: "2"},
		},
	}
	if err != nil || got != want {
		t.Errorf("approval: got %+v, %v, want %+v", got, err, want)
	}
	filtered := strings.NewReplacer("<authCode />", "<authCode>K7Q2ZD</authCode>").Replace(errorOf("2", "27", ids+codes+tail))
	q := asked(acquirer.Sale)
	q.given = given{cvc: true}
	got, err = decode(q, []byte(outcomeOf(okay, filtered)))
	want = acquirer.Response{
		ID: "60410000123", Code: "K7Q2ZD", NetworkTransactionID: "Q4D8ZK1T0V7MB2X9RJ5CYWN", ResponseCode: "05",
		DeclineCode: "incorrect_address",
		Checks: acquirer.Checks{
			CVC: "match", AddressLine: "not_provided", PostalCode: "not_provided", Codes: acquirer.ResultCodes{CVC: "M", CAVV: "2"},
		},
	}
	if err != nil || got != want {
		t.Errorf("decline: got %+v, %v, want %+v", got, err, want)
	}
}

// TestChecks: each AVS code has its results, as the contract lists them.
func TestChecks(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"A": "match no_match", "B": "not_provided not_provided", "E": "unavailable unavailable", "G": "unavailable unavailable",
		"N": "no_match no_match", "P": "not_processed not_processed", "R": "unavailable unavailable", "S": "unavailable unavailable",
		"U": "unavailable unavailable", "W": "no_match match", "X": "match match", "Y": "match match", "Z": "no_match match",
		"": "not_processed not_processed", "?": "not_processed not_processed", "YY": "not_processed not_processed",
	} {
		c := checksOf(text{value: code}, text{}, text{}, given{line: true, postal: true})
		if got := c.AddressLine + " " + c.PostalCode; got != want {
			t.Errorf("AVS %q: got %s, want %s", code, got, want)
		}
		if wantCode := len(code) == 1 && code != "?"; (c.Codes.AVS == code) != (wantCode || code == "") {
			t.Errorf("AVS %q: got the result code %q", code, c.Codes.AVS)
		}
	}
	for code, want := range map[string]string{
		"M": "match", "N": "no_match", "P": "not_processed", "S": "not_provided", "U": "unavailable", "": "not_processed",
	} {
		if got := checksOf(text{}, text{value: code}, text{}, given{cvc: true}).CVC; got != want {
			t.Errorf("CVC %q: got %s, want %s", code, got, want)
		}
	}
}

// FuzzDecode: no response of any form approves a payment under another number, reference or amount,
// and no error shows text of the response.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/requests/*.xml")
	if err != nil || len(files) == 0 {
		f.Fatal("no corpus", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, body := range []string{
		outcomeOf(okay, whole), outcomeOf(okay, errorOf("2", "2", ids)), outcomeOf(bad, errorOf("3", "11", "")),
		outcomeOf(okay, follow("311", "0", "60410000130")), wrap("ErrorResponse", strings.Replace(bad, "E00027", "E00003", 1)),
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, kind := range []acquirer.Kind{
			acquirer.Authorization, acquirer.Sale, acquirer.Capture, acquirer.Void, acquirer.Refund, acquirer.UnlinkedRefund,
		} {
			q := asked(kind)
			a, err := decode(q, body)
			switch short := inShort(a, err); {
			case short == "two classes", strings.HasPrefix(short, "a response"), strings.HasPrefix(short, "inconsistent"):
				t.Errorf("%s: %s", kind, short)
			case a.Approved && (a.ID == "" || a.ID == "0" || a.Amount > q.amount || len(a.ID) > 64 || len(a.Code) > 6):
				t.Errorf("%s: approved %+v", kind, a)
			case (kind == acquirer.Capture || kind == acquirer.Void) && a.Approved && a.ID != q.original:
				t.Errorf("%s: approved another transaction: %+v", kind, a)
			}
		}
	})
}

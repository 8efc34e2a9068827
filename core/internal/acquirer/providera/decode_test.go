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
	yes   = `<messages><message><code>1</code><description>approved</description></message></messages>`
	tail  = `<transHashSha2 /><networkTransId>Q4D8ZK1T0V7MB2X9RJ5CYWN</networkTransId>`
	whole = head + codes + ids + card + yes + tail
)

func errorOf(response, reason, inside string) string {
	return "<responseCode>" + response + "</responseCode><authCode />" + inside +
		"<errors><error><errorCode>" + reason + "</errorCode><errorText>text</errorText></error></errors>"
}

// TestOwnCode: a decline has the provider's own reason, or the code of a response without one.
func TestOwnCode(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]string{
		"54":     outcomeOf(bad, errorOf("3", "54", "")),
		"E00013": envelope("createTransactionResponse", "E00013"),
	} {
		a, err := decode(asked(acquirer.Refund), []byte(body))
		if err != nil || a.Approved || a.OwnCode != want {
			t.Errorf("got %+v, %v, want the code %s", a, err, want)
		}
	}
}

// TestRetryable: a decline is retryable if each of its reasons has the response code of a system
// that was away, and the processor declined.
func TestRetryable(t *testing.T) {
	t.Parallel()
	both := func(first, second string) string {
		more := "</error><error><errorCode>" + second + "</errorCode><errorText>text</errorText></error>"
		return strings.Replace(errorOf("2", first, ids), "</error>", more, 1)
	}
	for inside, want := range map[string]bool{
		errorOf("2", "209", ids): true,
		errorOf("2", "224", ids): true,
		errorOf("2", "2", ids):   false,
		errorOf("2", "4", ids):   false,
		errorOf("3", "209", ids): false,
		both("209", "214"):       true,
		both("209", "2"):         false,
		both("2", "209"):         false,
	} {
		a, err := decode(asked(acquirer.Authorization), []byte(outcomeOf(okay, inside)))
		if err != nil || a.Approved || a.Retryable != want {
			t.Errorf("%s: got %+v, %v, want retryable: %t", inside, a, err, want)
		}
	}
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
	return `<responseCode>1</responseCode><authCode>T3B9LW</authCode><avsResultCode>P</avsResultCode>` +
		`<transId>` + transaction + `</transId><refTransID>` + original + `</refTransID><testRequest>0</testRequest>` +
		`<messages><message><code>` + reason + `</code></message></messages>`
}

// The kinds of requests, in short.
const (
	auth, sale, captureKind, voidKind = acquirer.Authorization, acquirer.Sale, acquirer.Capture, acquirer.Void
	refundKind, creditKind            = acquirer.Refund, acquirer.UnlinkedRefund
)

// decoding is a response to a request of a kind, and its outcome in short. An approval has the id
// and amount, a decline the id and codes. Other outcomes are a word.
type decoding struct {
	kind acquirer.Kind
	body string
	want string
}

const approval = "approved 60410000123 1999"

// changed is the response of an approval with a change.
func changed(from, into string) string { return strings.Replace(outcomeOf(okay, whole), from, into, 1) }

// envelope is a response without a transaction.
func envelope(root, code string) string { return wrap(root, strings.Replace(bad, "E00027", code, 1)) }

// more is a further error of a transaction.
func more(reason string) string {
	return "<errors><error><errorCode>" + reason + "</errorCode></error></errors>"
}

// partial is an approval of a part.
func partial(requested, approved, balance string) string {
	out := strings.Replace(whole, "<responseCode>1<", "<responseCode>4<", 1)
	return outcomeOf(okay, strings.Replace(out, "<code>1<", "<code>295<", 1)+prepaid(requested, approved, balance))
}

func prepaid(requested, approved, balance string) string {
	return "<prePaidCard><requestedAmount>" + requested + "</requestedAmount><approvedAmount>" + approved +
		"</approvedAmount><balanceOnCard>" + balance + "</balanceOnCard></prePaidCard>"
}

func approvals() map[string]decoding {
	return map[string]decoding{
		"approved":          {auth, outcomeOf(okay, whole), approval},
		"sale":              {sale, outcomeOf(okay, whole), approval},
		"without a BOM":     {auth, strings.TrimPrefix(outcomeOf(okay, whole), bom), approval},
		"a part":            {sale, partial("19.99", "1.23", "0.00"), "approved 60410000123 123 balance 0"},
		"a whole, prepaid":  {sale, outcomeOf(okay, whole+prepaid("19.99", "19.99", "-1.23")), approval + " balance -123"},
		"a part, unnamed":   {sale, strings.Replace(partial("", "", ""), prepaid("", "", ""), "", 1), "unknown"},
		"a part of nothing": {sale, partial("19.99", "0.00", "0.00"), "unknown"},
		"more than a whole": {sale, partial("19.99", "20.00", "0.00"), "unknown"},
		"another request":   {sale, partial("20.00", "1.23", "0.00"), "unknown"},
		"a part as a whole": {sale, outcomeOf(okay, whole+prepaid("19.99", "1.23", "0.00")), "unknown"},
	}
}

func refusals() map[string]decoding {
	held := strings.Replace(partial("19.99", "1.23", "0.00"), "295", "253", 1)
	return map[string]decoding{
		"declined":           {auth, outcomeOf(okay, errorOf("2", "2", ids)), "declined 60410000123 generic_decline 05"},
		"declined, as error": {auth, outcomeOf(bad, errorOf("2", "2", ids)), "declined 60410000123 generic_decline 05"},
		"filtered":           {auth, outcomeOf(okay, errorOf("2", "65", ids+tail)), "declined 60410000123 incorrect_cvc N7"},
		"expired":            {auth, outcomeOf(bad, errorOf("3", "8", "<transId>0</transId>")), "declined  expired_card 54"},
		"unreachable":        {auth, outcomeOf(okay, errorOf("2", "209", ids)), "declined 60410000123 processing_error 91"},
		"wrong account":      {auth, outcomeOf(bad, errorOf("3", "35", "")), "unavailable"},
		"system error":       {auth, outcomeOf(bad, errorOf("3", "19", "")), "unknown"},
		"duplicate":          {auth, outcomeOf(bad, errorOf("3", "11", "")), "duplicate"},
		"duplicate there":    {auth, outcomeOf(bad, errorOf("3", "318", "")), "duplicate"},
		"unknown reason":     {auth, outcomeOf(okay, errorOf("2", "999", ids)), "unknown"},
		"unreadable reason":  {auth, outcomeOf(okay, errorOf("2", "x", ids)), "unknown"},
		"no reason":          {auth, outcomeOf(bad, "<responseCode>3</responseCode>"), "unknown"},
		"two reasons":        {auth, outcomeOf(bad, errorOf("3", "6", "")+more("8")), "declined  card_not_supported 14"},
		"two classes":        {auth, outcomeOf(bad, errorOf("3", "6", "")+more("19")), "unknown"},
		"a later duplicate":  {auth, outcomeOf(bad, errorOf("3", "6", "")+more("11")), "unknown"},
		"held":               {auth, held, "unknown"},
		"unknown response":   {auth, changed("<responseCode>1<", "<responseCode>5<"), "unknown"},
		"test mode": {auth, strings.NewReplacer(
			"60410000123", "0", "<testRequest>0", "<testRequest>1").Replace(outcomeOf(okay, whole)), "unavailable"},
	}
}

func contradictions() map[string]decoding {
	return map[string]decoding{
		"no number":         {auth, changed("60410000123", "0"), "unknown"},
		"a leading zero":    {auth, changed("60410000123", "060410000123"), "unknown"},
		"no digits":         {auth, changed("60410000123", "6041000012x"), "unknown"},
		"another reference": {auth, changed(reference, "txn_01jd8m3k2q4r6"), "unknown"},
		"no reference":      {auth, changed("<refId>"+reference+"</refId>", ""), "unknown"},
		"declined, no reference": {
			auth, strings.Replace(outcomeOf(bad, errorOf("2", "2", ids)), "<refId>"+reference+"</refId>", "", 1), "unknown",
		},
		"another card":           {auth, changed("XXXX1111", "XXXX1112"), "unknown"},
		"another original":       {auth, changed("<refTransID />", "<refTransID>7</refTransID>"), "unknown"},
		"approved as error":      {auth, outcomeOf(bad, whole), "unknown"},
		"errors of approval":     {auth, outcomeOf(okay, whole+more("2")), "unknown"},
		"declined with approval": {auth, outcomeOf(okay, errorOf("2", "2", ids)+yes), "unknown"},
		"repeated number":        {auth, outcomeOf(okay, whole+"<transId>60410000124</transId>"), "unknown"},
		"repeated outcome": {auth, changed("</createTransactionResponse>", "<transactionResponse>"+
			"<responseCode>2</responseCode></transactionResponse></createTransactionResponse>"), "unknown"},
		"error with an error": {
			auth, outcomeOf(strings.Replace(bad, "E00027", "E00001", 1), errorOf("2", "2", ids)), "unknown",
		},
	}
}

func steps() map[string]decoding {
	const original, refused = "60410000130", "declined  processing_error 12"
	const same, another = "approved 60410000130 1999", "approved 60410000140 1999"
	step := func(reason, number, original string) string { return outcomeOf(okay, follow(reason, number, original)) }
	return map[string]decoding{
		"captured":             {captureKind, step("1", original, original), same},
		"captured another":     {captureKind, step("1", "60410000131", original), "unknown"},
		"captured for another": {captureKind, step("1", original, "60410000131"), "unknown"},
		"captured before":      {captureKind, step("311", "0", original), refused},
		"captured the voided":  {captureKind, step("310", "0", original), refused},
		"captured too much":    {captureKind, outcomeOf(bad, errorOf("3", "47", "")), "declined  processing_error 13"},
		"voided":               {voidKind, step("1", original, original), same},
		"voided before":        {voidKind, step("310", "0", original), same},
		"voided another":       {voidKind, step("310", "0", "60410000131"), "unknown"},
		"voided the captured":  {voidKind, step("311", "0", original), "unknown"},
		"voided too late":      {voidKind, outcomeOf(bad, errorOf("3", "327", "")), refused},
		"refunded":             {refundKind, step("1", "60410000140", original), another},
		"refunded itself":      {refundKind, step("1", original, original), "unknown"},
		"refunded before":      {refundKind, step("310", "0", original), "unknown"},
		"refunded too early":   {refundKind, outcomeOf(bad, errorOf("3", "54", "")), refused},
		"credited":             {creditKind, step("1", "60410000140", ""), another},
		"credited an original": {creditKind, step("1", "60410000140", original), "unknown"},
		"paid the voided":      {auth, step("310", "60410000140", ""), "unknown"},
	}
}

func withoutTransaction() map[string]decoding {
	const method = "createTransactionResponse"
	return map[string]decoding{
		"wrong login":        {auth, envelope(method, "E00007"), "unavailable"},
		"schema":             {auth, envelope(errorRoot, "E00003"), "declined  processing_error 30"},
		"busy":               {auth, envelope(errorRoot, "E00053"), "unavailable"},
		"processing":         {auth, envelope(errorRoot, "E00001"), "unknown"},
		"no reason":          {auth, envelope(method, "E00027"), "unknown"},
		"unknown code":       {auth, envelope(method, "E99999"), "unknown"},
		"success of nothing": {auth, wrap(method, okay), "unknown"},
		"code of success":    {auth, wrap(method, strings.Replace(okay, "I00001", "E00007", 1)), "unknown"},
		"empty":              {auth, "", "unknown"},
		"only a BOM":         {auth, bom, "unknown"},
		"a page":             {auth, "<html><body>502 Bad Gateway</body></html>", "unknown"},
		"JSON":               {auth, `{"messages":{"resultCode":"Ok"}}`, "unknown"},
		"two documents":      {auth, outcomeOf(okay, whole) + "<x/>", "unknown"},
		"other namespace":    {auth, changed(namespace, "urn:x"), "unknown"},
		"other method":       {auth, strings.ReplaceAll(outcomeOf(okay, whole), method, "logoutResponse"), "unknown"},
		"no result code":     {auth, changed("<resultCode>Ok</resultCode>", ""), "unknown"},
		"case of the result": {auth, changed(">Ok<", ">OK<"), "unknown"},
	}
}

// TestDecode decodes responses of each kind.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, group := range []map[string]decoding{approvals(), refusals(), contradictions(), steps(), withoutTransaction()} {
		for name, c := range group {
			a, err := decode(asked(c.kind), []byte(c.body))
			if got := inShort(a, err); got != c.want {
				t.Errorf("%s: got %q, want %q (%v)", name, got, c.want, err)
			}
		}
	}
}

// TestDecodeTruncated: a response without its end proves nothing.
func TestDecodeTruncated(t *testing.T) {
	t.Parallel()
	body := outcomeOf(okay, whole)
	for n := range len(body) {
		if a, err := decode(asked(auth), []byte(body[:n])); inShort(a, err) != "unknown" {
			t.Errorf("%d of %d bytes: got %+v, %v, want an unknown outcome", n, len(body), a, err)
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
		Approved: true, ID: "60410000123", Code: "K7Q2ZD", NetworkTransactionID: "Q4D8ZK1T0V7MB2X9RJ5CYWN",
		ResponseCode: "00", Amount: 1999, ExpiresAt: time.Date(2026, 4, 1, 15, 0, 0, 0, time.UTC),
		Checks: acquirer.Checks{
			CVC: "match", AddressLine: "match", PostalCode: "match", Codes: acquirer.ResultCodes{AVS: "Y", CVC: "M", CAVV: "2"},
		},
	}
	if err != nil || got != want {
		t.Errorf("approval: got %+v, %v, want %+v", got, err, want)
	}
	filtered := errorOf("2", "27", ids+codes+tail)
	filtered = strings.Replace(filtered, "<authCode />", "<authCode>K7Q2ZD</authCode>", 1)
	q := asked(acquirer.Sale)
	q.given = given{cvc: true}
	got, err = decode(q, []byte(outcomeOf(okay, filtered)))
	want = acquirer.Response{
		ID: "60410000123", Code: "K7Q2ZD", NetworkTransactionID: "Q4D8ZK1T0V7MB2X9RJ5CYWN", ResponseCode: "05",
		DeclineCode: "incorrect_address", OwnCode: "27", Network: acquirer.NetworkDecline{Given: true},
		Checks: acquirer.Checks{
			CVC: "match", AddressLine: "not_provided", PostalCode: "not_provided",
			Codes: acquirer.ResultCodes{CVC: "M", CAVV: "2"},
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
		"A": "match no_match", "B": "not_provided not_provided", "E": "unavailable unavailable",
		"G": "unavailable unavailable", "N": "no_match no_match", "P": "not_processed not_processed",
		"R": "unavailable unavailable", "S": "unavailable unavailable", "U": "unavailable unavailable",
		"W": "no_match match", "X": "match match", "Y": "match match", "Z": "no_match match",
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
		detailsOf("authorizedPendingCapture", typeAuthorize), detailsOf("capturedPendingSettlement", typeSale),
		detailsOf("refundPendingSettlement", typeRefund), detailsOf("declined", typeSale),
		outcomeOf(okay, follow("311", "0", "60410000130")), envelope(errorRoot, "E00003"), envelope(errorRoot, "E00053"),
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
			fuzzDetails(t, kind, body)
		}
	})
}

// detailsOf returns the details of a transaction.
func detailsOf(status, kind string) string {
	r := record{id: "7", kind: kind, status: status, invoice: reference, authorized: "19.99", taken: "19.99"}
	return wrap("getTransactionDetailsResponse", okay+r.details())
}

// fuzzDetails checks the outcome of a request by a transaction of any form.
func fuzzDetails(t *testing.T, kind acquirer.Kind, body []byte) {
	t.Helper()
	d, err := parse("getTransactionDetails", body)
	if err != nil || d.Details == nil {
		return
	}
	about := acquirer.Sent{Kind: kind, Reference: reference, Amount: 1999, Currency: "usd"}
	for name, read := range map[string]func() (acquirer.Response, error){
		"outcome":  func() (acquirer.Response, error) { return d.Details.outcome(about) },
		"captured": func() (acquirer.Response, error) { return d.Details.captured(1999, "usd") },
		"voided":   func() (acquirer.Response, error) { return d.Details.voided(1999) },
	} {
		a, err := read()
		if short := inShort(a, err); strings.HasPrefix(short, "inconsistent") || a.Amount > 1999 || a.Amount < 0 {
			t.Errorf("%s %s: %s", kind, name, short)
		}
	}
}

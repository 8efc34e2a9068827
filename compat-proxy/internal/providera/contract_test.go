package providera_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera"
)

// contractRows are rows of the contract, each with its outcome and the golden case that shows it.
// They are in the tables of outcomes (4.3), fields by type (4.4) and situations (5.3).
// The rules for refunds (3.2), test requests (3.5), test accounts (6.4) and profiles (8.2) have
// rows too. So have reporting and the other methods, in the contract's second part.
// The test fails if a case is missing or has another outcome.
var contractRows = []struct{ table, row, outcome, golden string }{
	{"3.2", "linked refund, card mismatch", "3/54", "refund-other-card"},
	{"3.2", "linked refund, wrong type", "3/54", "refund-card-of-bank-account"},
	{"3.5", "linked eCheck refund, test request", "3/16", "test-request-refund-bank-account"},

	{"4.3", "approved", "1/1", "x1-sale"},
	{"4.3", "declined", "2/2", "x2-decline"},
	{"4.3", "declined, referral", "2/3", "decline-call-issuer"},
	{"4.3", "declined, pick up card", "2/4", "decline-pickup"},
	{"4.3", "declined by the address filter", "2/27", "decline-address-mismatch"},
	{"4.3", "declined by the card code filter", "2/65", "decline-cvc-mismatch"},
	{"4.3", "error", "3/6", "card-luhn"},
	{"4.3", "held", "4/252", "details-unknown"},
	{"4.3", "held, eCheck review", "4/193", "sandbox-credit-bank"},
	{"4.3", "already voided", "1/310", "void-twice"},
	{"4.3", "already captured", "1/311", "capture-of-captured"},
	{"4.3", "partial auth", "4/295", "partial-authorize"},
	{"4.3", "credentials", "E00007", "x3-wrong-credentials"},
	{"4.3", "schema", "E00003", "schema-fault"},

	{"4.4", "auth", "1/1", "j1-authorize"},
	{"4.4", "sale", "1/1", "x1-sale"},
	{"4.4", "captureOnly", "1/1", "capture-only"},
	{"4.4", "priorAuthCapture", "1/1", "x5-partial-capture"},
	{"4.4", "void", "1/1", "x7-void"},
	{"4.4", "linked refund", "1/1", "refund"},
	{"4.4", "standalone credit", "1/1", "unlinked-refund"},
	{"4.4", "refund of unknown id", "3/16", "refund-unknown"},
	{"4.4", "void of unknown id", "3/16", "void-unknown"},
	{"4.4", "capture of unknown id", "3/16", "capture-unknown"},

	{"5.3", "bad credentials", "E00007", "j2-wrong-credentials"},
	{"5.3", "malformed XML", "E00003", "fault-malformed"},
	{"5.3", "unknown element", "E00003", "fault-unknown-element"},
	{"5.3", "wrong order", "E00003", "schema-fault"},
	{"5.3", "over-long field", "E00003", "fault-reference-too-long"},
	{"5.3", "missing xmlns", "E00045", "fault-no-namespace"},
	{"5.3", "unknown method", "E00004", "fault-unknown-method"},
	{"5.3", "invalid card number", "3/6", "card-luhn"},
	{"5.3", "card number empty", "E00003", "fault-card-empty"},
	{"5.3", "card number under 4 chars", "E00003", "fault-card-too-short"},
	{"5.3", "card number above 16 chars", "E00003", "fault-card-too-long"},
	{"5.3", "expired", "3/8", "card-expired"},
	{"5.3", "bad date", "3/7", "card-expiration-bad"},
	{"5.3", "zero amount", "3/5", "amount-zero"},
	{"5.3", "negative amount", "3/5", "amount-negative"},
	{"5.3", "absent amount", "3/5", "amount-missing"},
	{"5.3", "non-decimal amount text", "E00003", "amount-not-decimal"},
	{"5.3", "refTransId unknown", "3/16", "refund-unknown"},
	{"5.3", "refTransId empty, void", "3/33", "void-reference-missing"},
	{"5.3", "refTransId empty, refund", "3/33", "refused-unlinked-refund"},
	{"5.3", "void twice", "1/310", "void-twice"},
	{"5.3", "void of settled", "3/16", "void-of-settled"},
	{"5.3", "capture twice, capture of a sale", "1/311", "capture-of-captured"},
	{"5.3", "capture of a voided auth", "1/310", "capture-of-voided"},
	{"5.3", "capture more than authorised", "3/47", "capture-too-much"},
	{"5.3", "refund of unsettled card", "3/54", "x6-refund-unsettled"},
	{"5.3", "refund of unsettled eCheck", "3/16", "refund-bank-account-unsettled"},
	{"5.3", "refund above remaining", "3/55", "refund-too-much"},
	{"5.3", "refund total above original in a second refund", "3/55", "refund-of-refunded"},
	{"5.3", "duplicate within window", "3/11", "j2-duplicate"},
	{"5.3", "unknown currency", "3/39", "currency-unknown"},
	{"5.3", "unknown transId in details", "E00040", "details-unknown-number"},

	{"6.4", "eCheck at 100.00", "1/1", "sandbox-bank-at-limit"},
	{"6.4", "eCheck above 100.00", "2/2", "sandbox-bank-over-limit"},
	{"8.2", "mode none, no check digit test", "I00001", "profile-card-luhn"},

	{"part 2, 8.3", "batch list, both dates", "I00001", "batch-list"},
	{"part 2, 8.3", "batch list, one date", "E00013", "batch-list-first-date-alone"},
	{"part 2, 8.3", "batch list, 32 days", "E00013", "batch-list-32-days"},
	{"part 2, 8.3", "batch list, none settled", "I00004", "batch-list-empty"},
	{"part 2, 8.3", "batch list, bare date", "E00003", "batch-list-bare-date"},
	{"part 2, 8.3", "statistics of an unknown batch", "I00004", "batch-statistics-unknown"},
	{"part 2, 8.3", "statistics of abc", "E00003", "batch-statistics-letters"},
	{"part 2, 8.3", "transactions of an unknown batch", "I00004", "transaction-list-unknown"},
	{"part 2, 8.3", "transactions of no batch", "E00014", "transaction-list-no-batch"},
	{"part 2, 8.3", "limit 1001", "E00003", "unsettled-list-limit-above"},
	{"part 2, 8.3", "limit 0", "E00003", "unsettled-list-limit-zero"},
	{"part 2, 8.3", "page past the end", "I00004", "unsettled-list-past-the-end"},
	{"part 2, 8.3", "page beyond the maximum", "E00094", "unsettled-list-page-too-far"},
	{"part 2, 8.3", "no permission", "E00011", "unsettled-list-no-scope"},
	{"part 2, 9", "isAlive without credentials", "I00001", "is-alive"},
	{"part 2, 9", "merchant details", "I00001", "merchant-details"},

	{"part 2, 12", "1, created", "I00001", "create-payment-profile"},
	{"part 2, 12", "2, testMode", "I00001", "create-payment-profile-test-mode"},
	{"part 2, 12", "3, liveMode", "I00001", "create-payment-profile-live"},
	{"part 2, 12", "4, liveMode without billTo", "E00027", "create-payment-profile-live-no-address"},
	{"part 2, 12", "5, twice", "E00039", "create-payment-profile-duplicate"},
	{"part 2, 12", "6, other expiration", "I00001", "create-payment-profile-other-date"},
	{"part 2, 12", "7, other zip", "I00001", "create-payment-profile-other-zip"},
	{"part 2, 12", "8, bank account twice", "E00039", "create-payment-profile-bank-duplicate"},
	{"part 2, 12", "9, eleventh", "E00042", "create-payment-profile-eleven"},
	{"part 2, 12", "10, no payment", "E00029", "create-payment-profile-no-payment"},
	{"part 2, 12", "11, 12 digits", "E00015", "create-payment-profile-twelve-digits"},
	{"part 2, 12", "11, 3 digits", "E00003", "create-payment-profile-three-digits"},
	{"part 2, 12", "12, empty cardCode", "E00003", "create-payment-profile-empty-code"},
	{"part 2, 12", "13, unknown profile", "E00040", "create-payment-profile-unknown-customer"},
	{"part 2, 12", "14, default", "I00001", "create-payment-profile-default"},
	{"part 2, 12", "15, two cards", "I00001", "get-profile"},
	{"part 2, 12", "16, no payment profiles", "I00001", "get-profile-alone"},
	{"part 2, 12", "17, unmasked", "I00001", "get-profile-unmasked"},
	{"part 2, 12", "18, by merchantCustomerId", "I00001", "get-profile-by-reference"},
	{"part 2, 12", "19, after delete", "E00040", "get-profile-unknown"},
	{"part 2, 12", "22, ids, wrong key", "E00007", "profile-ids-wrong-key"},
	{"part 2, 12", "22, ids", "I00001", "profile-ids"},
	{"part 2, 12", "29, the default", "I00001", "get-payment-profile-default"},
	{"part 2, 12", "30, no default", "E00121", "get-payment-profile-no-default"},
	{"part 2, 12", "31, of another customer", "E00040", "get-payment-profile-unknown"},
	{"part 2, 12", "36, masked", "I00001", "update-payment-profile"},
	{"part 2, 12", "37, new date", "I00001", "update-payment-profile-date"},
	{"part 2, 12", "38, wrong last four", "E00013", "update-payment-profile-wrong-four"},
	{"part 2, 12", "39, four digits", "E00015", "update-payment-profile-four-digits"},
	{"part 2, 12", "40, without billTo", "I00001", "update-payment-profile-date"},
	{"part 2, 12", "41, without zip", "I00001", "update-payment-profile-no-zip"},
	{"part 2, 12", "42, id first", "E00003", "fault-payment-profile-order"},
	{"part 2, 12", "43, liveMode", "I00001", "update-payment-profile-live"},
	{"part 2, 12", "45, validate with an address", "I00001", "validate-profile-address"},
	{"part 2, 12", "46, oldLiveMode without billTo", "I00001", "validate-profile-old-live-no-address"},
	{"part 2, 12", "47, declined", "E00027", "validate-profile-declined"},
	{"part 2, 12", "44, delete payment profile", "I00001", "delete-payment-profile"},
	{"part 2, 12", "44, delete twice", "E00040", "delete-payment-profile-again"},
	{"part 2, 12", "23, email only", "I00001", "update-profile-email"},
	{"part 2, 12", "24, unknown id", "E00040", "update-profile-unknown"},
	{"part 2, 12", "25, id before email", "E00003", "fault-update-profile-order"},
	{"part 2, 12", "48, address", "I00001", "create-address"},
	{"part 2, 12", "48, address again", "E00039", "create-address-duplicate"},
	{"part 2, 12", "49, address", "I00001", "get-address-json"},
	{"part 2, 12", "50, unknown address", "E00040", "update-address-unknown"},
	{"part 2, 12", "51, without phone", "I00001", "update-address"},
	{"part 2, 12", "28, charge, deleted profile", "E00040", "stored-sale-unknown"},
	{"part 2, 12", "32, expiring cards", "I00001", "expiring-list"},
	{"part 2, 12", "33, no match", "I00004", "expiring-list-empty"},
	{"part 2, 12", "34, second page", "I00001", "expiring-list-second"},
	{"part 2, 12", "35, limit 1001", "E00003", "expiring-list-limit"},
	{"part 2, 12", "53, no customer data", "E00102", "from-transaction-no-customer"},
	{"part 2, 12", "53, unknown transaction", "E00099", "from-transaction-unknown"},
	{"part 2, 12", "53, of a refund", "E00100", "from-transaction-refund"},
	{"part 2, 12", "53, both", "E00108", "from-transaction-both"},
	{"part 2, 12", "54, authorize", "I00001", "stored-authorize"},
	{"part 2, 12", "54, capture more", "E00027", "stored-capture-too-much"},
	{"part 2, 12", "55, refund unsettled", "E00027", "stored-refund-unsettled"},
	{"part 2, 12", "55, void", "I00001", "stored-void"},
	{"part 2, 12", "56, equal charge twice", "E00027", "stored-sale-duplicate"},
	{"part 2, 12", "56, no window", "I00001", "stored-sale-no-window"},
	{"part 2, 12", "57, delimiter", "I00001", "stored-sale-delimiter"},
	{"part 2, 12", "57, amount 0.0", "E00003", "stored-sale-zero"},
	{"part 2, 7.1", "another payment profile", "E00051", "stored-capture-other-profile"},
	{"part 2, 7.1", "unknown address", "E00040", "stored-sale-other-address"},
	{"part 2, 7.1", "no order in a capture", "E00003", "stored-capture-order"},
	{"part 2, 12", "26, delete", "I00001", "delete-profile"},
	{"part 2, 12", "26, delete twice", "E00040", "delete-profile-again"},
}

func TestContractRows(t *testing.T) {
	t.Parallel()
	if *goldentest.Update {
		return // the golden files are being written
	}
	for _, row := range contractRows {
		if got := outcomeOf(t, filepath.Join("testdata", row.golden)); got != row.outcome {
			t.Errorf("%s %s: %s responds %s, want %s", row.table, row.row, row.golden, got, row.outcome)
		}
	}
}

// TestEveryCodeHasAGolden requires a case for each code of this package, of 5.2 and of the envelope
// (5.1).
func TestEveryCodeHasAGolden(t *testing.T) {
	t.Parallel()
	if *goldentest.Update {
		return // the golden files are being written
	}
	cases, err := filepath.Glob("testdata/*/case.json")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, path := range cases {
		o := outcomeOf(t, filepath.Dir(path))
		shown[o] = true
		for _, code := range profileCodes(t, filepath.Dir(path)) {
			shown[code] = true
		}
		if direct := directForm.FindSubmatch(responseOf(t, filepath.Dir(path))); direct != nil {
			shown[string(direct[1])+"/"+string(direct[2])] = true
		}
		if strings.Contains(o, "/") { // the envelope's code
			shown["I00001"], shown["E00027"] = shown["I00001"] || o[0] != '3', shown["E00027"] || o[0] == '3'
		}
	}
	for _, row := range providera.Reasons() {
		if code := row[1].(string) + "/" + strconv.Itoa(row[0].(int)); !shown[code] {
			t.Errorf("reason %s: no case shows it", code)
		}
	}
	for code := range providera.APITexts() {
		if !shown[code] {
			t.Errorf("%s: no case shows it", code)
		}
	}
}

// profileCodes returns the codes of a case's profileResponse, whose transaction has a separate
// outcome.
func profileCodes(t *testing.T, dir string) []string {
	t.Helper()
	_, after, _ := bytes.Cut(responseOf(t, dir), []byte("profileResponse"))
	return envelopeForm.FindAllString(string(after), -1)
}

// responseOf returns a case's response.
func responseOf(t *testing.T, dir string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(dir, "response.xml"))
	if err != nil {
		return goldentest.MustRead(t, filepath.Join(dir, "response.json"))
	}
	return body
}

// The positions of the codes in a response of either format.
var (
	responseForm = regexp.MustCompile(`responseCode(?:>|":"?)([1-4])`)
	reasonForm   = regexp.MustCompile(`(?:errorCode>|"errorCode":"|<message><code>|"messages":\[\{"code":"|` +
		`responseReasonCode(?:>|":))([0-9]+)`)
	directForm   = regexp.MustCompile(`irectResponse(?:>|":")([1-4]),[0-9]+,([0-9]+),`)
	envelopeForm = regexp.MustCompile(`[EI][0-9]{5}`)
)

// outcomeOf returns the outcome of a case's response: "1/1", or the envelope's code if there is no
// transaction.
func outcomeOf(t *testing.T, dir string) string {
	t.Helper()
	body := responseOf(t, dir)
	response, reason := responseForm.FindSubmatch(body), reasonForm.FindSubmatch(body)
	if response != nil && reason != nil {
		return string(response[1]) + "/" + string(reason[1])
	}
	return string(envelopeForm.Find(body))
}

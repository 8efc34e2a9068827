package providera_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestAccountType(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"370000000000002": "AmericanExpress", "340000000000009": "AmericanExpress", "6011000000000012": "Discover",
		"3088000000000017": "JCB", "3530111333300000": "JCB", "38000000000006": "DinersClub", "30569309025904": "DinersClub",
		"4007000000027": "Visa", "4012888818888": "Visa", "4111111111111111": "Visa", "5424000000000015": "MasterCard",
		"2223000010309703": "MasterCard", "2223000010309711": "MasterCard", "6221499053360818": "Discover",
		"6262320002000067": "Discover", "6284480000000008": "Discover", "4000100011112224": "Visa",
		"4242424242424242": "Visa",

		"400030001111222": "", "4424222222222222": "", "41111111111111111": "", "4111 1111 1111 1111": "",
		"4111-1111-1111": "",
		"":               "", "4": "", "2720999999999996": "MasterCard", "2721000000000004": "", "2220999999999991": "",
		"36000000000000": "", "9999999999999995": "", "XXXX1111": "",

		// Numbers that v1 accepts and this dialect does not have: Diners of 39, UnionPay of 81, Maestro,
		// and more digits than 16.
		"39000000000005": "", "8100000000000002": "", "6759649826438453": "", "4000000000000000006": "",
		"30000000000000007": "", "36070500001020": "DinersClub", "30000000000004": "DinersClub", "٤١١١١١١١١١١١١": "",
	} {
		if got := providera.AccountType(number); got != want {
			t.Errorf("%s: got %q, want %q", number, got, want)
		}
	}
}

func TestExpiration(t *testing.T) {
	t.Parallel()
	type date struct{ month, year int }
	for text, want := range map[string]date{
		"2031-04": {4, 2031}, "2031-4": {4, 2031}, "04/2031": {4, 2031}, "4/2031": {4, 2031}, "0431": {4, 2031},
		"04/31":  {4, 2031},
		"042031": {4, 2031}, "04-31": {4, 2031}, "04-2031": {4, 2031}, "2031-12": {12, 2031}, "4/31": {4, 2031},
		"1299": {12, 2099}, "0100": {1, 2000},
	} {
		month, year, hidden, ok := providera.Expiration(text)
		if (date{month, year}) != want || hidden || !ok {
			t.Errorf("%s: got %d/%d hidden %t ok %t, want %v", text, month, year, hidden, ok, want)
		}
	}
	for _, text := range []string{
		"", "2031-13", "1331", "0031", "00/31", "abcd", "431", "04/3", "2031--4", "204/31", "2131-04", "1999-04", "04.31",
		"X", "XXX", "XX31", "XX/31", "X/X/X", "-XXXX", "XXXXXXXX",
	} {
		if _, _, _, ok := providera.Expiration(text); ok {
			t.Errorf("%s: got a date, want none", text)
		}
	}
	for _, text := range []string{"XXXX", "xxxx", "XXXXXX", "XX/XX", "XX-XX", "XXXX-XX", "XX/XXXX"} {
		if _, _, hidden, ok := providera.Expiration(text); !hidden || !ok {
			t.Errorf("%s: got hidden %t, want true", text, hidden)
		}
	}
}

func TestExpired(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC)
	for _, tt := range []struct {
		month, year int
		want        bool
	}{{11, 2026, false}, {10, 2026, true}, {12, 2026, false}, {12, 2025, true}, {1, 2027, false}} {
		if got := providera.Expired(tt.month, tt.year, last); got != tt.want {
			t.Errorf("%d/%d: got %t, want %t", tt.month, tt.year, got, tt.want)
		}
	}
	if !providera.Expired(11, 2026, last.Add(time.Second)) {
		t.Error("a second later: got false, want true")
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1", "1.0": "1", "1.00": "1", "+1.00": "1", "01.50": "1.5", ".5": "0.5", "5.": "5", "0.00": "0", "-0.0": "0",
		"-1.20": "-1.2", "100": "100", "0.001": "0.001",
	} {
		if got := providera.Canonical(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestResultCodes(t *testing.T) {
	t.Parallel()
	const (
		yes   = v1.CheckResultMatch
		no    = v1.CheckResultNoMatch
		none  = v1.CheckResultNotProvided
		undef = v1.CheckResultUnavailable
		not   = v1.CheckResultNotProcessed
	)
	tests := []struct {
		mode              v1.Mode
		cvc, line, postal v1.CheckResult
		want              string
	}{
		{v1.ModeTest, yes, yes, yes, "YM2"},
		{v1.ModeTest, none, none, none, "YP2"},
		{v1.ModeTest, not, none, yes, "YP2"},
		{v1.ModeTest, no, none, no, "NN2"},
		{v1.ModeTest, undef, yes, no, "AU2"},
		{v1.ModeTest, yes, no, yes, "ZM2"},
		{v1.ModeTest, yes, none, not, "PM2"},
		{v1.ModeTest, yes, not, not, "PM2"},
		{v1.ModeTest, yes, undef, undef, "UM2"},
		{v1.ModeLive, yes, yes, yes, "YM"},
		{v1.ModeLive, none, none, none, "BP"},
		{v1.ModeLive, yes, none, yes, "ZM"},
		{v1.ModeLive, yes, yes, none, "AM"},
		{v1.ModeLive, yes, none, no, "NM"},
		{v1.ModeLive, yes, no, none, "NM"},
		{v1.ModeLive, yes, no, no, "NM"},
		{v1.ModeLive, yes, undef, yes, "UM"},
	}
	for _, tt := range tests {
		avs, cvv, cavv := providera.ResultCodes(&v1.Transaction{
			Mode: tt.mode, Checks: &v1.Checks{Cvc: tt.cvc, AddressLine: tt.line, PostalCode: tt.postal},
		})
		if got := avs + cvv + cavv; got != tt.want {
			t.Errorf("%s cvc %s line %s postal %s: got %s, want %s", tt.mode, tt.cvc, tt.line, tt.postal, got, tt.want)
		}
	}
	if avs, cvv, _ := providera.ResultCodes(&v1.Transaction{Mode: v1.ModeLive}); avs+cvv != "BP" {
		t.Errorf("no checks: got %s, want BP", avs+cvv)
	}
}

// TestTablesAreComplete compares the tables with v1's enumerations. A new code of v1 fails here,
// not at a client.
func TestTablesAreComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []v1.DeclineCode{
		v1.DeclineCodeCallIssuer, v1.DeclineCodeCardNotSupported, v1.DeclineCodeDoNotHonor, v1.DeclineCodeExpiredCard,
		v1.DeclineCodeGenericDecline, v1.DeclineCodeIncorrectAddress, v1.DeclineCodeIncorrectCvc,
		v1.DeclineCodeInsufficientFunds,
		v1.DeclineCodeLimitExceeded, v1.DeclineCodeLostCard, v1.DeclineCodePickupCard, v1.DeclineCodeProcessingError,
		v1.DeclineCodeRetryNotAllowed, v1.DeclineCodeStolenCard, v1.DeclineCodeSuspectedFraud,
	} {
		if !providera.HasDecline(c) {
			t.Errorf("decline %s: no reason", c)
		}
	}
	for _, b := range []v1.CardBrand{
		v1.CardBrandAmex, v1.CardBrandDiners, v1.CardBrandDiscover, v1.CardBrandJcb, v1.CardBrandMastercard,
		v1.CardBrandUnionpay, v1.CardBrandVisa,
	} {
		if providera.BrandName(b) == "" {
			t.Errorf("brand %s: no name", b)
		}
	}
	for code, text := range providera.APITexts() {
		if text == "" || len(code) != 6 {
			t.Errorf("%s: got text %q", code, text)
		}
	}
}

// TestReasons compares the class of every reason with the ranges of the contract's table.
func TestReasons(t *testing.T) {
	t.Parallel()
	class := map[int]string{
		1: "1", 2: "2", 3: "2", 4: "2", 27: "2", 65: "2", 193: "4", 252: "4", 295: "4", 310: "1", 311: "1",
	}
	for _, row := range providera.Reasons() {
		code, got, text := row[0].(int), row[1], row[2].(string)
		want, special := class[code]
		if !special {
			want = "3"
		}
		if got != want || text == "" {
			t.Errorf("reason %d: got class %s and text %q, want class %s and a text", code, got, text, want)
		}
	}
}

// TestClasses checks that a request that v1 executed counts as approved, also if it is under
// review.
func TestClasses(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		1: dialect.ClassApproved, 193: dialect.ClassApproved, 295: dialect.ClassApproved, 310: dialect.ClassApproved,
		2: dialect.ClassDeclined, 65: dialect.ClassDeclined, 6: dialect.ClassFailed, 19: dialect.ClassFailed,
	} {
		if got := providera.Class(code); got != want {
			t.Errorf("reason %d: got %s, want %s", code, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		sale, capture = "authCaptureTransaction", "priorAuthCaptureTransaction"
		void, refund  = "voidTransaction", "refundTransaction"
	)
	in := func(s v1.TransactionStatus) *v1.Transaction { return &v1.Transaction{Status: s} }
	settled := &v1.Transaction{Status: v1.TransactionStatusCaptured, Settlement: v1.SettlementSettled, AmountRefunded: 1}
	beyond := command.Result{Outcome: command.Unmet, Unmet: command.ConditionRange}
	refused := func(code string, t *v1.Transaction) command.Result {
		return command.Result{Outcome: command.Refused, Status: 409, Code: code, Transaction: t}
	}
	tests := []struct {
		name            string
		transactionType string
		r               command.Result
		want            string
	}{
		{"done", sale, command.Result{Outcome: command.Done}, ""},
		{"a decline without a code", sale, command.Result{Outcome: command.Declined}, "2/2"},
		{"a capture beyond all amounts", capture, beyond, "3/47"},
		{"a refund beyond all amounts", refund, beyond, "3/55"},
		{"a capture while busy", capture, refused(v1.CodeOperationInProgress, nil), "3/19"},
		{"a capture of a failed one", capture, refused(v1.CodeNotCapturable, in(v1.TransactionStatusFailed)), "3/64"},
		{"a capture of an open one", capture, refused(v1.CodeNotCapturable, in(v1.TransactionStatusProcessing)), "3/19"},
		{"a capture of an unknown payment", capture, refused(v1.CodeNotCapturable, nil), "3/19"},
		{"a capture of an expired one", capture, refused(v1.CodeNotCapturable, in(v1.TransactionStatusExpired)), "3/16"},
		{"a void of an expired one", void, refused(v1.CodeNotVoidable, in(v1.TransactionStatusExpired)), "3/16"},
		{"a void of a declined one", void, refused(v1.CodeNotVoidable, in(v1.TransactionStatusDeclined)), "3/16"},
		{"a void of an open one", void, refused(v1.CodeNotVoidable, in(v1.TransactionStatusUnknown)), "3/19"},
		{"a refund of a refunded one", refund, refused(v1.CodeNotRefundable, settled), "3/55"},
		{"a refund of a voided one", refund, refused(v1.CodeNotRefundable, in(v1.TransactionStatusVoided)), "3/54"},
		{"a reversed payment", sale, refused(command.CodeFailed, in(v1.TransactionStatusVoided)), "3/19"},
		{"a failed refund", refund, command.Result{Outcome: command.Refused, Status: 201}, "3/19"},
		{"an idempotency clash", sale, command.Result{Outcome: command.Refused, Status: 422}, "E00001"},
		{"a scope", refund, command.Result{Outcome: command.Refused, Status: 403}, "E00011"},
		{"unreachable", sale, command.Result{Outcome: command.Unavailable}, "E00001"},
		{"a bare 503", sale, command.Result{Outcome: command.Unavailable, Status: 503}, "E00053"},
		{"a lost response", sale, command.Result{Outcome: command.Uncertain}, "3/19"},
		{"an internal error", sale, command.Result{Outcome: command.Uncertain, Status: 500}, "E00001"},
		{"no outcome", sale, command.Result{}, "E00001"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := providera.Judge(tt.transactionType, tt.r); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

package providera

import (
	"cmp"
	"strconv"
	"strings"
)

// directFields is the number of fields of a direct response.
const directFields = 69

// directLine holds the fields of a direct response, the old form of a response: fields by position,
// without escapes.
type directLine [directFields]string

// defaultDelimiter separates the fields of a direct response.
const defaultDelimiter = ","

// secondSubcode are the reasons with the subcode 2. Any other reason has 1.
var secondSubcode = map[reason]bool{
	reasonNotFound: true, reasonBlank: true, reasonOverCapture: true, reasonNotCreditable: true,
}

// setOutcome fills in the first four fields, and returns the class of the outcome.
func (f *directLine) setOutcome(outcome problem, test bool) responseCode {
	class, text := outcome.reasonMessage()
	if test {
		text = testPrefix + text
	}
	f[0], f[1], f[2], f[3] = string(class), "1", strconv.Itoa(int(outcome.Reason)), text
	if secondSubcode[outcome.Reason] {
		f[1] = "2"
	}
	return class
}

// join returns the line. quote is put around each field, and after are further fields.
func (f *directLine) join(delimiter, quote string, after ...string) string {
	return quote + strings.Join(append(f[:], after...), quote+delimiter+quote) + quote
}

// directAccountTypes are the account types of direct responses that other responses write
// differently.
var directAccountTypes = map[string]string{
	"AmericanExpress": "American Express", "DinersClub": "Diners Club", checkAccount: "Bank Account",
}

// directAccountType returns an account type as direct responses write it.
func directAccountType(name string) string { return cmp.Or(directAccountTypes[name], name) }

package providera

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// extraOptions are the options of a transaction by a profile: pairs of a name and a value.
type extraOptions struct {
	values map[string]string
	// unknown are the values of the other names, which the direct response repeats.
	unknown []string
}

// knownOptions are the names of the options. The ones that have no effect here are about receipts
// and the form of the direct response, which has only one.
var knownOptions = map[string]bool{
	"x_duplicate_window": true, "x_customer_ip": true, "x_delim_char": true, "x_encap_char": true, "x_delim_data": true,
	"x_version": true, "x_test_request": true, "x_email_customer": true, "x_header_email_receipt": true,
	"x_footer_email_receipt": true, "x_merchant_email": true, "x_allow_partial_auth": true, "x_currency_code": true,
	"x_solution_id": true, "x_authentication_indicator": true, "x_cardholder_authentication_value": true,
}

// readOptions reads the text of the options. The first of two equal names counts.
func readOptions(text string) extraOptions {
	o := extraOptions{values: map[string]string{}}
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		name = strings.ToLower(name)
		_, before := o.values[name]
		switch {
		case knownOptions[name] && !before:
			o.values[name] = strings.TrimSpace(value)
		case name != "" && !knownOptions[name]:
			o.unknown = append(o.unknown, printable(value))
		}
	}
	return o
}

// printable returns a text without the characters that a document cannot have: a percent-encoded
// value may hold any bytes.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, text)
}

// mark returns the option of that name if it is one character that may separate or quote fields,
// else other.
func (o extraOptions) mark(name, other string) string {
	text := o.values[name]
	r, size := utf8.DecodeRuneInString(text)
	if size != len(text) || size == 0 || !strings.ContainsRune(marks, r) {
		return other
	}
	return text
}

// marks are the characters that may separate or quote the fields of a direct response. Letters and
// digits would change the fields, and so would a dot.
const marks = "!\"#$%&'()*+,-/:;<=>?@[\\]^_`{|}~"

// isSet reports whether an option is on, in any form that clients send.
func (o extraOptions) isSet(name string) bool {
	value := o.values[name]
	return isTrue(value) || strings.EqualFold(value, "t") || strings.EqualFold(value, "y") ||
		strings.EqualFold(value, "yes")
}

// elements returns the options as elements of a transactionRequest.
func (o extraOptions) elements(recurring bool) []wire.Node {
	set := func(name string, on bool) wire.Node {
		if !on {
			return wire.Node{}
		}
		return settingNode(name, "true")
	}
	currency := wire.Node{}
	if code := o.values["x_currency_code"]; code != "" {
		currency = wire.Branch("userField", wire.Leaf("name", "x_currency_code"), wire.Leaf("value", code))
	}
	window := wire.Node{}
	if seconds := o.values["x_duplicate_window"]; seconds != "" {
		window = settingNode("duplicateWindow", seconds)
	}
	return []wire.Node{
		wire.Leaf("customerIP", o.values["x_customer_ip"]),
		wire.Branch("cardholderAuthentication",
			wire.Leaf("authenticationIndicator", o.values["x_authentication_indicator"]),
			wire.Leaf("cardholderAuthenticationValue", o.values["x_cardholder_authentication_value"])),
		wire.Branch("transactionSettings", window, set("testRequest", o.isSet("x_test_request")),
			set("allowPartialAuth", o.isSet("x_allow_partial_auth")), set("recurringBilling", recurring)),
		wire.Branch("userFields", currency),
	}
}

// settingNode returns a setting of a transactionRequest.
func settingNode(name, value string) wire.Node {
	return wire.Branch("setting", wire.Leaf("settingName", name), wire.Leaf("settingValue", value))
}

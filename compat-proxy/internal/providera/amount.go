package providera

import (
	"errors"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/money"
)

// canonical writes an xs:decimal in its shortest form: no plus sign, no redundant zeros, digits on
// both sides of a point. The text must have passed the schema.
func canonical(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	whole, decimals, _ := strings.Cut(strings.TrimPrefix(text, "+"), ".")
	whole = strings.TrimLeft(whole, "0")
	decimals = strings.TrimRight(decimals, "0")
	switch {
	case whole == "" && decimals == "":
		return "0"
	case whole == "":
		whole = "0"
	}
	if decimals != "" {
		decimals = "." + decimals
	}
	return sign + whole + decimals
}

// decimalAmount reads an amount in the currency of the referenced transaction, which is not known
// here. It returns "" for no amount, and reason 5 for zero or a negative one.
func decimalAmount(n wire.Node) (string, problem) {
	if !n.Has() {
		return "", problem{}
	}
	amount := canonical(n.Get())
	if amount == "0" || strings.HasPrefix(amount, "-") {
		return "", because(reasonAmount)
	}
	return amount, problem{}
}

// minorAmount reads an amount in a known currency. It accepts zero.
func minorAmount(text string, c money.Currency) (int64, problem) {
	minor, err := money.Parse(canonical(text), c.Exponent)
	switch {
	case errors.Is(err, money.ErrRange):
		return 0, because(reasonMaximum)
	case err != nil || minor < 0:
		return 0, because(reasonAmount)
	}
	return minor, problem{}
}

// currencyOf returns the lower-case currency code of a request, from its element or from the user
// field x_currency_code. Without either it returns "".
func currencyOf(txn wire.Node) (string, problem) {
	code := txn.Get("currencyCode")
	if code == "" {
		code = userField(txn, "x_currency_code")
	}
	if code == "" {
		return "", problem{}
	}
	c, known := money.Lookup(strings.ToLower(code))
	if !known {
		return "", because(reasonCurrency)
	}
	return c.Code, problem{}
}

func userField(txn wire.Node, name string) string {
	for _, f := range txn.Child("userFields").All("userField") {
		if f.Get("name") == name {
			return f.Get("value")
		}
	}
	return ""
}

// decimals pads a decimal with zeros to at least n decimal places.
func decimals(text string, n int) string {
	whole, places, _ := strings.Cut(text, ".")
	if missing := n - len(places); missing > 0 {
		places += strings.Repeat("0", missing)
	}
	return whole + "." + places
}

// majorAmount writes minor units in major units, with at least two decimal places.
func majorAmount(minor int64, exponent int) string { return decimals(money.Format(minor, exponent), 2) }

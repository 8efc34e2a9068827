package providerb

import (
	"errors"
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/money"
)

const (
	fieldTotal    = "orderInformation.amountDetails.totalAmount"
	fieldCurrency = "orderInformation.amountDetails.currency"
)

// amountForm is the form of amounts in requests: no sign, digits and at most one point.
var amountForm = regexp.MustCompile(`^([0-9]+[.]?[0-9]*|[.][0-9]+)$`)

var errAmount = errors.New("not an amount")

// minor parses an amount as minor units. It cuts off decimals that the currency does not have.
func minor(text wire.Text, c money.Currency) (int64, error) {
	const longest = 19
	whole, decimals, _ := strings.Cut(string(text), ".")
	if len(text) > longest || !amountForm.MatchString(string(text)) {
		return 0, errAmount
	}
	decimals = decimals[:min(len(decimals), c.Exponent)]
	if whole == "" {
		whole = "0"
	}
	if decimals != "" {
		whole += "." + decimals
	}
	n, err := money.Parse(whole, c.Exponent)
	if err != nil {
		return 0, errAmount
	}
	return n, nil
}

// major writes minor units with exactly the currency's decimals.
func major(minor int64, currency string) string {
	c, _ := money.Lookup(currency)
	return money.Format(minor, c.Exponent)
}

// currencyOf returns the currency of a request, else the caller's default. The request may write it
// in upper or lower case.
func currencyOf(named wire.Text, fallback string) (money.Currency, problem) {
	code := strings.ToLower(string(named))
	if code == "" {
		code = fallback
	}
	c, known := money.Lookup(code)
	if !known {
		return money.Currency{}, invalid(fieldCurrency)
	}
	return c, problem{}
}

// total returns the amount of a new payment: the total, else the sum of the line items.
func total(o *wire.Order, c money.Currency) (int64, problem) {
	if f := noServiceFee(o.AmountDetails); !f.none() {
		return 0, f
	}
	if o.AmountDetails.TotalAmount == "" {
		return totalOfItems(o.LineItems, c)
	}
	n, err := minor(o.AmountDetails.TotalAmount, c)
	if err != nil {
		return 0, invalid(fieldTotal)
	}
	return n, problem{}
}

// noServiceFee refuses a service fee. V1 would not charge it, and the client would count on it.
func noServiceFee(a wire.AmountDetails) problem {
	if strings.Trim(string(a.ServiceFeeAmount), "0.") != "" {
		return unsupported("orderInformation.amountDetails.serviceFeeAmount")
	}
	return problem{}
}

// totalOfItems returns the sum of quantity times price, plus the tax, of all items. The default
// quantity is one.
func totalOfItems(items []wire.LineItem, c money.Currency) (int64, problem) {
	var sum int64
	for i := range items {
		item := &items[i]
		if item.UnitPrice == "" {
			return 0, missing(fieldTotal)
		}
		price, err := minor(item.UnitPrice, c)
		if err != nil {
			return 0, invalid(itemField(i, "unitPrice"))
		}
		count, ok := quantity(item.Quantity)
		if !ok {
			return 0, invalid(itemField(i, "quantity"))
		}
		var tax int64
		if item.TaxAmount != "" {
			if tax, err = minor(item.TaxAmount, c); err != nil {
				return 0, invalid(itemField(i, "taxAmount"))
			}
		}
		if price > 0 && count > money.Max/price {
			return 0, invalid(fieldTotal)
		}
		if sum += price*count + tax; sum > money.Max {
			return 0, invalid(fieldTotal)
		}
	}
	if len(items) == 0 {
		return 0, missing(fieldTotal)
	}
	return sum, problem{}
}

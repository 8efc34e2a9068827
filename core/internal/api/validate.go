package api

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The bounds of metadata.
const (
	maxMetadata      = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
	maxLineItems     = 100
)

// amountFault checks an amount that is required and must be positive.
func amountFault(amount int64, given bool) *fault {
	switch {
	case amount == 0 && !given:
		return &fault{code: codeMissingField, param: "amount"}
	case amount < 1 || amount > money.Max:
		return &fault{code: codeInvalidAmount, param: "amount"}
	}
	return nil
}

// field is a text with its longest length in characters.
type field struct {
	param string
	value *string
	limit int
}

// lengthFault reports the first field that is too long.
func lengthFault(fields ...field) *fault {
	for _, f := range fields {
		if f.value != nil && utf8.RuneCountInString(*f.value) > f.limit {
			return &fault{code: codeInvalidValue, param: f.param, message: "The value is longer than " + strconv.Itoa(f.limit) + " characters. Shorten it."}
		}
	}
	return nil
}

// controlFault refuses control characters in a text that is sent unchanged to the card networks.
func controlFault(param string, value *string) *fault {
	if value == nil || !strings.ContainsFunc(*value, unicode.IsControl) {
		return nil
	}
	return &fault{code: codeInvalidValue, param: param, message: "The value has a control character. Remove it."}
}

// isText reports whether a value can be stored as a text. PostgreSQL stores only UTF-8 without
// U+0000.
func isText(value string) bool { return utf8.ValidString(value) && !strings.Contains(value, "\x00") }

// textFault returns the fault of a value that is not a text.
func textFault(param string) *fault {
	return &fault{code: codeInvalidValue, param: param, message: "The text must be UTF-8 without the character U+0000."}
}

func metadataFault(m *v1.Metadata) *fault {
	if m == nil {
		return nil
	}
	if len(*m) > maxMetadata {
		return &fault{code: codeInvalidValue, param: "metadata", message: "There are more than 50 entries. Send fewer."}
	}
	for _, k := range slices.Sorted(maps.Keys(*m)) {
		v := (*m)[k]
		if k == "" || utf8.RuneCountInString(k) > maxMetadataKey {
			return &fault{code: codeInvalidValue, param: "metadata", message: "Each key must have 1 to 40 characters."}
		}
		if f := lengthFault(field{"metadata." + k, &v, maxMetadataValue}); f != nil {
			return f
		}
	}
	return nil
}

// mergeMetadata returns the entries after an update, nil for none. An entry with an empty text
// removes the entry of its key, and the keys that the update does not name stay.
func mergeMetadata(was, in *v1.Metadata) (*v1.Metadata, error) {
	if in == nil {
		return was, nil
	}
	out := v1.Metadata{}
	if was != nil {
		maps.Copy(out, *was)
	}
	for k, v := range *in {
		if out[k] = v; v == "" {
			delete(out, k)
		}
	}
	if f := metadataFault(&out); f != nil {
		return nil, f
	}
	if len(out) == 0 {
		return nil, nil //nolint:nilnil // no entries
	}
	return &out, nil
}

// contactFault checks the fields of a contact. at is its place in the body, "" for the body itself.
func contactFault(at string, c *v1.Contact) *fault {
	if c == nil {
		return nil
	}
	if at != "" {
		at += "."
	}
	if f := lengthFault(
		field{at + "first_name", c.FirstName, 100}, field{at + "last_name", c.LastName, 100}, field{at + "company", c.Company, 100},
		field{at + "email", c.Email, 255}, field{at + "phone", c.Phone, 40},
	); f != nil || c.Address == nil {
		return f
	}
	a := c.Address
	at += "address."
	return lengthFault(
		field{at + "line1", a.Line1, 255}, field{at + "line2", a.Line2, 255}, field{at + "city", a.City, 100},
		field{at + "state", a.State, 100}, field{at + "postal_code", a.PostalCode, 20}, field{at + "country", a.Country, 60},
	)
}

func orderFault(o *v1.Order) *fault {
	if o == nil {
		return nil
	}
	for _, amount := range []struct {
		param string
		value *v1.Money
	}{
		{"order.tax_amount", o.TaxAmount},
		{"order.shipping_amount", o.ShippingAmount},
		{"order.duty_amount", o.DutyAmount},
		{"order.discount_amount", o.DiscountAmount},
	} {
		if amount.value != nil && (*amount.value < 0 || *amount.value > money.Max) {
			return &fault{code: codeInvalidAmount, param: amount.param, message: "The amount must be an integer from 0 to 999999999999."}
		}
	}
	if f := lengthFault(field{"order.purchase_order_number", o.PurchaseOrderNumber, 64}); f != nil || o.LineItems == nil {
		return f
	}
	if len(*o.LineItems) > maxLineItems {
		return &fault{code: codeInvalidValue, param: "order.line_items", message: "There are more than 100 line items. Send fewer."}
	}
	for i, item := range *o.LineItems {
		if f := lineItemFault("order.line_items."+strconv.Itoa(i), &item); f != nil {
			return f
		}
	}
	return nil
}

func lineItemFault(at string, i *v1.LineItem) *fault {
	if i.Name == "" {
		return &fault{code: codeMissingField, param: at + ".name"}
	}
	if !decimal(i.Quantity, 10) {
		return &fault{code: codeInvalidValue, param: at + ".quantity", message: "The quantity must be a decimal with at most 10 digits and 4 places."}
	}
	if !decimal(i.UnitPrice, 12) {
		return &fault{code: codeInvalidValue, param: at + ".unit_price", message: "The unit price must be a decimal with at most 12 digits and 4 places."}
	}
	return lengthFault(field{at + ".id", i.ID, 64}, field{at + ".name", &i.Name, 255}, field{at + ".description", i.Description, 1000})
}

// decimal reports whether s is 1 to digits digits and at most four decimal places.
func decimal(s string, digits int) bool {
	whole, places, dot := strings.Cut(s, ".")
	return isDigits(whole, 1, digits) && (!dot || isDigits(places, 1, 4))
}

func isDigits(s string, least, most int) bool {
	if len(s) < least || len(s) > most {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

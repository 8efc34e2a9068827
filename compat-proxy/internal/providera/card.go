package providera

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// brand is a range of card numbers: those whose first digits lie between from and to.
type brand struct {
	from, to string // of equal length
	lengths  []int  // how many digits its numbers may have
	name     string // as accountType shows it
	code     int    // digits of its card code
}

// brands is searched in order.
var brands = []brand{
	{"34", "34", []int{15}, "AmericanExpress", 4},
	{"37", "37", []int{15}, "AmericanExpress", 4},
	{"3528", "3589", []int{16}, "JCB", 3},
	{"3088", "3088", []int{16}, "JCB", 3},
	{"300", "305", []int{14}, "DinersClub", 3},
	{"36", "36", []int{14}, "DinersClub", 3},
	{"38", "38", []int{14}, "DinersClub", 3},
	{"4", "4", []int{13, 16}, "Visa", 3},
	{"51", "55", []int{16}, "MasterCard", 3},
	{"2221", "2720", []int{16}, "MasterCard", 3},
	{"6011", "6011", []int{16}, "Discover", 3},
	{"644", "649", []int{16}, "Discover", 3},
	{"65", "65", []int{16}, "Discover", 3},
	{"62", "62", []int{16}, "Discover", 3},
}

// accountTypes names v1's brands as the dialect does.
var accountTypes = map[v1.CardBrand]string{
	v1.CardBrandVisa:       "Visa",
	v1.CardBrandMastercard: "MasterCard",
	v1.CardBrandAmex:       "AmericanExpress",
	v1.CardBrandDiscover:   "Discover",
	v1.CardBrandUnionpay:   "Discover",
	v1.CardBrandJcb:        "JCB",
	v1.CardBrandDiners:     "DinersClub",
	v1.CardBrandUnknown:    "",
}

// brandOf finds the brand of a number that is one in digits and length, and false for any other text.
func brandOf(number string) (brand, bool) {
	if len(number) < 13 || len(number) > 16 || !digits(number) {
		return brand{}, false
	}
	for _, b := range brands {
		prefix := number[:len(b.from)]
		if prefix >= b.from && prefix <= b.to && slices.Contains(b.lengths, len(number)) {
			return b, true
		}
	}
	return brand{}, false
}

// luhn reports whether the digits' check digit is right.
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// lastFour gives the last four digits of a card number or of its masked form, and "" when it does not end in four digits.
func lastFour(number string) string {
	if len(number) < 4 || !digits(number[len(number)-4:]) {
		return ""
	}
	return number[len(number)-4:]
}

// masked is how an answer shows a number that ends so; empty stays empty.
func masked(last4 string) string {
	if last4 == "" {
		return ""
	}
	return "XXXX" + last4
}

// expiration is a month; ok is false for text that is none. hidden is set for XXXX, which names no month.
func expiration(text string) (month, year int, hidden, ok bool) {
	if strings.EqualFold(text, "XXXX") {
		return 0, 0, true, true
	}
	m, y := splitExpiration(text)
	if !digits(m) || !digits(y) || len(m) > 2 || (len(y) != 2 && len(y) != 4) {
		return 0, 0, false, false
	}
	month, _ = strconv.Atoi(m)
	year, _ = strconv.Atoi(y)
	if len(y) == 2 {
		year += 2000
	}
	return month, year, false, month >= 1 && month <= 12 && year >= 2000 && year <= 2099
}

// splitExpiration finds month and year in the forms clients send: YYYY-MM, YYYY-M, MM/YYYY, MM/YY, MM-YYYY, MM-YY, MMYY, MMYYYY.
func splitExpiration(text string) (month, year string) {
	if i := strings.IndexAny(text, "-/"); i >= 0 {
		if i == 4 {
			return text[i+1:], text[:i]
		}
		return text[:i], text[i+1:]
	}
	if len(text) == 4 || len(text) == 6 {
		return text[:2], text[2:]
	}
	return "", ""
}

// checkCard judges the card of a new payment: number first, then date, then code.
func checkCard(card *wire.Node, now time.Time) (*v1.CardInput, problem) {
	number := card.Get("cardNumber")
	b, known := brandOf(number)
	if !known || !luhn(number) {
		return nil, because(reasonCardNumber)
	}
	month, year, hidden, ok := expiration(card.Get("expirationDate"))
	switch {
	case !ok || hidden:
		return nil, because(reasonExpiration)
	case expired(month, year, now):
		return nil, because(reasonExpired)
	}
	in := &v1.CardInput{Number: secret.New(number), ExpMonth: month, ExpYear: year}
	if code := card.Get("cardCode"); code != "" {
		if len(code) != b.code || !digits(code) {
			return nil, because(reasonCardCode)
		}
		cvc := secret.New(code)
		in.Cvc = &cvc
	}
	return in, problem{}
}

// expired reports whether the month has ended.
func expired(month, year int, now time.Time) bool {
	now = now.UTC()
	return year < now.Year() || year == now.Year() && month < int(now.Month())
}

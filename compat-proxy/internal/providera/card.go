package providera

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// account holds the dialect's rules for the cards of a brand. The zero account is that of a brand
// that the dialect does not have.
type account struct {
	name    string // the accountType of a response
	lengths []int  // the accepted lengths of a number
	refused string // a number prefix of the brand that the dialect does not accept; "" for none
}

// accounts are the brands of the dialect. It treats UnionPay cards as Discover cards.
var accounts = map[card.Brand]account{
	card.Amex:       {"AmericanExpress", []int{15}, ""},
	card.Diners:     {"DinersClub", []int{14}, "39"},
	card.Discover:   {"Discover", []int{16}, ""},
	card.JCB:        {"JCB", []int{16}, ""},
	card.Mastercard: {"MasterCard", []int{16}, ""},
	card.UnionPay:   {"Discover", []int{16}, "81"},
	card.Visa:       {"Visa", []int{13, 16}, ""},
}

// acceptedBrands are the accepted brands of stored cards.
var acceptedBrands = func() []v1.CardBrand {
	taken := make([]v1.CardBrand, 0, len(accounts))
	for brand := range accounts {
		taken = append(taken, v1.CardBrand(brand))
	}
	slices.Sort(taken)
	return taken
}()

// brandOf returns the account of a number that the dialect accepts, and false for any other text.
func brandOf(number secret.String) (account, bool) {
	brand := card.BrandOf(number)
	a, known := accounts[brand]
	refused := a.refused != "" && strings.HasPrefix(number.Reveal(), a.refused)
	if !known || refused || !slices.Contains(a.lengths, number.Len()) || !card.Valid(number) {
		return account{}, false
	}
	return a, true
}

// lastFour returns the last four digits of a full or masked card number, and "" if it does not end
// in four digits.
func lastFour(number string) string {
	if len(number) < 4 || !chars.Digits(number[len(number)-4:]) {
		return ""
	}
	return number[len(number)-4:]
}

// maskedLength is the length of every masked number.
const maskedLength = 8

// masked returns the masked form of a number with that end; "" for an empty end.
func masked(end string) string {
	if end == "" || len(end) > maskedLength {
		return ""
	}
	return strings.Repeat("X", maskedLength-len(end)) + end
}

// expiration parses a month. It returns false for an invalid text. hidden is set for a masked
// month such as XXXX.
func expiration(text string) (month, year int, hidden, ok bool) {
	if hiddenExpiration.MatchString(text) {
		return 0, 0, true, true
	}
	m, y := splitExpiration(text)
	if !chars.Digits(m) || !chars.Digits(y) || len(m) > 2 || (len(y) != 2 && len(y) != 4) {
		return 0, 0, false, false
	}
	month, _ = strconv.Atoi(m)
	year, _ = strconv.Atoi(y)
	if len(y) == 2 {
		year += 2000
	}
	return month, year, false, month >= 1 && month <= 12 && year >= 2000 && year <= 2099
}

// hiddenExpiration matches a masked month: XXXX, or any form of a month with an X for each digit.
var hiddenExpiration = regexp.MustCompile(`^(?i:X{4}|X{6}|XX[-/]XX|XX[-/]X{4}|X{4}[-/]XX)$`)

// splitExpiration separates month and year. Clients send YYYY-MM, YYYY-M, MM/YYYY, MM/YY, MM-YYYY,
// MM-YY, MMYY and MMYYYY.
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

// checkCard returns the card of a new payment, or the problem. It checks the number first, then the
// date, then the code. Like cardOf, it does not reject an expired card.
func checkCard(given wire.Node) (*v1.CardInput, problem) {
	in, p := cardOf(secret.New(given.Get("cardNumber")), given.Get("expirationDate"))
	if !p.none() {
		return nil, p
	}
	if code := secret.New(given.Get("cardCode")); !code.IsZero() {
		if !card.BrandOf(in.Number).FitsCode(code) {
			return nil, because(reasonCardCode)
		}
		in.Cvc = &code
	}
	return in, problem{}
}

// cardOf returns the card with that number and date, or the problem. It does not reject an expired
// card: v1 does, after it has searched for an earlier request. So a retry after the end of the
// month finds the earlier payment.
func cardOf(number secret.String, expiry string) (*v1.CardInput, problem) {
	if _, taken := brandOf(number); !taken {
		return nil, because(reasonCardNumber)
	}
	month, year, hidden, ok := expiration(expiry)
	if !ok || hidden {
		return nil, because(reasonExpiration)
	}
	return &v1.CardInput{Number: number, ExpMonth: month, ExpYear: year}, problem{}
}

// expired reports whether the month has ended.
func expired(month, year int, now time.Time) bool {
	now = now.UTC()
	return year < now.Year() || year == now.Year() && month < int(now.Month())
}

package providera

import (
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// accountNumber returns the digits of a bank account's number. Clients also send separators. It
// returns a number that may be masked unchanged: its digits would be the number of another account.
func accountNumber(bank wire.Node) string {
	given := bank.Get("accountNumber")
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, given)
	if len(digits) <= 4 || strings.ContainsAny(given, "Xx*") { // masks show four digits
		return given
	}
	return digits
}

// validAccount reports whether v1 accepts an account number, which has no check digit.
func validAccount(number string) bool { return len(number) >= 4 && chars.Digits(number) }

// leastAccountEnd is the least number of digits that v1 shows of an account number. It is half of
// the shortest number.
const leastAccountEnd = 2

// accountEnd returns the last digits of a full or masked account number, at most four. It returns
// "" for fewer digits than any response shows.
func accountEnd(number string) string {
	shown := strings.TrimLeft(number, "Xx")
	if len(shown) < leastAccountEnd || len(shown) >= 4 || !chars.Digits(shown) {
		return lastFour(number)
	}
	return shown
}

// maskedAccount masks an account number as v1 does later: it shows at most half of a short one. If
// whole is set, the number is never only the end of one, so four digits are a short number.
func maskedAccount(number string, whole bool) string {
	if chars.Digits(number) && (len(number) > 4 || whole && len(number) == 4) {
		return masked(number[len(number)-min(4, len(number)/2):])
	}
	return masked(accountEnd(number))
}

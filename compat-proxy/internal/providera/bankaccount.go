package providera

import (
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
)

// validAccount reports whether v1 takes an account number. There is nothing else to check about one.
func validAccount(number string) bool { return len(number) >= 4 && chars.Digits(number) }

// leastAccountEnd is how many digits of an account number v1 shows at least: half of the shortest one.
const leastAccountEnd = 2

// accountEnd gives the digits at the end of an account number, in full or masked, four at most; "" for less than any answer shows.
func accountEnd(number string) string {
	shown := strings.TrimLeft(number, "Xx")
	if len(shown) < leastAccountEnd || len(shown) >= 4 || !chars.Digits(shown) {
		return lastFour(number)
	}
	return shown
}

// maskedAccount shows an account number like v1 does later: of a short one never more than half. Where its end may be given alone, four digits
// are that.
func maskedAccount(number string, whole bool) string {
	if chars.Digits(number) && (len(number) > 4 || whole && len(number) == 4) {
		return masked(number[len(number)-min(4, len(number)/2):])
	}
	return masked(accountEnd(number))
}

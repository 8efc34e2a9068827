package apikey

// digits are in ASCII order, so that fixed-width numbers compare as strings do.
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// maxBody is the largest number of randomLen bytes. A larger number can be written in the alphabet,
// but was never issued.
const maxBody = "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1"

// appendBase62 appends the big-endian number raw to dst as exactly width digits. It consumes raw.
func appendBase62(dst, raw []byte, width int) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, width)...)
	for i := len(dst) - 1; i >= start; i-- {
		dst[i] = digits[divide(raw, len(digits))]
	}
	return dst
}

// divide replaces the big-endian number raw by its quotient and returns the remainder.
func divide(raw []byte, by int) int {
	rest := 0
	for i, b := range raw {
		rest = rest<<8 | int(b)
		raw[i] = byte(rest / by) //nolint:gosec // below 256, as rest was below 256 times by
		rest %= by
	}
	return rest
}

func isBase62(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

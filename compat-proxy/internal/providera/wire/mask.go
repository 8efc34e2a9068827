package wire

import "strings"

const (
	// shortSecret is the length below which a value that is too short may be
	// quoted: no card number or key fits in it.
	shortSecret = 7
	// tailFrom is the length from which the last four characters are shown.
	tailFrom = 8
	// panDigits is the shortest run of digits that may be a card number.
	panDigits = 13
)

// maskSecret hides a secret value for a fault text.
func maskSecret(value string, tooShort bool) string {
	runes := []rune(value)
	n := len(runes)
	if tooShort && n < shortSecret {
		return value
	}
	if n < tailFrom {
		return strings.Repeat("X", n)
	}
	return strings.Repeat("X", n-4) + string(runes[n-4:])
}

// maskName hides digits in a name that a client chose.
func maskName(name string) string { return maskDigits(name) }

// maskDigits replaces all but the last four digits of every run that may be a
// card number. Blanks, dashes and dots do not end a run.
func maskDigits(s string) string {
	if len(s) < panDigits {
		return s
	}
	var out []byte
	for i := 0; i < len(s); {
		end, digits := digitRun(s, i)
		if digits >= panDigits {
			if out == nil {
				out = []byte(s)
			}
			hide(out[i:end], digits-4)
		}
		i = max(end, i+1)
	}
	if out == nil {
		return s
	}
	return string(out)
}

// digitRun measures the run that begins at i: where it ends, how many digits.
func digitRun(s string, i int) (end, digits int) {
	end = i
	for j := i; j < len(s); j++ {
		switch c := s[j]; {
		case c >= '0' && c <= '9':
			digits++
			end = j + 1
		case digits == 0 || (c != ' ' && c != '-' && c != '.'):
			return end, digits
		}
	}
	return end, digits
}

// hide replaces the first n digits of run.
func hide(run []byte, n int) {
	for i := 0; i < len(run) && n > 0; i++ {
		if run[i] >= '0' && run[i] <= '9' {
			run[i] = 'X'
			n--
		}
	}
}

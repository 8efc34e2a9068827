package wire

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// shortSecret is the length below which a value that is too short may be
	// quoted: no card number or key fits in it.
	shortSecret = 7
	// tailFrom is the length from which the last four characters are shown.
	tailFrom = 8
	// panDigits is the shortest run of digits that may be a card number.
	panDigits = 13
	// maxQuote is how many bytes of a value or name a fault quotes: an answer
	// must not grow with what it refuses.
	maxQuote = 4096
)

// maskSecret hides a secret value for a fault text.
func maskSecret(value string, tooShort bool) string {
	runes := []rune(tail(value))
	n := len(runes)
	if tooShort && n < shortSecret {
		return value
	}
	if n < tailFrom {
		return strings.Repeat("X", n)
	}
	return strings.Repeat("X", n-4) + string(runes[n-4:])
}

// visible is a value or name that a client chose, fit to be quoted.
func visible(s string) string { return maskKeys(maskDigits(head(s))) }

// apiKeyForm is a v1 API key, or what is left of one. Clients put them into the wrong field.
var apiKeyForm = regexp.MustCompile(`([sp]k_(?:test|live)_)[0-9A-Za-z]+`)

// maskKeys hides all of an API key but what kind it is.
func maskKeys(s string) string {
	if !strings.Contains(s, "k_") {
		return s
	}
	return apiKeyForm.ReplaceAllString(s, "${1}XXXX")
}

// head gives the first maxQuote bytes of s, at the end of a character.
func head(s string) string {
	if len(s) <= maxQuote {
		return s
	}
	end := maxQuote
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// tail gives the last maxQuote bytes of s, from the start of a character.
func tail(s string) string {
	if len(s) <= maxQuote {
		return s
	}
	from := len(s) - maxQuote
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

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

package wire

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// shortSecret is the length below which a secret value that is too short may be quoted. Every card
	// number and key is longer.
	shortSecret = 7
	// tailFrom is the length from which the last four characters are shown.
	tailFrom = 8
	// panDigits is the shortest run of digits that may be a card number.
	panDigits = 13
	// maxQuote bounds the bytes of a value or name that a fault quotes, and so the response to a long
	// request.
	maxQuote = 4096
)

// maskSecret masks a secret value for a fault text.
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

// visible returns a value or name of a client in a form that is safe to quote.
func visible(s string) string { return maskKeys(maskDigits(head(s))) }

// apiKeyForm is a v1 API key, or a part of one. Clients put API keys into wrong fields.
var apiKeyForm = regexp.MustCompile(`([sp]k_(?:test|live)_)[0-9A-Za-z]+`)

// maskKeys masks API keys, all but their prefix.
func maskKeys(s string) string {
	if !strings.Contains(s, "k_") {
		return s
	}
	return apiKeyForm.ReplaceAllString(s, "${1}XXXX")
}

// head returns the first maxQuote bytes of s, up to the end of a character.
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

// tail returns the last maxQuote bytes of s, from the start of a character.
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

// maskDigits masks every run of digits that may be a card number, all but its last four digits.
// Blanks, dashes and dots do not end a run.
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

// digitRun returns the end and the number of digits of the run that begins at i.
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

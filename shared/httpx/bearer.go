package httpx

import "strings"

// Bearer returns the token in the Authorization lines of a request. It returns false for another
// scheme, and unless there is exactly one line: a program in front may have read another one.
func Bearer(lines []string) (token string, ok bool) {
	if len(lines) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(lines[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

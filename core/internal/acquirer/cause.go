package acquirer

import (
	"errors"
	"slices"
	"strings"
)

// ErrLogin reports that a check proved the credentials of an account to be wrong.
var ErrLogin = errors.New("acquirer: the login was refused")

// maxCause is the largest number of characters of a Cause.
const maxCause = 200

// Cause returns the cause of a failed call in few words for an operator, such as "E00007" or
// "connection refused". It is the text of the error without the names of packages and classes. No
// error of an acquirer has a credential, card data or any text of a response.
func Cause(err error) string {
	parts := strings.Split(strings.ReplaceAll(err.Error(), "\n", ": "), ": ")
	kept := slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return slices.Contains(wrappers, part) })
	if len(kept) == 0 {
		kept = parts[len(parts)-1:]
	}
	text := []rune(strings.Join(kept, ": "))
	return string(text[:min(len(text), maxCause)])
}

// wrappers are the parts of an error's text that name no cause.
var wrappers = []string{
	"engine", "still open", "settlement", "account", "acquirer", "providera", "provider-b", "simulator", "upstream",
	"outcome unknown", "unavailable", "the login was refused", "connect", "send",
}

package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/shared/secret"
)

// FileSuffix is appended to the name of a secret's variable: NAME holds the secret, NAME_FILE holds
// the path of a file with it.
const FileSuffix = "_FILE"

var errBothSet = errors.New("both are set: unset one")

// Environment reads a secret from a variable, or from the file that the variable with FileSuffix
// names, without the white space around it. It returns the zero secret if neither variable is set.
// An empty file is an error, as for Resolve.
func Environment(getenv func(string) string, variable string) (secret.String, error) {
	text, path := getenv(variable), getenv(variable+FileSuffix)
	switch {
	case text != "" && path != "":
		return secret.String{}, fmt.Errorf("%s and %s: %w", variable, variable+FileSuffix, errBothSet)
	case path != "":
		content, err := fromFile(path)
		if err != nil {
			return secret.String{}, fmt.Errorf("%s: %w", variable+FileSuffix, err)
		}
		return secret.New(strings.TrimSpace(content.Reveal())), nil
	}
	return secret.New(text), nil
}

// ResolveOr returns the result of Resolve if the Secret is set, and else of Environment.
func (s Secret) ResolveOr(getenv func(string) string, variable string) (secret.String, error) {
	if s.IsZero() {
		return Environment(getenv, variable)
	}
	return s.Resolve()
}

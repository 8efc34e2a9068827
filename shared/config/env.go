package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/shared/secret"
)

// FileSuffix behind the name of a variable that holds a secret makes the name of the variable that
// names a file instead.
const FileSuffix = "_FILE"

var errBothSet = errors.New("both are set")

// Environment reads a secret from a variable, or from the file that the variable with FileSuffix
// names. It returns the zero secret if neither is set.
func Environment(getenv func(string) string, variable string) (secret.String, error) {
	text, path := getenv(variable), getenv(variable+FileSuffix)
	switch {
	case text != "" && path != "":
		return secret.String{}, fmt.Errorf("%s and %s: %w", variable, variable+FileSuffix, errBothSet)
	case path != "":
		b, err := readAtMost(path, maxSecret)
		if err != nil {
			return secret.String{}, fmt.Errorf("%s: %w", variable+FileSuffix, err)
		}
		return secret.New(strings.TrimSpace(string(b))), nil
	}
	return secret.New(text), nil
}

// ResolveOr is Resolve, or Environment if nothing was configured.
func (s Secret) ResolveOr(getenv func(string) string, variable string) (secret.String, error) {
	if s.IsZero() {
		return Environment(getenv, variable)
	}
	return s.Resolve()
}

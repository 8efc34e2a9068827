package core

import (
	"fmt"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// operatorVariable holds the operator token; with _FILE behind it, one that names a file instead.
const operatorVariable = "CAUSEWAY_OPERATOR_TOKEN"

// minToken is how many characters 32 random bytes have at least, in base64 without padding.
const minToken = 43

// OperatorToken reads the token of the operator's API that the environment names: CAUSEWAY_OPERATOR_TOKEN, or the file that
// CAUSEWAY_OPERATOR_TOKEN_FILE names. The zero secret when it names none, which keeps that API off.
func OperatorToken(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, operatorVariable)
}

// checkToken refuses a token that could be guessed, or not be sent.
func checkToken(name string, token secret.String) error {
	text := token.Reveal()
	if text == "" {
		return nil
	}
	if len(text) < minToken {
		return fmt.Errorf("the %s has %d characters: want 32 random bytes, such as `openssl rand -base64 32` gives", name, len(text))
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return fmt.Errorf("the %s has a character that is not printable ASCII", name)
		}
	}
	return nil
}

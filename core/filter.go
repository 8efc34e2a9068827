package core

import "github.com/causeway-pay/causeway/shared/secret"

// filterVariable holds the secret of the filter in front; with fileSuffix it names a file instead.
const filterVariable = "CAUSEWAY_FILTER_SECRET"

// FilterSecret reads the secret of the filter that stands in front, from CAUSEWAY_FILTER_SECRET or the file that CAUSEWAY_FILTER_SECRET_FILE
// names. The zero secret when neither is set: then v1 answers whoever reaches it.
func FilterSecret(getenv func(string) string) (secret.String, error) {
	return secretFrom(getenv, filterVariable)
}

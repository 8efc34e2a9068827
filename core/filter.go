package core

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// filterVariable holds the secret of the filter in front; with _FILE behind it, one that names a file instead.
const filterVariable = "CAUSEWAY_FILTER_SECRET"

// FilterSecret reads the secret of the filter that stands in front, from CAUSEWAY_FILTER_SECRET or the file that CAUSEWAY_FILTER_SECRET_FILE
// names. The zero secret when neither is set: then v1 answers whoever reaches it.
func FilterSecret(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, filterVariable)
}

// Inner serves v1 as Handler does, to programs of ours that call it without the filter in front: it must be reachable for no client.
func (c *Core) Inner() http.Handler {
	if c.filter.IsZero() {
		return c.handler
	}
	proof := []string{c.filter.Reveal()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delete(r.Header, api.EncryptionField)
		r.Header[api.ProofField] = proof
		c.handler.ServeHTTP(w, r)
	})
}

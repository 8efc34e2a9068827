package core

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// filterVariable holds the secret of the filter in front; with _FILE behind it, one that names a file instead.
const filterVariable = "CAUSEWAY_FILTER_SECRET"

// FilterSecret reads the secret that core has in common with mle-filter, from
// CAUSEWAY_FILTER_SECRET or the file that CAUSEWAY_FILTER_SECRET_FILE names. It returns the zero
// secret if neither is set.
func FilterSecret(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, filterVariable)
}

// warnUnfiltered logs what core does not protect without the filter secret.
func (cfg *Config) warnUnfiltered(ctx context.Context) {
	if cfg.FilterSecret.IsZero() {
		cfg.Log.WarnContext(ctx, filterVariable+" is not set. If mle-filter stands in front, set it on both: without it core accepts requests"+
			" that did not pass the filter, and repeats in the clear a response that was demanded encrypted")
	}
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

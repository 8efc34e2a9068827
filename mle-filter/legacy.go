package mlefilter

import (
	"fmt"
	"net/http"

	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
)

// hopConfig returns the configuration of a hop without its upstream.
func (f *Filter) hopConfig() httphop.Config {
	return httphop.Config{
		Engine: f.engine, Around: f.around, Observe: f.metrics.Exchange, Log: f.cfg.Log, Identify: f.identify, Hop: f.cfg.Hop,
	}
}

// connectCompat makes the hop in front of compat-proxy. Without its URL the paths do not exist.
func (f *Filter) connectCompat() error {
	if f.cfg.Compat == "" {
		f.legacy = f.around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shell.SendProblem(w, r, shell.Problem(shell.CodeRouteNotFound))
		}))
		return nil
	}
	if f.cfg.Core != nil {
		return errCompat
	}
	hop := f.hopConfig()
	upstream, err := baseURL(f.cfg.Compat)
	if err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	hop.Upstream, hop.Transport, hop.KeepHost = upstream, f.cfg.Transport, true
	f.legacy, err = httphop.New(hop)
	return err
}

// Legacy decrypts and encrypts the requests and responses of a compat-proxy in the same process.
func (f *Filter) Legacy(compat http.Handler) (http.Handler, error) {
	hop := f.hopConfig()
	hop.Core, hop.KeepHost = compat, true
	return httphop.New(hop)
}

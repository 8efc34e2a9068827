package mlefilter

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/health"
)

// Operations serves operators, on a port of its own: /metrics in Prometheus' text form, and
// /health, which is 200 while v1 can be reached and the keyset can be used, else 503, and names settings that
// weaken the filter.
func (f *Filter) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", f.metrics.Handler())
	checks := map[string]health.Check{"v1": health.V1(f.cfg.V1, f.reach), "keys": f.ring.Ping}
	mux.Handle("GET /health", health.Handler(f.cfg.Log, checks, f.warnings()...))
	return mux
}

// warnings name the settings that weaken the filter.
func (f *Filter) warnings() []string {
	if f.cfg.Secret.IsZero() {
		return []string{health.FilterSecretNotSet}
	}
	return nil
}

// warn logs the warnings at the start.
func (f *Filter) warn(ctx context.Context) {
	if f.cfg.Secret.IsZero() {
		f.cfg.Log.WarnContext(ctx, "mle-filter: filter_secret (CAUSEWAY_FILTER_SECRET) is not set. Set it here and on core: without it core accepts"+
			" requests that did not pass the filter, and repeats in the clear a response that was demanded encrypted")
	}
}

// Gatherer is what the filter counts, without what belongs to the process, for a program that shows it with other things.
func (f *Filter) Gatherer() prometheus.Gatherer { return f.metrics.Gatherer() }

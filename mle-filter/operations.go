package mlefilter

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/health"
)

// Operations serves the operators' port: /metrics in Prometheus' text format, and /health. /health
// is 200 if v1 can be reached, the keyset can be used, and no row of a key is refused, or else 503.
// It also lists settings that weaken the filter.
func (f *Filter) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", f.metrics.Handler())
	checks := map[string]health.Check{"v1": health.V1(f.cfg.V1, f.reach), "keys": f.ring.Ping, "rows": f.ring.Unchanged}
	mux.Handle("GET /health", health.Handler(f.cfg.Log, checks, f.warnings()...))
	return mux
}

// warnings lists the settings that weaken the filter.
func (f *Filter) warnings() []string {
	if f.cfg.Secret.IsZero() {
		return []string{health.FilterSecretNotSet}
	}
	return nil
}

// warn logs the warnings at the start.
func (f *Filter) warn(ctx context.Context) {
	if f.cfg.Secret.IsZero() {
		f.cfg.Log.WarnContext(ctx, "mle-filter: filter_secret (CAUSEWAY_FILTER_SECRET) is not set. Set it here and on "+
			"core: without it core accepts"+
			" requests that did not pass the filter, and repeats in the clear a response that was demanded encrypted")
	}
}

// Gatherer returns the filter's metrics without process metrics, for a program that adds others.
func (f *Filter) Gatherer() prometheus.Gatherer { return f.metrics.Gatherer() }

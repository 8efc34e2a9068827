package mlefilter

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/health"
)

// Operations serves what only operators should reach, on a port of its own: what the filter counts at /metrics in Prometheus' text form, and
// /health, which is 200 while v1 and the keys can be reached, and else 503.
func (f *Filter) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", f.metrics.Handler())
	mux.Handle("GET /health", health.Handler(f.cfg.Log, map[string]health.Check{"v1": health.V1(f.cfg.V1, f.reach), "keys": f.ring.Ping}))
	return mux
}

// Gatherer is what the filter counts, without what belongs to the process, for a program that shows it with other things.
func (f *Filter) Gatherer() prometheus.Gatherer { return f.metrics.Gatherer() }

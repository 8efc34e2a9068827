package compatproxy

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/health"
)

// Operations serves what only operators should reach, on a port of its own: what the proxy counts at /metrics in Prometheus' text form, and
// /health, which is 200 while v1 can be reached and takes payments, and else 503.
func (p *Proxy) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.metrics.Handler())
	mux.Handle("GET /health", health.Handler(p.cfg.Log, map[string]health.Check{"v1": health.V1(p.cfg.V1, p.cfg.Transport)}))
	return mux
}

// Gatherer is what the proxy counts, without what belongs to the process, for a program that shows it with other things.
func (p *Proxy) Gatherer() prometheus.Gatherer { return p.metrics.Gatherer() }

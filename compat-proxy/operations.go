package compatproxy

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/health"
)

// Operations returns the handler of the operators' port. It serves /metrics in Prometheus' text
// form, and /health, which is 200 while v1 can be reached and accepts payments, and else 503.
func (p *Proxy) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.metrics.Handler())
	mux.Handle("GET /health", health.Handler(p.cfg.Log,
		map[string]health.Check{"v1": health.V1(p.cfg.V1, p.cfg.Transport)}))
	return mux
}

// Gatherer returns the metrics of the proxy without the process's, for a program that adds others.
func (p *Proxy) Gatherer() prometheus.Gatherer { return p.metrics.Gatherer() }

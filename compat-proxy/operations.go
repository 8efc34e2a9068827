package compatproxy

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// healthPatience is how long v1 may take to say how it is.
const healthPatience = 2 * time.Second

// Operations serves what only operators should reach, on a port of its own: what the proxy counts at /metrics in Prometheus' text form, and
// /health, which is 200 while v1 can be reached and takes payments, and else 503.
func (p *Proxy) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.metrics.Handler())
	mux.HandleFunc("GET /health", p.health)
	return mux
}

// Gatherer is what the proxy counts, without what belongs to the process, for a program that shows it with other things.
func (p *Proxy) Gatherer() prometheus.Gatherer { return p.metrics.Gatherer() }

func (p *Proxy) health(w http.ResponseWriter, r *http.Request) {
	out, status := v1.Health{Status: v1.HealthStatusOk, Checks: map[string]string{"v1": "ok"}}, http.StatusOK
	if err := p.askV1(r.Context()); err != nil {
		out, status = v1.Health{Status: v1.HealthStatusFailing, Checks: map[string]string{"v1": "failing"}}, http.StatusServiceUnavailable
		p.cfg.Log.ErrorContext(r.Context(), "health check failed", slog.String("check", "v1"), slog.Any("error", err))
	}
	body, err := json.Marshal(out)
	if err != nil {
		body = nil // cannot be: the type is our own
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked is gone
}

// askV1 returns nil when v1 says that it is well.
func (p *Proxy) askV1(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(p.cfg.V1, "/")+"/v1/health", nil)
	if err != nil {
		return err
	}
	answer, err := p.cfg.Transport.RoundTrip(r)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errUnwell
	}
	return nil
}

package mlefilter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var errUnwell = errors.New("v1 says that it is not well")

// Operations serves what only operators should reach, on a port of its own: what the filter counts at /metrics in Prometheus' text form, and
// /health, which is 200 while v1 and the keys can be reached, and else 503.
func (f *Filter) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", f.metrics.Handler())
	mux.HandleFunc("GET /health", f.health)
	return mux
}

// Gatherer is what the filter counts, without what belongs to the process, for a program that shows it with other things.
func (f *Filter) Gatherer() prometheus.Gatherer { return f.metrics.Gatherer() }

func (f *Filter) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthPatience)
	defer cancel()
	out, status := v1.Health{Status: v1.HealthStatusOk, Checks: map[string]string{}}, http.StatusOK
	for name, err := range map[string]error{"v1": f.askV1(ctx), "keys": f.ring.Ping(ctx)} {
		out.Checks[name] = "ok"
		if err != nil {
			out.Checks[name] = "failing"
			out.Status, status = v1.HealthStatusFailing, http.StatusServiceUnavailable
			f.cfg.Log.ErrorContext(ctx, "health check failed", slog.String("check", name), slog.Any("error", err))
		}
	}
	body, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		body = nil // cannot be: the type is our own
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked is gone
}

// askV1 returns nil when v1 says that it is well.
func (f *Filter) askV1(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(f.cfg.V1, "/")+"/v1/health", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := f.reach.RoundTrip(r)
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

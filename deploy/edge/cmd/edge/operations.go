package main

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// operations returns the handler of the operators' port. /metrics and /health need no certificate.
// /ready succeeds if Envoys can get resources, and /config returns these without secrets.
func (e *edge) operations(registry *prometheus.Registry) http.Handler {
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		e.respond(w, r, http.StatusOK, map[string]any{"status": "ok"})
	})
	mux.HandleFunc("GET /ready", e.ready)
	mux.HandleFunc("GET /config", e.dump)
	return mux
}

func (e *edge) ready(w http.ResponseWriter, r *http.Request) {
	status, word := http.StatusOK, "ok"
	if !e.plane.Certified() {
		status, word = http.StatusServiceUnavailable, "waiting for a certificate"
	}
	nodes := []map[string]any{}
	for _, n := range e.server.Nodes() {
		if n.Refused != "" && status == http.StatusOK {
			word = "an Envoy refuses a resource" // the status stays: its other resources serve
		}
		nodes = append(nodes, map[string]any{"id": n.ID, "current": n.Current, "refused": n.Refused})
	}
	refused := ""
	if reason := e.refusal.Load(); reason != nil {
		refused = *reason
	}
	e.respond(w, r, status, map[string]any{"status": word, "nodes": nodes, "configuration_refused": refused})
}

func (e *edge) dump(w http.ResponseWriter, r *http.Request) {
	snap := e.server.Current()
	if snap == nil {
		e.respond(w, r, http.StatusServiceUnavailable, map[string]any{"status": "waiting for a certificate"})
		return
	}
	dump, err := snap.Dump()
	if err != nil {
		e.frame.Log.ErrorContext(r.Context(), "edge: the dump failed", slog.Any("error", err))
		e.respond(w, r, http.StatusInternalServerError, map[string]any{"status": "failed"})
		return
	}
	e.respond(w, r, http.StatusOK, dump)
}

func (e *edge) respond(w http.ResponseWriter, r *http.Request, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		e.frame.Log.DebugContext(r.Context(), "edge: response", slog.Any("error", err))
	}
}

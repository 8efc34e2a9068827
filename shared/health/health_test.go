package health_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/health"
)

func well(context.Context) error { return nil }

func TestHandler(t *testing.T) {
	t.Parallel()
	failing := func(context.Context) error { return errors.New("disk full") }
	for name, tt := range map[string]struct {
		check  health.Check
		status int
		body   string
	}{
		"well":    {well, 200, `{"status":"ok","checks":{"store":"ok","v1":"ok"}}`},
		"failing": {failing, 503, `{"status":"failing","checks":{"store":"failing","v1":"ok"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			h := health.Handler(slog.New(slog.NewJSONHandler(&log, nil)), map[string]health.Check{"v1": well, "store": tt.check})
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/health", http.NoBody))
			if rec.Code != tt.status || rec.Body.String() != tt.body || rec.Header().Get("Content-Type") != "application/json" {
				t.Errorf("got %d %s, want %d %s", rec.Code, rec.Body, tt.status, tt.body)
			}
			if logged := strings.Contains(log.String(), "disk full"); logged != (tt.status == 503) {
				t.Errorf("got the log %s", &log)
			}
		})
	}
}

// TestHandlerEnds: no check runs for longer than the client waits.
func TestHandlerEnds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	h := health.Handler(slog.New(slog.DiscardHandler),
		map[string]health.Check{"v1": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/health", http.NoBody))
	if rec.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", rec.Code)
	}
}

func TestV1(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/health" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	check := health.V1(s.URL+"/", http.DefaultTransport)
	if err := check(t.Context()); err != nil {
		t.Errorf("well: got %v", err)
	}
	status = http.StatusServiceUnavailable
	if err := check(t.Context()); err == nil {
		t.Error("unwell: got no error")
	}
	s.Close()
	if err := check(t.Context()); err == nil {
		t.Error("gone: got no error")
	}
}

// TestHandlerWarns: the response has a warning, and is otherwise unchanged.
func TestHandlerWarns(t *testing.T) {
	t.Parallel()
	checks := map[string]health.Check{"v1": well}
	h := health.Handler(slog.New(slog.DiscardHandler), checks, health.FilterSecretNotSet)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/health", http.NoBody))
	const want = `{"status":"ok","checks":{"v1":"ok"},"warnings":["filter_secret_not_set"]}`
	if rec.Code != http.StatusOK || rec.Body.String() != want {
		t.Errorf("got %d %s, want 200 %s", rec.Code, rec.Body, want)
	}
}

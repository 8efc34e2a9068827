package health

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// timeout is how long all checks together may take.
const timeout = 2 * time.Second

// Check returns nil if the part that it checks is healthy.
type Check func(context.Context) error

// FilterSecretNotSet is the warning of a program that has no secret in common with core
// (mle-filter) or with mle-filter (core). Core then cannot recognise requests that passed
// mle-filter.
const FilterSecretNotSet = "filter_secret_not_set"

// Handler responds 200 if all checks succeed, else 503. The response names each check and its
// result; the reason of a failure goes to the log only. Warnings name settings that weaken the
// program. The response lists them, but they do not change its status.
func Handler(log *slog.Logger, checks map[string]Check, warnings ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		out, status := v1.Health{Status: v1.HealthStatusOk, Checks: map[string]string{}}, http.StatusOK
		if len(warnings) > 0 {
			out.Warnings = &warnings
		}
		for _, name := range slices.Sorted(maps.Keys(checks)) {
			out.Checks[name] = "ok"
			if err := checks[name](ctx); err != nil {
				out.Checks[name] = "failing"
				out.Status, status = v1.HealthStatusFailing, http.StatusServiceUnavailable
				log.ErrorContext(ctx, "health check failed", slog.String("check", name), slog.Any("error", err))
			}
		}
		body, err := json.Marshal(out, json.Deterministic(true))
		if err != nil {
			body = nil // impossible: our own type always encodes
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body) // the client is gone
	})
}

var errUnhealthy = errors.New("v1 is not healthy")

// V1 checks the v1 service at a base URL, over a transport.
func V1(base string, transport http.RoundTripper) Check {
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/v1/health", http.NoBody)
		if err != nil {
			return err
		}
		response, err := transport.RoundTrip(r)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return errUnhealthy
		}
		return nil
	}
}

package api

import (
	"fmt"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/shared/health"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// healthPath is the path of health.
const healthPath = "/v1/health"

// health responds 200 if payments can be made: the store can be read, its writer commits, and the
// clock agrees with the store's clock. It names settings that weaken the service.
func (a *API) health(w http.ResponseWriter, r *http.Request) {
	httpx.EventFrom(r.Context()).SetRoute("GET /v1/health")
	out := v1.Health{Status: v1.HealthStatusOk, Checks: map[string]string{}}
	status := http.StatusOK
	if a.FilterSecret.IsZero() {
		out.Warnings = &[]string{health.FilterSecretNotSet}
	}
	for _, check := range []struct {
		name string
		err  error
	}{{"store_read", a.Store.Ping(r.Context())}, {"store_write", a.Store.PingWriter(r.Context())}} {
		out.Checks[check.name] = "ok"
		if check.err != nil {
			out.Checks[check.name] = "failing"
			out.Status, status = v1.HealthStatusFailing, http.StatusServiceUnavailable
			a.Log.Log(r.Context(), httpx.FaultLevel(r.Context()), "health check failed", "check", check.name, "error", check.err)
		}
	}
	if a.ClockOffset != nil {
		out.Checks["clock"] = "ok"
		if ahead, agrees := a.ClockOffset(); !agrees {
			out.Checks["clock"] = "failing: " + offset(ahead)
			out.Status, status = v1.HealthStatusFailing, http.StatusServiceUnavailable
		}
	}
	a.write(w, r, status, a.healthBody(r.Context(), &out))
}

// offset returns a text of how far the clock is ahead.
func offset(ahead time.Duration) string {
	where := "ahead of"
	if ahead < 0 {
		where = "behind"
	}
	return fmt.Sprintf("%s %s the store's", ahead.Abs().Round(time.Millisecond), where)
}

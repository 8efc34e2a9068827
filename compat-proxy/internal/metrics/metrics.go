package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/compat-proxy/internal/attempts"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/metrics"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Metrics holds the series. It is safe for concurrent use.
type Metrics struct {
	*metrics.Set

	requests *prometheus.HistogramVec
	calls    *prometheus.HistogramVec
	replays  *prometheus.CounterVec
	reads    *prometheus.CounterVec
	secret   *prometheus.GaugeVec
	attempts *prometheus.CounterVec
	refused  *prometheus.CounterVec
}

// New returns metrics.
func New() *Metrics {
	m := &Metrics{
		Set: metrics.New("causeway_compat"),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "causeway_compat_request_seconds",
			Help:    "Time to respond to a legacy request, by method and class of outcome.",
			Buckets: metrics.Latencies(),
		}, []string{"method", "outcome"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "causeway_compat_v1_call_seconds",
			Help:    "Time until v1 responded to an attempt at a call, by route, status (none: no response) and attempt.",
			Buckets: metrics.Latencies(),
		}, []string{"route", "status", "attempt"}),
		replays: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_compat_replays_total",
			Help: "Commands whose result was the stored one of an earlier equal request, by kind. They had no effect.",
		}, []string{"command"}),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_compat_credentials_reloads_total",
			Help: "Attempts to read the credentials files again: ok, or failed, which keeps a broken file's last valid logins.",
		}, []string{"outcome"}),
	}
	m.secret = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "causeway_compat_deduplication_secret_info",
		Help: "1, with the fingerprint of the deduplication secret: proxies with different fingerprints do not recognise " +
			"retries of each other's requests.",
	}, []string{"fingerprint"})
	m.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "causeway_compat_login_attempts_total",
		Help: "Legacy logins by outcome: accepted, refused, or blocked without being judged after too many refusals.",
	}, []string{"outcome"})
	m.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "causeway_compat_v1_refused_calls_total",
		Help: "Calls that v1 refused with a server error that is no fault of the service: a merchant without an account.",
	}, []string{"reason"})
	m.refused.WithLabelValues(v1.CodeAcquirerNotConfigured)
	for _, outcome := range []string{attempts.Accepted, attempts.Refused, attempts.Blocked} {
		m.attempts.WithLabelValues(outcome)
	}
	for _, kind := range []command.Kind{
		command.PaymentAuthorize, command.PaymentCapture, command.PaymentVoid, command.PaymentRefund,
	} {
		m.replays.WithLabelValues(string(kind))
	}
	m.reads.WithLabelValues("ok")
	m.reads.WithLabelValues("failed")
	m.Register(m.requests, m.calls, m.replays, m.reads, m.secret, m.attempts, m.refused)
	return m
}

// DeduplicationSecret shows the fingerprint of the secret that names are derived under.
func (m *Metrics) DeduplicationSecret(fingerprint string) {
	m.secret.WithLabelValues(fingerprint).Set(1)
}

// LoginAttempt counts an attempt to log in.
func (m *Metrics) LoginAttempt(outcome string) { m.attempts.WithLabelValues(outcome).Inc() }

// Unconfigured counts a refusal of a merchant without an account.
func (m *Metrics) Unconfigured() { m.refused.WithLabelValues(v1.CodeAcquirerNotConfigured).Inc() }

// Request counts a legacy request.
func (m *Metrics) Request(method, class string, took time.Duration) {
	m.requests.WithLabelValues(method, class).Observe(took.Seconds())
}

// Call counts an attempt at a v1 call.
func (m *Metrics) Call(c v1client.Call) {
	status := "none"
	if c.Status != 0 {
		status = strconv.Itoa(c.Status)
	}
	m.calls.WithLabelValues(c.Route, status, strconv.Itoa(c.Attempt)).Observe(c.Took.Seconds())
}

// Replay counts a command whose result was the stored one of an earlier equal request.
func (m *Metrics) Replay(kind command.Kind) { m.replays.WithLabelValues(string(kind)).Inc() }

// CredentialsRead counts an attempt to read the credentials files again.
func (m *Metrics) CredentialsRead(err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.reads.WithLabelValues(outcome).Inc()
}

// CredentialsBroken shows whether the credentials files cannot be used. Each scrape calls broken.
func (m *Metrics) CredentialsBroken(broken func() bool) {
	m.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "causeway_compat_credentials_broken",
		Help: "1 while a credentials file cannot be used: its last valid logins stay in force until the proxy ends.",
	}, func() float64 {
		if broken() {
			return 1
		}
		return 0
	}))
}

// Busy returns busy, which turns requests away, with each of these also counted as handled.
func (m *Metrics) Busy(busy http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.Request(dialect.MethodNone, dialect.ClassBusy, 0)
		busy.ServeHTTP(w, r)
	})
}

package metrics

import (
	"cmp"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/metrics"
)

// Metrics holds the metrics. It is safe for concurrent use.
type Metrics struct {
	*metrics.Set

	requests  *prometheus.HistogramVec
	exchanges *prometheus.CounterVec
	refusals  *prometheus.CounterVec
}

// New returns metrics.
func New() *Metrics {
	m := &Metrics{
		Set: metrics.New("causeway_mle"),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "causeway_mle_request_seconds",
			Help:    "Time to respond to a request, including core's time, by route and status.",
			Buckets: metrics.Latencies(),
		}, []string{"route", "status"}),
		exchanges: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_mle_exchanges_total",
			Help: "Requests with a response from core, by encryption of the request (an alg, or none) and of the response.",
		}, []string{"request", "response"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_mle_refusals_total", Help: "Requests that mle-filter rejected, by code and reason.",
		}, []string{"code", "reason"}),
	}
	m.Register(m.requests, m.exchanges, m.refusals)
	return m
}

// Ages registers the ages of the keys, which read returns at each scrape.
func (m *Metrics) Ages(read func() keyring.Ages) {
	gauge := func(name, help string, labels prometheus.Labels, of func(keyring.Ages) time.Duration) {
		opts := prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}
		m.Register(prometheus.NewGaugeFunc(opts, func() float64 { return of(read()).Seconds() }))
	}
	gauge("causeway_mle_key_overdue_seconds",
		"How long ago the schedule should have replaced a merchant's current key; 0 if none is late.",
		nil, func(a keyring.Ages) time.Duration { return a.Overdue })
	const age, help = "causeway_mle_key_age_seconds", "How old the keys are that encrypt the private keys: kek, and " +
		"the newest one of the keyset."
	gauge(age, help, prometheus.Labels{"key": "keyset"}, func(a keyring.Ages) time.Duration { return a.Keyset })
	gauge(age, help, prometheus.Labels{"key": "kek"}, func(a keyring.Ages) time.Duration { return a.KEK })
}

// Changed registers the number of refused rows, which read returns at each scrape.
func (m *Metrics) Changed(read func() int) {
	m.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "causeway_mle_changed_keys",
		Help: "Rows of keys that are refused because another program changed them in the store.",
	}, func() float64 { return float64(read()) }))
}

// Request counts a request.
func (m *Metrics) Request(s httpx.Sample) {
	m.requests.WithLabelValues(cmp.Or(s.Route, "none"), strconv.Itoa(s.Status)).Observe(s.Took.Seconds())
}

// Exchange counts the encryption of a request, or its rejection.
func (m *Metrics) Exchange(e shell.Exchange) {
	if e.Code != "" {
		m.refusals.WithLabelValues(e.Code, e.Reason).Inc()
		return
	}
	response := "none"
	if e.WrapsResponse {
		response = "encrypted"
	}
	m.exchanges.WithLabelValues(cmp.Or(string(e.Alg), "none"), response).Inc()
}

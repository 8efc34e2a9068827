package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

var secretAge = prometheus.NewDesc("causeway_secret_age_seconds",
	"Age of a secret or key that operators rotate, since its creation or last rotation.", []string{"secret"}, nil)

// secrets reads the ages of secrets at a scrape. While they cannot be read, the series are missing.
type secrets struct{ Config }

// Describe implements prometheus.Collector.
func (secrets) Describe(out chan<- *prometheus.Desc) { out <- secretAge }

// Collect implements prometheus.Collector.
func (s secrets) Collect(out chan<- prometheus.Metric) {
	if s.Secrets == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pendingPatience)
	defer cancel()
	ages, err := s.Secrets(ctx)
	if err != nil {
		return
	}
	for name, age := range ages {
		out <- prometheus.MustNewConstMetric(secretAge, prometheus.GaugeValue, age.Seconds(), name)
	}
}

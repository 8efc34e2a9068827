package expiry

import (
	"cmp"
	"context"
	"crypto/x509"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

const day = 24 * time.Hour

// marks are the days before the end at which a line is logged, with its level. The last one is the
// end itself.
var marks = []struct {
	days  int
	level slog.Level
}{{30, slog.LevelInfo}, {14, slog.LevelWarn}, {7, slog.LevelError}, {1, slog.LevelError}, {0, slog.LevelError}}

// Alarm monitors the served certificates. Make it with New, and register it as a
// prometheus.Collector. It is safe for concurrent use.
type Alarm struct {
	clock clock.Clock
	log   *slog.Logger

	mu      sync.Mutex
	pairs   []*certfile.Pair // guarded by mu, like all fields below
	logged  map[string]int   // number of logged marks, by serial
	refused bool
}

// New returns an alarm without certificates.
func New(c clock.Clock, log *slog.Logger) *Alarm {
	return &Alarm{clock: c, log: log, logged: map[string]int{}}
}

// Serve sets the pairs that are served from now on.
func (a *Alarm) Serve(ctx context.Context, pairs ...*certfile.Pair) {
	a.mu.Lock()
	a.pairs = pairs
	a.mu.Unlock()
	a.Look(ctx)
}

// Refused sets whether the source's last certificate was refused, so that the served pairs are
// outdated.
func (a *Alarm) Refused(is bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = is
}

// Run checks the clock until ctx ends, in intervals of every; 0 for every minute.
func (a *Alarm) Run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(cmp.Or(every, time.Minute))
	defer tick.Stop()
	for {
		a.Look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Look logs each new mark of each certificate.
func (a *Alarm) Look(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, logged := a.clock.Now(), map[string]int{}
	for _, p := range a.pairs {
		leaf := p.Leaf()
		serial := leaf.SerialNumber.String()
		passed := passed(leaf, now)
		logged[serial] = max(passed, a.logged[serial])
		if passed <= a.logged[serial] {
			continue
		}
		a.log.Log(ctx, marks[passed-1].level, "edge: a served certificate expires soon or has expired: renew it",
			slog.String("algorithm", leaf.PublicKeyAlgorithm.String()),
			slog.String("serial", serial), slog.Time("not_after", leaf.NotAfter),
			slog.Int("days_left", int(max(0, leaf.NotAfter.Sub(now))/day)))
	}
	a.logged = logged
}

// passed returns the number of marks before now. The skipped marks of a short life count as passed.
func passed(leaf *x509.Certificate, now time.Time) int {
	life, left := leaf.NotAfter.Sub(leaf.NotBefore), leaf.NotAfter.Sub(now)
	reached := 0
	for i, m := range marks {
		ahead := time.Duration(m.days) * day
		tooEarly := ahead*100 > life*34 // a third and a margin: a life may lack a second or an hour of its days
		if left <= ahead && !tooEarly {
			reached = i + 1
		}
	}
	return reached
}

var (
	endSeries = prometheus.NewDesc("causeway_edge_certificate_not_after_timestamp_seconds",
		"Time at which the served certificate expires.", []string{"algorithm"}, nil)
	daysSeries = prometheus.NewDesc("causeway_edge_certificate_days_left",
		"Days until the served certificate ends; negative after it.", []string{"algorithm"}, nil)
	refusedSeries = prometheus.NewDesc("causeway_edge_certificate_refused",
		"1 if the newest certificate was rejected and the previous one is served.", nil, nil)
)

// Describe implements prometheus.Collector.
func (a *Alarm) Describe(to chan<- *prometheus.Desc) {
	to <- endSeries
	to <- daysSeries
	to <- refusedSeries
}

// Collect implements prometheus.Collector.
func (a *Alarm) Collect(to chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, refused := a.clock.Now(), 0.0
	for _, p := range a.pairs {
		leaf := p.Leaf()
		algorithm := leaf.PublicKeyAlgorithm.String()
		to <- prometheus.MustNewConstMetric(endSeries, prometheus.GaugeValue, float64(leaf.NotAfter.Unix()), algorithm)
		to <- prometheus.MustNewConstMetric(daysSeries, prometheus.GaugeValue, leaf.NotAfter.Sub(now).Hours()/24, algorithm)
	}
	if a.refused {
		refused = 1
	}
	to <- prometheus.MustNewConstMetric(refusedSeries, prometheus.GaugeValue, refused)
}

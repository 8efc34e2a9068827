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

// marks are the days before the end at which something is said, and how loudly. The last one is the end itself.
var marks = []struct {
	days  int
	level slog.Level
}{{30, slog.LevelInfo}, {14, slog.LevelWarn}, {7, slog.LevelError}, {1, slog.LevelError}, {0, slog.LevelError}}

// Alarm watches over the certificates that are served. Make it with New, and register it as a prometheus.Collector. It is safe for concurrent use.
type Alarm struct {
	clock clock.Clock
	log   *slog.Logger

	mu      sync.Mutex
	pairs   []*certfile.Pair // guarded by mu, as all below
	said    map[string]int   // by serial: how many marks have been passed and logged
	refused bool
}

// New returns an alarm that watches over nothing yet.
func New(c clock.Clock, log *slog.Logger) *Alarm {
	return &Alarm{clock: c, log: log, said: map[string]int{}}
}

// Serve says which pairs are served from now on.
func (a *Alarm) Serve(ctx context.Context, pairs ...*certfile.Pair) {
	a.mu.Lock()
	a.pairs = pairs
	a.mu.Unlock()
	a.Look(ctx)
}

// Refused says whether what the source has last found was refused, so that the pairs served are no longer what somebody wanted.
func (a *Alarm) Refused(is bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = is
}

// Run looks at the clock until ctx ends, every so often: 0 for every minute.
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

// Look says what there is to say of each certificate, once.
func (a *Alarm) Look(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, said := a.clock.Now(), map[string]int{}
	for _, p := range a.pairs {
		leaf := p.Leaf()
		serial := leaf.SerialNumber.String()
		passed := passed(leaf, now)
		said[serial] = max(passed, a.said[serial])
		if passed <= a.said[serial] {
			continue
		}
		a.log.Log(ctx, marks[passed-1].level, "a certificate that is served ends soon, or has ended", slog.String("algorithm", leaf.PublicKeyAlgorithm.String()),
			slog.String("serial", serial), slog.Time("not_after", leaf.NotAfter), slog.Int("days_left", int(max(0, leaf.NotAfter.Sub(now))/day)))
	}
	a.said = said
}

// passed is how many marks the certificate has behind it. Those that a short life passes over count as passed.
func passed(leaf *x509.Certificate, now time.Time) int {
	life, left := leaf.NotAfter.Sub(leaf.NotBefore), leaf.NotAfter.Sub(now)
	reached := 0
	for i, m := range marks {
		ahead := time.Duration(m.days) * day
		tooEarly := ahead*100 > life*34 // a third and a little: lives are a second or an hour short of their days
		if left <= ahead && !tooEarly {
			reached = i + 1
		}
	}
	return reached
}

var (
	endSeries     = prometheus.NewDesc("causeway_edge_certificate_not_after_timestamp_seconds", "When the certificate that is served ends.", []string{"algorithm"}, nil)
	daysSeries    = prometheus.NewDesc("causeway_edge_certificate_days_left", "Days until it ends; below 0 when it has ended.", []string{"algorithm"}, nil)
	refusedSeries = prometheus.NewDesc("causeway_edge_certificate_refused", "1 if the newest certificate that was offered is refused, so that the one before is served.", nil, nil)
)

// Describe is part of prometheus.Collector.
func (a *Alarm) Describe(to chan<- *prometheus.Desc) {
	to <- endSeries
	to <- daysSeries
	to <- refusedSeries
}

// Collect is part of prometheus.Collector.
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

package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Server holds the functions for a store on a server, and for the cores that share it. All fields
// are required.
type Server struct {
	Stats func() store.Stats
	// LowWaterMark returns the commit position at which lists end. It also returns the position behind
	// all transactions, of any client, that have ended. It is called at every scrape.
	LowWaterMark func(context.Context) (oldest, next int64, err error)
	Alive        func() int
	Offset       func() time.Duration // of this core's clock to the server's
}

var (
	connections = prometheus.NewDesc("causeway_store_connections",
		"Connections to the server, by purpose and state.", []string{"pool", "state"}, nil)
	most = prometheus.NewDesc("causeway_store_connections_max", "Largest number of connections to the server.",
		[]string{"pool"}, nil)
	waited = prometheus.NewDesc("causeway_store_connection_waits_total",
		"How often a command had to wait for a connection.", []string{"pool"}, nil)
	waiting = prometheus.NewDesc("causeway_store_connection_wait_seconds_total",
		"How long commands have waited for connections, in total.", []string{"pool"}, nil)
	rolledBack = prometheus.NewDesc("causeway_store_rolled_back_total",
		"Commands that the server rolled back and core ran again, by cause.", []string{"reason"}, nil)
	unavailable = prometheus.NewDesc("causeway_store_unavailable_total",
		"Commands that ended because the server could not be reached or accepted no commands.", nil, nil)
	members = prometheus.NewDesc("causeway_core_members",
		"Cores on this store whose heartbeat is recent, this one included.", nil, nil)
	offset = prometheus.NewDesc("causeway_core_clock_offset_seconds",
		"How far this core's clock is ahead of the server's, at least; negative when behind.", nil, nil)
	held = prometheus.NewDesc("causeway_lists_held_back_seconds",
		"How long one command of a core has held back new rows from lists, 0 for none. It is known after two scrapes.",
		nil, nil)
)

// onServer collects series at a scrape. While the server is unavailable, the series are missing.
type onServer struct {
	Server
	clock clock.Clock

	mu     sync.Mutex
	oldest int64     // guarded by mu: the low-water mark at the last scrape, if a transaction behind it had ended
	since  time.Time // guarded by mu: when it was first seen
}

// Describe implements prometheus.Collector.
func (*onServer) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		connections, most, waited, waiting, rolledBack, unavailable, members, offset, held,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s *onServer) Collect(out chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	p := s.Stats()
	for _, of := range p.Pools {
		tell(connections, prometheus.GaugeValue, float64(of.InUse), of.Name, "in_use")
		tell(connections, prometheus.GaugeValue, float64(of.Idle), of.Name, "idle")
		tell(most, prometheus.GaugeValue, float64(of.Max), of.Name)
		tell(waited, prometheus.CounterValue, float64(of.Waited), of.Name)
		tell(waiting, prometheus.CounterValue, of.Waiting.Seconds(), of.Name)
	}
	for reason, n := range p.RolledBack {
		tell(rolledBack, prometheus.CounterValue, float64(n), reason)
	}
	tell(unavailable, prometheus.CounterValue, float64(p.Unavailable))
	tell(members, prometheus.GaugeValue, float64(s.Alive()))
	tell(offset, prometheus.GaugeValue, s.Offset().Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), pendingPatience)
	defer cancel()
	if oldest, next, err := s.LowWaterMark(ctx); err == nil {
		tell(held, prometheus.GaugeValue, s.heldFor(oldest, next).Seconds())
	}
}

// heldFor returns how long the low-water mark has not moved while transactions behind it ended. It
// needs no right to see the transactions of others.
func (s *onServer) heldFor(oldest, next int64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if oldest >= next || oldest != s.oldest {
		s.oldest, s.since = oldest, now
		return 0
	}
	return now.Sub(s.since)
}

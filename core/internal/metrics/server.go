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
	most = prometheus.NewDesc("causeway_store_connections_max", "Limit of connections to the database server.",
		[]string{"pool"}, nil)
	waited = prometheus.NewDesc("causeway_store_connection_waits_total",
		"Commands that waited for a connection to the database server.", []string{"pool"}, nil)
	waiting = prometheus.NewDesc("causeway_store_connection_wait_seconds_total",
		"Total time for which commands waited for a connection to the database server.", []string{"pool"}, nil)
	rolledBack = prometheus.NewDesc("causeway_store_rolled_back_total",
		"Commands that the database server rolled back and core retried, by cause.", []string{"reason"}, nil)
	unavailable = prometheus.NewDesc("causeway_store_unavailable_total",
		"Commands that ended because the server could not be reached or accepted no commands.", nil, nil)
	members = prometheus.NewDesc("causeway_core_members",
		"Cores on this store with a recent heartbeat, this one included.", nil, nil)
	offset = prometheus.NewDesc("causeway_core_clock_offset_seconds",
		"Least time by which this core's clock is ahead of the database server's; negative if it is behind.", nil, nil)
	held = prometheus.NewDesc("causeway_lists_held_back_seconds",
		"Time for which one command has kept new rows out of lists; 0 if none does. It needs two scrapes.", nil, nil)
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
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	p := s.Stats()
	for _, of := range p.Pools {
		send(connections, prometheus.GaugeValue, float64(of.InUse), of.Name, "in_use")
		send(connections, prometheus.GaugeValue, float64(of.Idle), of.Name, "idle")
		send(most, prometheus.GaugeValue, float64(of.Max), of.Name)
		send(waited, prometheus.CounterValue, float64(of.Waited), of.Name)
		send(waiting, prometheus.CounterValue, of.Waiting.Seconds(), of.Name)
	}
	for reason, n := range p.RolledBack {
		send(rolledBack, prometheus.CounterValue, float64(n), reason)
	}
	send(unavailable, prometheus.CounterValue, float64(p.Unavailable))
	send(members, prometheus.GaugeValue, float64(s.Alive()))
	send(offset, prometheus.GaugeValue, s.Offset().Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), pendingPatience)
	defer cancel()
	if oldest, next, err := s.LowWaterMark(ctx); err == nil {
		send(held, prometheus.GaugeValue, s.heldFor(oldest, next).Seconds())
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

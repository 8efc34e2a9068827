package failover_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// promised is the limit in deploy/on/patroni until payments are accepted again.
const promised = 35 * time.Second

// fault is a fault of the primary's node, with its repair.
type fault struct {
	name   string
	before func(*testing.T, *node, *load) // nil for nothing
	make   func(*testing.T, *node)
	heal   func(*testing.T, *node)
}

var faults = []fault{
	{"killed", nil, func(_ *testing.T, n *node) { n.Kill() }, restart},
	{"stopped", nil, func(_ *testing.T, n *node) { n.Stop() }, func(_ *testing.T, n *node) { n.Continue() }},
	{"cut off", nil, func(_ *testing.T, n *node) { n.CutOff() }, func(_ *testing.T, n *node) { n.Mend() }},
	{"held up", holdUp, func(_ *testing.T, n *node) { n.Kill() }, restart},
}

func restart(t *testing.T, n *node) {
	t.Helper()
	n.Mend()
	n.Start(t)
}

// holdUp keeps the commits of the primary from the standbys, until clients have abandoned a commit
// and sent retries. Their payments are then only on the primary. The log also exceeds Patroni's
// default limit of a standby's lag, which must not prevent a promotion.
func holdUp(t *testing.T, n *node, l *load) {
	t.Helper()
	n.replication.Cut()
	begun := clock.System().Now()
	if err := n.psql(t.Context(), "causeway",
		"SELECT pg_logical_emit_message(false, 'more', repeat('x', 8 << 20))"); err != nil {
		t.Error(err)
	}
	waitFor(t, "clients retry", func() bool { return clock.System().Now().Sub(begun) > 3500*time.Millisecond })
	leads := slices.ContainsFunc(n.members(t.Context()), func(m member) bool {
		return m.Role == "leader" && m.Name == n.name
	})
	if count := l.AcknowledgedSince(begun); count > 0 && leads { // on a starved machine another node may lead now
		t.Errorf("held up: %d payments were acknowledged that one node has", count)
	}
}

// figures are the figures of all rounds of a fault.
type figures struct {
	rounds, acknowledged, retried int
	lost, differ, twice           int
	took                          []time.Duration
}

// TestFailoverPatroni applies each fault to the primary's node. Each acknowledged payment must be
// stored once, as acknowledged, and no payment may remain unfinished. Payments must be accepted
// again, and the node must return as a replica. Finally, the control repeats a fault without
// synchronous replication. It must lose payments, otherwise the test proves nothing.
func TestFailoverPatroni(t *testing.T) {
	t.Parallel()
	rounds := int(programtest.Number(t, "CAUSEWAY_FAILOVER_ROUNDS", 0))
	full := rounds > 0
	if !full {
		rounds = len(faults)
	}
	c := newCluster(t)
	s := openShop(t, c, 2)
	first := clock.System().Now().Add(-time.Minute)
	total := map[string]*figures{}
	defer report(t, total)
	loads := make([]*load, rounds)
	var late []string // later rounds still run
	for round := range rounds {
		f := faults[round%len(faults)]
		if total[f.name] == nil {
			total[f.name] = &figures{}
		}
		var took time.Duration
		loads[round], took = c.round(t, s, f, strconv.Itoa(round), total[f.name])
		if t.Failed() {
			t.FailNow()
		}
		if full && took > promised {
			late = append(late, fmt.Sprintf("round %d, %s: payments were taken again after %s, want %s", round, f.name, took,
				promised))
		}
	}
	for _, what := range late {
		t.Error(what)
	}
	v := s.judge(t, c.Inspect(t, c.Healthy(t, true)), first, loads...)
	for _, fault := range v.Faults() {
		t.Errorf("in the end: %s", fault)
	}
	t.Logf("in the end: %d acknowledged, %d lost, %d differ, %d twice", v.Acknowledged, len(v.Lost), len(v.Differ),
		len(v.Twice))
	c.round(t, s, switchover, "", &figures{})
	c.alone(t, s)
	c.control(t, s)
}

// round applies one fault under load. It returns the time until a payment is acknowledged whose
// request was sent after the fault.
func (c *cluster) round(t *testing.T, s *shop, f fault, round string, sum *figures) (*load, time.Duration) {
	t.Helper()
	leader, line := c.Healthy(t, true), c.Timeline(t)
	since := clock.System().Now().Add(-time.Second)
	l := startLoad(t, s, f.name+" "+round)
	waitFor(t, "there is load", func() bool { return l.Acknowledged() >= 100 })
	if f.before != nil {
		f.before(t, leader, l)
	}
	begun := clock.System().Now()
	f.make(t, leader)
	took := l.Again(t, f.name).Sub(begun)
	f.heal(t, leader)
	next := c.Healthy(t, true)
	l.Stop()
	v := s.judge(t, c.Inspect(t, next), since, l)
	for _, fault := range append(v.Faults(), l.strange...) {
		t.Errorf("round %s, %s: %s", round, f.name, fault)
	}
	if c.Timeline(t) == line {
		t.Errorf("round %s, %s: node %s still leads: nothing was shown", round, f.name, leader.name)
	}
	sum.rounds++
	sum.acknowledged += v.Acknowledged
	sum.lost, sum.differ, sum.twice = sum.lost+len(v.Lost), sum.differ+len(v.Differ), sum.twice+len(v.Twice)
	sum.took = append(sum.took, took)
	sum.retried += l.Retried()
	t.Logf("round %s, %s: %s to %s, payments again after %s, whole after %s; "+
		"%d acknowledged, %d lost, %d twice, %d failed first; responses %v",
		round, f.name, leader.name, next.name, took.Round(time.Millisecond),
		clock.System().Now().Sub(begun).Round(time.Second),
		v.Acknowledged, len(v.Lost), len(v.Twice), v.Failed, l.responses)
	return l, took
}

// control turns off synchronous replication and kills the primary while its standbys lag. The
// oracle must report lost payments.
func (c *cluster) control(t *testing.T, s *shop) {
	t.Helper()
	c.Configure(t, `{"synchronous_mode": false, "synchronous_mode_strict": false}`)
	leader := c.Healthy(t, false)
	since := clock.System().Now().Add(-time.Second)
	l := startLoad(t, s, "control")
	waitFor(t, "there is load", func() bool { return l.Acknowledged() >= 100 })
	leader.replication.Cut()
	before := l.Acknowledged()
	waitFor(t, "payments that no standby has", func() bool { return l.Acknowledged() >= before+50 })
	begun := clock.System().Now()
	leader.Kill()
	took := l.Again(t, "control").Sub(begun)
	restart(t, leader)
	next := c.Healthy(t, false)
	l.Stop()
	v := s.judge(t, c.Inspect(t, next), since, l)
	t.Logf("control, without synchronous replication: %s to %s, payments again after %s; "+
		"%d acknowledged, %d lost, %d differ, %d twice",
		leader.name, next.name, took.Round(time.Millisecond),
		v.Acknowledged, len(v.Lost), len(v.Differ), len(v.Twice))
	if len(v.Lost) == 0 {
		t.Error("control: no payment was lost: either the fault does no harm or the oracle misses it")
	}
}

// report logs the figures of each fault.
func report(t *testing.T, total map[string]*figures) {
	t.Helper()
	for _, f := range faults {
		of := total[f.name]
		if of == nil || of.rounds == 0 {
			continue
		}
		slices.Sort(of.took)
		least, median, most := of.took[0], of.took[len(of.took)/2], of.took[len(of.took)-1]
		t.Logf("%-8s %2d rounds, %6d acknowledged (%d retried), %d lost, %d differ, %d twice; "+
			"payments again after min %s median %s max %s",
			f.name, of.rounds, of.acknowledged, of.retried, of.lost, of.differ, of.twice,
			least.Round(time.Millisecond), median.Round(time.Millisecond), most.Round(time.Millisecond))
	}
}

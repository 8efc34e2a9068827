package failover_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// switchover is the operator's step before work on the primary's machine.
var switchover = fault{
	name: "planned", heal: func(*testing.T, *node) {},
	make: func(t *testing.T, n *node) {
		t.Helper()
		waitFor(t, "another one leads", func() bool { // Patroni refuses it until a standby is ready
			err := n.patroni(t.Context(), http.MethodPost, "/switchover", `{"leader": "`+n.name+`"}`, nil)
			return err == nil || slices.ContainsFunc(n.members(t.Context()), func(m member) bool {
				return m.Role == "leader" && m.Name != n.name
			})
		})
	},
}

// alone stops both standbys. Core must acknowledge nothing, report it, and continue after one
// standby is back.
func (c *cluster) alone(t *testing.T, s *shop) {
	t.Helper()
	leader := c.Healthy(t, true)
	since := clock.System().Now().Add(-time.Second)
	l := startLoad(t, s, "alone")
	waitFor(t, "there is load", func() bool { return l.Acknowledged() >= 100 })
	var others []*node
	for _, n := range c.nodes {
		if n != leader {
			n.Kill()
			others = append(others, n)
		}
	}
	begun, refused := clock.System().Now(), l.Responses(http.StatusServiceUnavailable)
	waitFor(t, "payments are refused", func() bool { return l.Responses(http.StatusServiceUnavailable) >= refused+100 })
	waitFor(t, "core reports that it cannot write", func() bool { return s.get(t.Context(), "/v1/health", nil) != nil })
	if n := l.AcknowledgedSince(begun); n > 0 {
		t.Errorf("alone: %d payments were acknowledged that one node has", n)
	}
	others[0].Start(t)
	took := l.Again(t, "alone").Sub(begun)
	others[1].Start(t)
	c.Healthy(t, true)
	l.Stop()
	v := s.judge(t, c.Inspect(t, leader), since, l)
	for _, fault := range append(v.Faults(), l.strange...) {
		t.Errorf("alone: %s", fault)
	}
	t.Logf("alone: no payment was acknowledged until another node was back, %s; %d acknowledged, %d lost",
		took.Round(time.Millisecond), v.Acknowledged, len(v.Lost))
}

package trust

import (
	"crypto/x509"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	renewAfter = 60 * 24 * time.Hour
	// overdue is by how much a rotation that did not take place within patience is postponed.
	overdue  = 24 * time.Hour
	patience = time.Hour
)

// DefaultRenewal returns when a certificate is 60 days old, or begins the last third of its life if
// that is earlier.
func DefaultRenewal(leaf *x509.Certificate) time.Time {
	at, latest := leaf.NotBefore.Add(renewAfter), leaf.NotAfter.Add(-leaf.NotAfter.Sub(leaf.NotBefore)/3)
	if latest.Before(at) {
		return latest
	}
	return at
}

// begin returns a new change that has not taken place.
func (s *Publisher) begin(prefix id.Prefix, kind string, now time.Time) *change {
	name := id.Format(prefix, s.ids.Next())
	host := "localhost"
	if u, err := url.Parse(s.cfg.URL); err == nil {
		host = u.Hostname()
	}
	return &change{
		ID:     name,
		Kind:   kind,
		Status: planned,
		At:     now,
		Entry:  entry{UID: kind + "-" + name + "-live@" + host, Sequence: -1},
	}
}

// rotate makes set the present one. The first set is no rotation.
func (s *Publisher) rotate(h *history, to *set, now time.Time) {
	if h.Current == nil {
		if h.Next != nil && h.Next.Status == announced && h.Next.To.same(to) {
			h.Next = nil // the first one, as announced: it replaces no other
		}
		return
	}
	c := h.Next
	if c == nil {
		c = s.begin(id.Rotation, "tls", now)
	}
	c.Status, c.At, c.To = done, now, to
	s.describe(h, c, now)
	h.Past, h.Next = append(h.Past, *c), nil
	s.enqueue(h, v1.EventTypeCertificateRotated, c.ID, now, v1.CertificateRotation{
		Object: v1.CertificateRotationObjectCertificate, Rotation: c.ID, EffectiveAt: v1.Time{Time: now}, Hosts: h.Hosts,
		NotAfter: v1.Time{Time: to.notAfter()},
		Previous: rotated(h.Current.Leaves), Current: rotated(to.Leaves), FingerprintsURL: s.fingerprintsURL(),
		CalendarURL: s.calendarURL(),
	})
}

// plan puts the expected replacement of the present set into the calendar, unless one is announced.
func (s *Publisher) plan(h *history, now time.Time) {
	if h.Current == nil {
		return
	}
	if h.Next == nil {
		h.Next = s.begin(id.Rotation, "tls", now)
		h.Next.At = time.Time{}
	}
	c := h.Next
	if c.Status == planned && h.Current.Renews.After(now) {
		c.At = h.Current.Renews
	}
	if c.At.Add(patience).Before(now) { // missed: it may take place any day
		c.At = now.Add(overdue).Truncate(time.Hour)
	}
	s.describe(h, c, now)
}

// withdraw cancels the announced change.
func (s *Publisher) withdraw(h *history, now time.Time) {
	if h.Next == nil || h.Next.Status != announced {
		return
	}
	h.Next.Status = cancelled
	s.describe(h, h.Next, now)
	h.Past, h.Next = append(h.Past, *h.Next), nil
}

// changePolicy makes p the present policy.
func (s *Publisher) changePolicy(h *history, before, p v1.TLSPolicy, now time.Time) {
	c := s.begin(id.PolicyChange, "policy", now)
	c.Status = done
	delta := v1.TLSPolicyChange{
		Object: v1.TLSPolicyChangeObjectTLSPolicy, Change: c.ID, EffectiveAt: v1.Time{Time: now}, Hosts: h.Hosts,
		Previous: before, Current: p,
		Added: without(p, before), Removed: without(before, p),
	}
	s.describePolicy(c, delta, now)
	h.Past = append(h.Past, *c)
	s.enqueue(h, v1.EventTypeTLSCipherPolicyChanged, c.ID, now, delta)
}

// enqueue adds an event to the outbox, if core is configured.
func (s *Publisher) enqueue(h *history, kind v1.EventType, name string, now time.Time, object any) {
	if s.cfg.Port == nil {
		return
	}
	body, err := json.Marshal(object)
	if err != nil {
		panic(err) // a year of five digits, which no certificate has
	}
	h.Outbox = append(h.Outbox, pending{Type: string(kind), Name: name, Object: body, Due: now})
}

func sorted(p v1.TLSPolicy) v1.TLSPolicy { return without(p, v1.TLSPolicy{}) }

func samePolicy(a, b v1.TLSPolicy) bool {
	return slices.Equal(a.Versions, b.Versions) && slices.Equal(a.CipherSuites, b.CipherSuites) &&
		slices.Equal(a.SignatureAlgorithms, b.SignatureAlgorithms)
}

// without returns the parts of a that b lacks.
func without(a, b v1.TLSPolicy) v1.TLSPolicy {
	return v1.TLSPolicy{
		Versions: difference(a.Versions, b.Versions), CipherSuites: difference(a.CipherSuites, b.CipherSuites),
		SignatureAlgorithms: difference(a.SignatureAlgorithms, b.SignatureAlgorithms),
	}
}

func difference(a, b []string) []string {
	out := slices.Concat([]string{}, a)
	out = slices.DeleteFunc(out, func(s string) bool { return slices.Contains(b, s) })
	slices.Sort(out)
	return slices.Compact(out)
}

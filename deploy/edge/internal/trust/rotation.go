package trust

import (
	"context"
	"crypto/x509"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	renewAfter = 60 * 24 * time.Hour
	// overdue is by how much a planned rotation is postponed if its successor is later than patience.
	overdue  = 24 * time.Hour
	patience = time.Hour
	// margin is the least time before its end at which a certificate is replaced, even if its
	// successor was published only shortly.
	margin = time.Hour
)

// ServedFrom returns when a certificate is served: after it was published for a duration, but
// margin before the end of the present one. It never returns a time before the source found it. The
// rotators use it, so that they serve at the published date.
func ServedFrom(found time.Time, ahead time.Duration, end time.Time) time.Time {
	at := found.Add(ahead)
	if latest := end.Add(-margin); at.After(latest) {
		at = latest
	}
	if at.Before(found) {
		return found
	}
	return at
}

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
// The date of an announced one is the rotator's, and stays even if Envoys are late.
func (s *Publisher) plan(h *history, now time.Time) {
	if h.Current == nil {
		return
	}
	if h.Next == nil {
		h.Next = s.begin(id.Rotation, "tls", now)
		h.Next.At = time.Time{}
	}
	if h.Next.Status == planned {
		h.Next.At = s.expected(h, now)
	}
	s.describe(h, h.Next, now)
}

// expected returns when the rotator will serve the successor of the present set. A late successor
// can come at any time: its date is at most a day later than if it came now.
func (s *Publisher) expected(h *history, now time.Time) time.Time {
	served := func(found time.Time) time.Time { return ServedFrom(found, s.cfg.Ahead, h.Current.notAfter()) }
	if h.Current.Renews.After(now) {
		return served(h.Current.Renews)
	}
	before, late := h.Next.At, served(now.Add(overdue))
	if before.Add(patience).Before(served(now)) || before.After(late) {
		return late
	}
	return before
}

// replan updates the planned replacement: the source may have another date for it, or be late.
func (s *Publisher) replan(ctx context.Context) error {
	return s.update(ctx, func(h *history, now time.Time) {
		if len(s.live) > 0 {
			current := *h.Current
			current.Renews = s.renewalOf(s.live)
			h.Current = &current
		}
		s.plan(h, now)
	})
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

// enqueue adds an event to the outbox, if core is configured.
func (s *Publisher) enqueue(h *history, kind v1.EventType, name string, now time.Time, object any) {
	if s.cfg.Port == nil {
		return
	}
	body, err := json.Marshal(object)
	if err != nil {
		panic(err) // a year of five digits, which no certificate has
	}
	h.Outbox = append(h.Outbox, pending{Type: string(kind), Name: name, Object: body, Since: now, Due: now})
}

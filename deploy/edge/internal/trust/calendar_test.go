package trust_test

import (
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// bySummary returns the events whose summary has the prefix.
func (c calendar) bySummary(prefix string) (out []event) {
	for _, e := range c.Events {
		if strings.HasPrefix(e.Summary, prefix) {
			out = append(out, e)
		}
	}
	return out
}

// only returns the one event whose summary has the prefix.
func (c calendar) only(t *testing.T, prefix string) event {
	t.Helper()
	found := c.bySummary(prefix)
	if len(found) != 1 {
		t.Fatalf("events %q: got %d, want 1\n%s", prefix, len(found), c.text)
	}
	return found[0]
}

func at(t time.Time) string { return t.Format("2006-01-02T15:04:05+00:00") }

// TestCalendarFollowsARotation follows one rotation from the plan to the past. It is one event,
// whose id stays and whose sequence rises with each change.
func TestCalendarFollowsARotation(t *testing.T) {
	t.Parallel()
	s := begin(t)
	first := s.pair(t)
	s.live(t, first)
	plan := s.calendar(t)
	if plan.Method != "PUBLISH" || plan.Version != "2.0" || plan.Source != "https://trust.example.com/calendar.ics" ||
		plan.RefreshSeconds != 12*3600 || plan.Name != "TLS of api.example.com" {
		t.Errorf("got %+v", plan)
	}
	e := plan.only(t, "TLS certificate changes on api.example.com (planned)")
	renewal := birth.Add(61 * day) // 60 days, and a day published ahead
	if len(plan.Events) != 1 || e.Status != "TENTATIVE" || e.Sequence != 0 || e.Start != at(renewal) ||
		e.End != at(renewal.Add(time.Hour)) || e.Stamp != at(birth) ||
		!strings.HasPrefix(e.UID, "tls-rot_") || !strings.HasSuffix(e.UID, "-live@trust.example.com") ||
		!strings.Contains(e.Description, sum(first)) || !slices.Equal(e.Categories, []string{"TLS"}) {
		t.Errorf("got %+v", e)
	}
	s.clock.Advance(time.Hour)
	s.wantUnchanged(t, plan)
	s.open(t) // as after a restart
	s.live(t, first)
	s.wantUnchanged(t, plan)

	second, when := s.pair(t), birth.Add(50*day)
	s.next(t, when, second)
	known := s.calendar(t).only(t, "TLS certificate changes")
	if known.UID != e.UID || known.Sequence != 1 || known.Status != "CONFIRMED" || known.Start != at(when) ||
		known.Stamp != at(birth.Add(time.Hour)) || !strings.Contains(known.Description, sum(second)) ||
		!strings.Contains(known.Description, "The issuing authority stays") ||
		!strings.Contains(known.Description, ",O=Größe") {
		t.Errorf("got %+v", known)
	}
	s.next(t, when, second)
	if again := s.calendar(t).only(t, "TLS certificate changes"); again.Sequence != 1 || again.Stamp != known.Stamp {
		t.Errorf("repeated: got %+v", again)
	}
	s.next(t, when.Add(day), second)
	if moved := s.calendar(t).only(t, "TLS certificate changes"); moved.UID != e.UID || moved.Sequence != 2 ||
		moved.Start != at(when.Add(day)) {
		t.Errorf("moved: got %+v", moved)
	}
	s.clock.Set(when)
	s.live(t, second)
	after := s.calendar(t)
	past, next := after.only(t, "TLS certificate changed on"), after.only(t, "TLS certificate changes")
	if past.UID != e.UID || past.Sequence != 3 || past.Start != at(when) || past.Stamp != at(when) || next.UID == e.UID ||
		next.Sequence != 0 {
		t.Errorf("got %+v and %+v", past, next)
	}
}

// wantUnchanged checks that the calendar still has the same text.
func (s *published) wantUnchanged(t *testing.T, want calendar) {
	t.Helper()
	if got := s.calendar(t); got.text != want.text {
		t.Errorf("the calendar changed from\n%s\nto\n%s", want.text, got.text)
	}
}

// TestCalendarKeepsWhatDidNotChange checks that the bytes of an event stay the same until the event
// changes.
func TestCalendarKeepsWhatDidNotChange(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.live(t, s.pair(t))
	seen := map[string]string{}
	changed := 0
	for range 5 {
		s.clock.Advance(40 * day)
		s.live(t, s.pair(t))
		now := s.calendar(t).raw()
		for uid, text := range seen {
			if now[uid] != text {
				changed++
			}
		}
		maps.Copy(seen, now)
	}
	if changed != 4 { // the four planned ones took place
		t.Errorf("%d events changed, want 4", changed)
	}
}

// TestCalendarCancels checks that an announcement that is withdrawn stays as a cancelled event, and
// the plan is a new event.
func TestCalendarCancels(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.live(t, s.pair(t))
	s.next(t, birth.Add(2*day), s.pair(t))
	planned := s.calendar(t).Events[0]
	s.next(t, time.Time{})
	s.next(t, time.Time{})
	after := s.calendar(t)
	if len(after.Events) != 2 {
		t.Fatalf("got %+v", after.Events)
	}
	gone, plan := after.Events[0], after.Events[1]
	if gone.UID != planned.UID || gone.Status != "CANCELLED" || gone.Sequence != planned.Sequence+1 ||
		gone.Start != planned.Start || plan.Status != "TENTATIVE" || plan.UID == planned.UID {
		t.Errorf("got %+v and %+v", gone, plan)
	}
	if got := s.fingerprints(t); len(got.Next) != 0 || got.Rotation.Status != v1.TrustRotationStatusPlanned {
		t.Errorf("got %+v", got)
	}
	s.clock.Advance(31 * day)
	s.live(t, s.pair(t))
	if len(s.calendar(t).Events) != 3 {
		t.Error("the cancelled event is gone after 31 days")
	}
}

// TestCalendarKeepsAYear checks that past events stay for twelve months.
func TestCalendarKeepsAYear(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.live(t, s.pair(t))
	s.live(t, s.pair(t)) // at the start
	s.clock.Set(birth.AddDate(0, 12, 0))
	s.live(t, s.pair(t))
	if got := s.calendar(t).bySummary("TLS certificate changed"); len(got) != 2 {
		t.Errorf("to the second: got %d events, want 2", len(got))
	}
	s.clock.Advance(time.Second)
	s.live(t, s.pair(t))
	if got := s.calendar(t).bySummary("TLS certificate changed"); len(got) != 2 { // and the newest
		t.Errorf("a second later: got %d events, want 2", len(got))
	}
}

// TestCalendarPutsOff checks that the planned time is postponed by a day if the successor is an
// hour late. It can no longer be published for the whole time before.
func TestCalendarPutsOff(t *testing.T) {
	t.Parallel()
	s := begin(t)
	pair := s.pair(t)
	s.live(t, pair)
	renewal := birth.Add(60 * day)
	s.clock.Set(renewal.Add(time.Hour))
	s.replan(t)
	if e := s.calendar(t).Events[0]; e.Sequence != 0 || e.Start != at(renewal.Add(day)) {
		t.Errorf("within an hour: got %+v", e)
	}
	s.clock.Advance(time.Second)
	s.replan(t)
	late := at(s.clock.Now().Add(2 * day)) // found in a day, and published for one
	if e := s.calendar(t).Events[0]; e.Sequence != 1 || e.Start != late {
		t.Errorf("an hour late: got %+v, want %s", e, late)
	}
	s.clock.Advance(25 * time.Hour)
	s.live(t, pair)
	if e := s.calendar(t).Events[0]; e.Sequence != 1 {
		t.Errorf("postponed twice: got %+v", e)
	}
}

// TestPlannedDate checks that the planned date is the one at which the rotator serves a successor
// that comes when the source expects it.
func TestPlannedDate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ renews, ahead, want time.Duration }{
		"the source's renewal":   {renews: 30 * day, ahead: day, want: 31 * day},
		"to the second":          {renews: 30*day + 7*time.Second, want: 30*day + 7*time.Second},
		"before the end":         {renews: 80 * day, ahead: 30 * day, want: 90*day - time.Hour},
		"found in the last hour": {renews: 90*day - time.Minute, ahead: day, want: 90*day - time.Minute},
	} {
		s := begin(t, func(cfg *trust.Config) {
			cfg.Ahead = c.ahead
			cfg.Renews = func(leaf *x509.Certificate) time.Time { return leaf.NotBefore.Add(c.renews) }
		})
		s.live(t, s.pair(t))
		want := birth.Add(c.want)
		if got := s.fingerprints(t).Rotation; got.Status != v1.TrustRotationStatusPlanned || !got.EffectiveAt.Equal(want) {
			t.Errorf("%s: got %+v, want %s", name, got, want)
		}
	}
}

// TestPlannedDateFollowsTheSource checks that the planned date changes with the source's: an
// authority may advise another date at any time.
func TestPlannedDateFollowsTheSource(t *testing.T) {
	t.Parallel()
	renews := birth.Add(60 * day)
	s := begin(t, func(cfg *trust.Config) { cfg.Renews = func(*x509.Certificate) time.Time { return renews } })
	s.live(t, s.pair(t))
	for name, c := range map[string]struct{ renews, want time.Duration }{
		"earlier": {10 * day, 11 * day}, "later": {70 * day, 71 * day}, "immediately": {-time.Hour, 2 * day},
	} {
		renews = birth.Add(c.renews)
		s.replan(t)
		if got := s.fingerprints(t).Rotation; !got.EffectiveAt.Equal(birth.Add(c.want)) {
			t.Errorf("%s: got %s, want %s", name, got.EffectiveAt, birth.Add(c.want))
		}
		renews = birth.Add(60 * day)
		s.replan(t)
	}
	s.open(t)
	s.replan(t) // before Live
	if got := s.fingerprints(t).Rotation; !got.EffectiveAt.Equal(birth.Add(61 * day)) {
		t.Errorf("restarted: got %s", got.EffectiveAt)
	}
}

// TestAnnouncedDateStays checks that an announced date is the rotator's, although no Envoy has the
// certificate yet: the first one to connect serves it immediately.
func TestAnnouncedDateStays(t *testing.T) {
	t.Parallel()
	s := begin(t)
	first, second := s.pair(t), s.pair(t)
	s.live(t, first)
	due := birth.Add(day)
	s.next(t, due, second)
	s.clock.Set(due.Add(3 * time.Hour))
	s.live(t, first)
	if got := s.fingerprints(t).Rotation; got.Status != v1.TrustRotationStatusAnnounced || !got.EffectiveAt.Equal(due) {
		t.Errorf("got %+v, want %s", got, due)
	}
}

// TestCalendarBytes checks RFC 5545's rules about lines.
func TestCalendarBytes(t *testing.T) {
	t.Parallel()
	s := begin(t, func(c *trust.Config) {
		c.Hosts = []string{strings.Repeat("größe,;\\", 20) + ".example"}
	})
	s.live(t, s.pair(t))
	s.next(t, birth.Add(day), s.pair(t))
	c := s.calendar(t)
	if !strings.HasSuffix(c.text, "END:VCALENDAR\r\n") || strings.Contains(strings.ReplaceAll(c.text, "\r\n", ""), "\n") ||
		strings.Contains(c.text, "TZID") || strings.Contains(c.text, "VALARM") {
		t.Errorf("got %q", c.text)
	}
	for _, line := range strings.Split(c.text, "\r\n") {
		if len(line) > 75 || !utf8.ValidString(line) {
			t.Errorf("%d octets: %q", len(line), line)
		}
	}
	if e := c.Events[0]; !strings.HasSuffix(e.Summary, s.cfg.Hosts[0]) ||
		!strings.Contains(e.Description, "\nHosts: "+s.cfg.Hosts[0]+"\n") {
		t.Errorf("got %+v", e)
	}
	for _, want := range []string{
		"DTSTAMP:20261121T093000Z\r\n", "DTSTART:20261122T093000Z\r\n",
		"DTEND:20261122T103000Z\r\n", "REFRESH-INTERVAL;VALUE=DURATION:PT12H\r\n", "CALSCALE:GREGORIAN\r\n",
	} {
		if !strings.Contains(c.text, want) {
			t.Errorf("no %q in %s", want, c.text)
		}
	}
}

// TestPolicyChange checks that the first policy is no change, and an equal one in another order
// neither. A change is in the calendar and in the index.
func TestPolicyChange(t *testing.T) {
	t.Parallel()
	s := begin(t)
	old := v1.TLSPolicy{
		Versions:            []string{"1.3", "1.2"},
		CipherSuites:        []string{"B", "A"},
		SignatureAlgorithms: []string{"x"},
	}
	set := func(p v1.TLSPolicy) {
		if err := s.Policy(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	set(old)
	set(v1.TLSPolicy{
		Versions:            []string{"1.2", "1.3"},
		CipherSuites:        []string{"A", "B"},
		SignatureAlgorithms: []string{"x"},
	})
	s.open(t)
	set(old)
	if got := s.calendar(t); len(got.Events) != 0 {
		t.Errorf("got %+v", got.Events)
	}
	set(v1.TLSPolicy{Versions: []string{"1.3"}, CipherSuites: []string{"A", "C"}, SignatureAlgorithms: []string{"x"}})
	e := s.calendar(t).only(t, "TLS policy changed on api.example.com")
	for _, want := range []string{"Versions removed: 1.2\n", "Cipher suites added: C\n", "Cipher suites removed: B"} {
		if !strings.Contains(e.Description, want) {
			t.Errorf("no %q in %q", want, e.Description)
		}
	}
	if _, body := s.get(t, "/v1/trust"); !strings.Contains(body,
		`"tls_policy":{"versions":["1.3"],"cipher_suites":["A","C"],"signature_algorithms":["x"]}`) {
		t.Errorf("got %s", body)
	}
}

package trust

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
)

const (
	refresh  = "PT12H"
	duration = time.Hour // of an event
)

// calendar returns the history in the format of RFC 5545. Equal histories give equal bytes.
func (s *Publisher) calendar(h *history) (string, error) {
	title := "TLS of " + s.cfg.Hosts[0]
	c := &ics.Calendar{}
	c.SetVersion("2.0")
	c.SetProductId("-//Causeway//Rotations 1.0//EN")
	c.SetCalscale("GREGORIAN")
	c.SetMethod(ics.MethodPublish)
	c.SetName(title)
	c.SetXWRCalName(title)
	c.SetRefreshInterval(refresh) // marks the value as a duration
	c.SetXPublishedTTL(refresh)
	c.CalendarProperties = append(c.CalendarProperties, ics.CalendarProperty{BaseProperty: ics.BaseProperty{
		IANAToken: "SOURCE", ICalParameters: map[string][]string{"VALUE": {"URI"}}, Value: s.calendarURL(),
	}})
	entries := make([]entry, 0, len(h.Past)+1)
	for _, past := range h.Past {
		entries = append(entries, past.Entry)
	}
	if h.Next != nil {
		entries = append(entries, h.Next.Entry)
	}
	// their ids are in the order of time
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.UID, b.UID) })
	for _, e := range entries {
		e.addTo(c)
	}
	var text strings.Builder
	if err := c.SerializeTo(&text, ics.WithNewLine("\r\n")); err != nil {
		return "", fmt.Errorf("trust: calendar: %w", err)
	}
	return text.String(), nil
}

func (e *entry) addTo(c *ics.Calendar) {
	v := c.AddEvent(e.UID)
	v.SetDtStampTime(e.Revised)
	v.SetModifiedAt(e.Revised)
	v.SetSequence(e.Sequence)
	v.SetStartAt(e.Start)
	v.SetEndAt(e.Start.Add(duration))
	v.SetSummary(e.Summary)
	v.SetDescription(e.Description)
	v.AddCategory(e.Category)
	v.SetStatus(ics.ObjectStatus(e.Status))
	v.SetProperty(ics.ComponentPropertyTransp, string(ics.TransparencyTransparent))
	v.SetClass(ics.ClassificationPublic)
	v.SetURL(e.URL)
}

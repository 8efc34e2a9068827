package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/durable"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	historyFile    = "trust.json"
	historyVersion = 1

	keepFor = 12 // months for which past changes are published
	// Limits of the file in case of constant rotation, or if core stays away. The oldest entries go
	// first.
	maxPast = 120
	maxNews = 100
)

// The states of a change.
const (
	planned   = "planned"   // expected, without a certificate yet
	announced = "announced" // with this certificate, at that time
	done      = "done"
	cancelled = "cancelled"
)

// change is a change of certificates, or of the policy.
type change struct {
	ID     string    `json:"id"` // permanent
	Kind   string    `json:"kind"`
	Status string    `json:"status"`
	At     time.Time `json:"at"`
	To     *set      `json:"to,omitempty"`
	Entry  entry     `json:"entry"` // in the calendar
}

// pending is an event that core has not accepted yet.
type pending struct {
	Type     string         `json:"type"`
	Name     string         `json:"name"`
	Object   jsontext.Value `json:"object"`
	Attempts int            `json:"attempts"`
	Since    time.Time      `json:"since"` // when it was queued
	Due      time.Time      `json:"due"`
}

// history is the content of the file. Times are whole seconds in UTC.
type history struct {
	Version int           `json:"version"`
	Hosts   []string      `json:"hosts"`
	Current *set          `json:"current,omitempty"`
	Next    *change       `json:"next,omitempty"` // planned or announced
	Past    []change      `json:"past"`           // in the order of their ends
	Policy  *v1.TLSPolicy `json:"policy,omitempty"`
	Outbox  []pending     `json:"outbox"` // in the order of the changes
}

var errVersion = errors.New("another release wrote it: use that release or a newer one")

// readHistory reads the file. It returns a new history if the file does not exist.
func readHistory(path string) (*history, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &history{Version: historyVersion, Past: []change{}, Outbox: []pending{}}, nil
	}
	h := &history{}
	if err == nil {
		err = json.Unmarshal(data, h, json.RejectUnknownMembers(true))
	}
	if err == nil {
		err = h.check()
	}
	if err != nil {
		return nil, fmt.Errorf("trust: the history of certificates, %s, cannot be read and stays unchanged (to begin a new "+
			"one, move it away): %w", path, err)
	}
	return h, nil
}

var errIncomplete = errors.New("a field is missing")

// check rejects a content that this package cannot have written.
func (h *history) check() error {
	if h.Version != historyVersion {
		return errVersion
	}
	whole := func(s *set) bool { return s == nil || len(s.Leaves) > 0 }
	if !whole(h.Current) || h.Next != nil && (!h.Next.whole() || !whole(h.Next.To)) {
		return errIncomplete
	}
	for i := range h.Past {
		if !h.Past[i].whole() {
			return errIncomplete
		}
	}
	return nil
}

func (c *change) whole() bool { return c.ID != "" && c.Entry.UID != "" && !c.At.IsZero() }

func (h *history) write(path string) error {
	data, err := json.Marshal(h, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("trust: write the history: %w", err)
	}
	if err := durable.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	return nil
}

// clone returns a copy that may be modified, except for values that are only replaced.
func (h *history) clone() *history {
	c := *h
	c.Past, c.Outbox = slices.Clone(h.Past), slices.Clone(h.Outbox)
	if h.Next != nil {
		next := *h.Next
		c.Next = &next
	}
	return &c
}

func (h *history) equal(other *history) bool {
	a, err := json.Marshal(h)
	b, otherErr := json.Marshal(other)
	return err == nil && otherErr == nil && bytes.Equal(a, b)
}

// prune removes changes that ended more than keepFor months ago. It returns the events for which
// the outbox has no room.
func (h *history) prune(now time.Time) (dropped []pending) {
	since := now.AddDate(0, -keepFor, 0)
	h.Past = slices.DeleteFunc(h.Past, func(c change) bool { return c.At.Before(since) && c.Entry.Revised.Before(since) })
	h.Past = h.Past[max(0, len(h.Past)-maxPast):]
	over := max(0, len(h.Outbox)-maxNews)
	dropped, h.Outbox = h.Outbox[:over], h.Outbox[over:]
	return dropped
}

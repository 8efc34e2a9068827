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

	keepFor = 12 // months that what is over is told of
	// What bounds the file when something rotates all the time, or core is away for good: the oldest go first.
	maxPast = 120
	maxNews = 100
)

// The states of a change.
const (
	planned   = "planned"   // it will come; of the certificate nothing is known
	announced = "announced" // with this certificate, at that time
	done      = "done"
	cancelled = "cancelled"
)

// change is one of certificates, or of the policy.
type change struct {
	ID     string    `json:"id"` // for ever
	Kind   string    `json:"kind"`
	Status string    `json:"status"`
	At     time.Time `json:"at"`
	To     *set      `json:"to,omitempty"`
	Entry  entry     `json:"entry"` // in the calendar
}

// news is what core is still to be told.
type news struct {
	Type     string         `json:"type"`
	Name     string         `json:"name"`
	Object   jsontext.Value `json:"object"`
	Attempts int            `json:"attempts"`
	Due      time.Time      `json:"due"`
}

// history is the file. Times are whole seconds in UTC.
type history struct {
	Version int           `json:"version"`
	Hosts   []string      `json:"hosts"`
	Current *set          `json:"current,omitempty"`
	Next    *change       `json:"next,omitempty"` // planned or announced
	Past    []change      `json:"past"`           // in the order in which they came to an end
	Policy  *v1.TLSPolicy `json:"policy,omitempty"`
	News    []news        `json:"news"` // in the order in which they happened
}

var errVersion = errors.New("it was written by a newer release")

// readHistory reads the file, or begins a history where there is none.
func readHistory(path string) (*history, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &history{Version: historyVersion, Past: []change{}, News: []news{}}, nil
	}
	h := &history{}
	if err == nil {
		err = json.Unmarshal(data, h, json.RejectUnknownMembers(true))
	}
	if err == nil {
		err = h.check()
	}
	if err != nil {
		return nil, fmt.Errorf("trust: the history of certificates, %s, cannot be read and is left as it is (move it away to begin a new one): %w", path, err)
	}
	return h, nil
}

var errIncomplete = errors.New("something is missing in it")

// check refuses what could not have been written.
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

// clone is a copy that may be changed: but for what is only ever replaced.
func (h *history) clone() *history {
	c := *h
	c.Past, c.News = slices.Clone(h.Past), slices.Clone(h.News)
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

// prune drops what has been over for longer than is told of.
func (h *history) prune(now time.Time) {
	since := now.AddDate(0, -keepFor, 0)
	h.Past = slices.DeleteFunc(h.Past, func(c change) bool { return c.At.Before(since) && c.Entry.Revised.Before(since) })
	h.Past = h.Past[max(0, len(h.Past)-maxPast):]
	h.News = h.News[max(0, len(h.News)-maxNews):]
}

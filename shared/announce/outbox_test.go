package announce_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
)

// memory is an outbox in which a postponed event never becomes due.
type memory struct {
	due       []string
	delivered []string
	postponed []string
	broken    error // of Delivered and Postpone
}

func (m *memory) Claim(context.Context) (*announce.Pending, error) {
	if len(m.due) == 0 {
		return nil, nil //nolint:nilnil // none is due
	}
	next := m.due[0]
	m.due = m.due[1:]
	return &announce.Pending{Event: announce.Event{Name: next}, Attempts: 2}, nil
}

func (m *memory) Delivered(_ context.Context, p *announce.Pending) error {
	m.delivered = append(m.delivered, p.Name)
	return m.broken
}

func (m *memory) Postpone(_ context.Context, p *announce.Pending, pause time.Duration) error {
	m.postponed = append(m.postponed, p.Name+" "+pause.String())
	return m.broken
}

// TestDeliver tests that a rejected event holds up no other. The delivery ends when core is
// unreachable, the outbox fails or the context ends.
func TestDeliver(t *testing.T) {
	t.Parallel()
	refused, unreachable, broken := &announce.RefusedError{Status: 404}, errors.New("no route"), errors.New("full")
	for name, c := range map[string]struct {
		responses            map[string]error
		broken               error
		ends                 bool // the context, during the first attempt
		delivered, postponed []string
		err                  error
	}{
		"all accepted": {delivered: []string{"a", "b", "c"}},
		"one rejected": {
			responses: map[string]error{"a": refused},
			delivered: []string{"b", "c"}, postponed: []string{"a 10s"}, err: refused,
		},
		"unreachable": {
			responses: map[string]error{"b": unreachable},
			delivered: []string{"a"}, postponed: []string{"b 10s"}, err: unreachable,
		},
		"not stored": {broken: broken, delivered: []string{"a"}, err: broken},
		"ended":      {ends: true, err: context.Canceled},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		m := &memory{due: []string{"a", "b", "c"}, broken: c.broken}
		err := announce.Deliver(ctx, m, func(_ context.Context, p *announce.Pending) error {
			if c.ends {
				cancel()
			}
			return c.responses[p.Name]
		})
		cancel()
		if !errors.Is(err, c.err) || !slices.Equal(m.delivered, c.delivered) || !slices.Equal(m.postponed, c.postponed) {
			t.Errorf("%s: got %v, delivered %q, postponed %q", name, err, m.delivered, m.postponed)
		}
	}
}

package trust

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Config has the settings of a Publisher. Folder, Hosts and URL are required.
type Config struct {
	Folder string   // of the history, created if missing. One program at a time
	Hosts  []string // in the certificates; the first one is in the titles
	URL    string   // the public URL of the index, without a final /; the calendar is at URL/calendar.ics

	// Renews returns when the source will have the successor of a certificate; nil for DefaultRenewal.
	// The successor is then served as ServedFrom returns. Next replaces this date by the real one.
	Renews func(leaf *x509.Certificate) time.Time
	Ahead  time.Duration // how long a successor is published before it is served

	// Authorities are candidates for the issuer of a certificate whose chain lacks it.
	Authorities []*x509.Certificate

	Port *announce.Port // core's operators' port; nil for no events
	// Token returns the operator token of the next request to Port. It replaces Port's, so that a
	// rotated token needs no restart. Nil for Port's.
	Token func() (secret.String, error)

	Clock  clock.Clock       // nil: the machine's clock
	Log    *slog.Logger      // nil: no log
	Tracer *telemetry.Tracer // nil: no spans
}

// Publisher publishes the past, present and next certificates from its history. It is safe for
// concurrent use.
type Publisher struct {
	cfg     Config
	path    string
	ids     *id.Generator
	handler http.Handler
	queued  chan struct{} // signals a new event in the outbox

	mu      sync.Mutex
	history *history            // guarded by mu; replaced, never changed
	live    []*x509.Certificate // the leaves of history.Current; empty until Live; guarded by mu
	policy  *unpublished        // nil if the last policy is published; guarded by mu
	dropped int                 // number of events that the full outbox has lost; guarded by mu

	pages atomic.Pointer[pages] // made from the history
}

var errConfig = errors.New("trust: data, hosts and trust.url, an absolute https URL, are required")

// Open reads the history, or creates one. It returns an error for an unreadable history and leaves
// it unchanged. A new history would repeat every event for the calendar's subscribers, and would
// lose the events in the outbox.
func Open(cfg Config) (*Publisher, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || cfg.Folder == "" || len(cfg.Hosts) == 0 || u.Scheme != "https" || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, errConfig
	}
	cfg.URL = strings.TrimSuffix(cfg.URL, "/")
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Renews == nil {
		cfg.Renews = DefaultRenewal
	}
	if err := durable.MkdirAll(cfg.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	s := &Publisher{
		cfg:    cfg,
		path:   filepath.Join(cfg.Folder, historyFile),
		ids:    id.NewGenerator(cfg.Clock),
		queued: make(chan struct{}, 1),
	}
	h, err := readHistory(s.path)
	if err != nil {
		return nil, err
	}
	s.history = h
	s.handler = s.routes(u.Path)
	made, err := s.render(h)
	if err != nil {
		return nil, err
	}
	s.pages.Store(made)
	s.knock()
	return s, nil
}

// Live sets the served pairs: one, or one for each kind of key. When it returns nil, the history is
// on the disk, and every merchant will get the rotation's event once. On an error no change is
// published, and the call can be repeated. A call with the same pairs, as at every start, has no
// effect.
func (s *Publisher) Live(ctx context.Context, pairs ...*certfile.Pair) error {
	if len(pairs) == 0 {
		return errNoPair
	}
	set, err := s.newSet(pairs)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.change(ctx, func(h *history, now time.Time) {
		h.Hosts = s.cfg.Hosts
		if !set.same(h.Current) {
			s.rotate(h, set, now)
		}
		h.Current = set
		s.plan(h, now)
	})
	if err != nil {
		return err
	}
	s.live = s.live[:0]
	for _, p := range pairs {
		s.live = append(s.live, p.Leaf())
	}
	return nil
}

// Next announces the pairs that will be served from a time on. Without pairs it cancels the
// announcement.
func (s *Publisher) Next(ctx context.Context, at time.Time, pairs ...*certfile.Pair) error {
	if len(pairs) == 0 {
		return s.update(ctx, func(h *history, now time.Time) {
			s.withdraw(h, now)
			s.plan(h, now)
		})
	}
	set, err := s.newSet(pairs)
	if err != nil {
		return err
	}
	return s.update(ctx, func(h *history, now time.Time) {
		if set.same(h.Current) {
			return
		}
		if h.Next == nil {
			h.Next = s.begin(id.Rotation, "tls", now)
		}
		h.Next.Status, h.Next.To, h.Next.At = announced, set, at.UTC().Truncate(time.Second)
		s.describe(h, h.Next, now)
	})
}

// Handler serves /v1/trust, /v1/trust/fingerprints, /v1/trust/calendar.ics and the calendar at the
// trust host. Every other path gets v1's 404.
func (s *Publisher) Handler() http.Handler { return s.handler }

// update is change with the mutex.
func (s *Publisher) update(ctx context.Context, modify func(h *history, now time.Time)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change(ctx, modify)
}

// change changes the history: first on the disk, then in the published pages. On an error neither
// changes. It is called with the mutex held.
func (s *Publisher) change(ctx context.Context, modify func(h *history, now time.Time)) error {
	h, now := s.history.clone(), s.cfg.Clock.Now().UTC().Truncate(time.Second)
	modify(h, now)
	dropped := h.prune(now)
	if h.equal(s.history) {
		return nil
	}
	made, err := s.render(h)
	if err != nil {
		return err
	}
	if err := h.write(s.path); err != nil {
		return err
	}
	s.history = h
	s.pages.Store(made)
	s.drop(ctx, dropped)
	if len(h.Outbox) > 0 {
		s.knock()
	}
	return nil
}

func (s *Publisher) knock() {
	select {
	case s.queued <- struct{}{}:
	default: // a signal is pending
	}
}

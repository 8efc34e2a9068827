package trust

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Config says what a Story is told of, and to whom. Folder, Hosts and URL are required.
type Config struct {
	Folder string   // of the history, made when missing. One program at a time
	Hosts  []string // that the certificates are good for; the first names them all in a title
	URL    string   // where the world reads of it, without a / at its end: the calendar is at URL/calendar.ics

	// Renews is when a certificate will be replaced, unless Next says so; nil for DefaultRenewal. Ahead is added, for which its successor is
	// published before it is served.
	Renews func(leaf *x509.Certificate) time.Time
	Ahead  time.Duration

	// Authorities may have signed certificates whose chain does not hold its issuer.
	Authorities []*x509.Certificate

	Port   *announce.Port    // core's operators' port; nil for no events
	Clock  clock.Clock       // nil: the machine's
	Log    *slog.Logger      // nil: nothing is logged
	Tracer *telemetry.Tracer // nil: no spans
}

// Story is the history of what was served, is served and comes next, and what is told of it. It is safe for concurrent use.
type Story struct {
	cfg     Config
	path    string
	ids     *id.Generator
	handler http.Handler
	news    chan struct{} // something is to be told

	mu      sync.Mutex
	history *history // guarded by mu; replaced, never changed

	pages atomic.Pointer[pages] // of the history
}

var errConfig = errors.New("trust: a folder, hosts and an absolute https URL are needed")

// Open reads the history, or begins one. A history that cannot be read is an error and stays as it is: who replaced it would have subscribers of the
// calendar meet every event twice, and would lose the events that core was not told of yet.
func Open(cfg Config) (*Story, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || cfg.Folder == "" || len(cfg.Hosts) == 0 || u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
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
	if err := os.MkdirAll(cfg.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	s := &Story{cfg: cfg, path: filepath.Join(cfg.Folder, historyFile), ids: id.NewGenerator(cfg.Clock), news: make(chan struct{}, 1)}
	h, err := readHistory(s.path)
	if err != nil {
		return nil, err
	}
	s.history = h
	s.handler = s.routes(u.Path)
	if err := s.publish(h); err != nil {
		return nil, err
	}
	s.knock()
	return s, nil
}

// Live says that these pairs are served from now on, one or one for each kind of key. The history is on the disk when it returns nil, and every
// merchant will hear of a rotation once; on an error nothing is told, and it may be called again. Called again with the same pairs, as at every
// start, it changes nothing.
func (s *Story) Live(_ context.Context, pairs ...*certfile.Pair) error {
	if len(pairs) == 0 {
		return errNoPair
	}
	set, err := s.look(pairs)
	if err != nil {
		return err
	}
	return s.update(func(h *history, now time.Time) error {
		h.Hosts = s.cfg.Hosts
		if !set.same(h.Current) {
			s.rotate(h, set, now)
		}
		h.Current = set
		s.plan(h, now)
		return nil
	})
}

// Next says that these pairs will be served from a time on. Without pairs it takes back what it said before: what was announced is cancelled.
func (s *Story) Next(_ context.Context, at time.Time, pairs ...*certfile.Pair) error {
	if len(pairs) == 0 {
		return s.update(func(h *history, now time.Time) error {
			s.withdraw(h, now)
			s.plan(h, now)
			return nil
		})
	}
	set, err := s.look(pairs)
	if err != nil {
		return err
	}
	return s.update(func(h *history, now time.Time) error {
		if set.same(h.Current) {
			return nil
		}
		if h.Next == nil {
			h.Next = s.begin(id.Rotation, "tls", now)
		}
		h.Next.Status, h.Next.To, h.Next.At = announced, set, at.UTC().Truncate(time.Second)
		s.describe(h, h.Next, now)
		return nil
	})
}

// Policy says what TLS is spoken from now on. What changed since it was said last is told to every merchant, once.
func (s *Story) Policy(_ context.Context, p v1.TLSPolicy) error {
	p = sorted(p)
	return s.update(func(h *history, now time.Time) error {
		if before := h.Policy; before != nil && !samePolicy(*before, p) {
			h.Hosts = s.cfg.Hosts
			s.changePolicy(h, *before, p, now)
		}
		h.Policy = &p
		return nil
	})
}

// Handler serves /v1/trust, /v1/trust/fingerprints, /v1/trust/calendar.ics and the calendar at the trust host, and a v1 404 for all else.
func (s *Story) Handler() http.Handler { return s.handler }

// update changes the history: on the disk first, then for readers.
func (s *Story) update(change func(h *history, now time.Time) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, now := s.history.clone(), s.cfg.Clock.Now().UTC().Truncate(time.Second)
	if err := change(h, now); err != nil {
		return err
	}
	h.prune(now)
	if h.equal(s.history) {
		return nil
	}
	if err := h.write(s.path); err != nil {
		return err
	}
	s.history = h
	if len(h.News) > 0 {
		s.knock()
	}
	return s.publish(h)
}

func (s *Story) knock() {
	select {
	case s.news <- struct{}{}:
	default: // somebody did
	}
}

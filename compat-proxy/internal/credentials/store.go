package credentials

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// checkEvery is how often at most the file is looked at for a change.
const checkEvery = time.Second

// Grant is what a login stands for.
type Grant struct {
	// APIKey is the v1 key its calls are made with.
	APIKey secret.String
	// Currency is that of its amounts when a request names none, lower case; empty means the proxy's default.
	Currency string
	// LenientOrder takes the elements of its requests in any order.
	LenientOrder bool
	// UnlinkedRefunds allows it to give money back without the payment it came by.
	UnlinkedRefunds bool
	// NoReview has payments captured whatever the checks of address and card code say.
	NoReview bool
	// Zone is where the merchant's clocks hang; nil means UTC.
	Zone *time.Location
}

// login is one entry, ready for comparison: the legacy secret itself is not kept.
type login struct {
	keyHash [sha256.Size]byte
	granted Grant
}

// Store answers which API key a legacy login stands for. It is safe for concurrent use.
type Store struct {
	path   string
	clock  clock.Clock
	log    *slog.Logger
	loaded func(error)
	table  atomic.Pointer[table]

	mu      sync.Mutex  // held while the file is looked at
	checked time.Time   // guarded by mu
	seen    fingerprint // guarded by mu: the file last read, well or badly
}

// fingerprint tells one state of the file from another.
type fingerprint struct {
	modified time.Time
	size     int64
}

// Open reads the file at path; an empty path means no logins. The error names the key at fault. loaded is told of every later attempt to
// read it, with nil for one that put it in force; nil means nobody is told.
func Open(path string, c clock.Clock, log *slog.Logger, loaded func(error)) (*Store, error) {
	s := &Store{path: path, clock: c, log: log, loaded: func(error) {}}
	s.table.Store(&table{})
	if path == "" {
		return s, nil
	}
	if err := s.Reload(); err != nil {
		return nil, err
	}
	if loaded != nil {
		s.loaded = loaded
	}
	return s, nil
}

// ProviderA returns what the login stands for, and false when the name is unknown or the key is not its own. Both take the same time.
func (s *Store) ProviderA(ctx context.Context, name string, transactionKey secret.String) (Grant, bool) {
	s.refresh(ctx)
	l, known := s.table.Load().a[name]
	given := hash(transactionKey.Reveal())
	same := subtle.ConstantTimeCompare(given[:], l.keyHash[:]) == 1
	if !known || !same {
		return Grant{}, false
	}
	return l.granted, true
}

// LenientOrder reports whether a login is one whose elements may come in any order. It proves nothing of who asks.
func (s *Store) LenientOrder(name string) bool { return s.table.Load().a[name].granted.LenientOrder }

// Reload reads the file now, whether it changed or not: secrets it names may have. An error leaves the logins as they were.
func (s *Store) Reload() error {
	if s.path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path)
	if err != nil {
		s.loaded(err)
		return fmt.Errorf("credentials: %w", err)
	}
	s.checked = s.clock.Now()
	return s.load(info)
}

// refresh reads the file when it changed, looking at most once a second; while one request looks, others use what there is.
func (s *Store) refresh(ctx context.Context) {
	if s.path == "" || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	now := s.clock.Now()
	if since := now.Sub(s.checked); since >= 0 && since < checkEvery {
		return
	}
	s.checked = now
	info, err := os.Stat(s.path)
	if err != nil {
		s.loaded(err)
		s.complain(ctx, fmt.Errorf("credentials: %w", err), fingerprint{})
		return
	}
	if state(info) == s.seen {
		return
	}
	if err := s.load(info); err != nil {
		s.complain(ctx, err, s.seen)
		return
	}
	s.log.InfoContext(ctx, "credentials: reloaded", slog.Int("logins", s.table.Load().count()))
}

// complain logs err once for each state of the file. The caller holds mu.
func (s *Store) complain(ctx context.Context, err error, seen fingerprint) {
	if seen != s.seen || seen != (fingerprint{}) {
		s.log.ErrorContext(ctx, "credentials: kept the last good file", slog.Any("error", err))
	}
	s.seen = seen
}

// load puts the file in force if it is good. The caller holds mu.
func (s *Store) load(info fs.FileInfo) error {
	s.seen = state(info)
	t, err := read(s.path)
	s.loaded(err)
	if err != nil {
		return err
	}
	s.table.Store(t)
	return nil
}

// count is how many logins there are.
func (t *table) count() int {
	logins := map[*LoginB]bool{}
	for _, k := range t.b.keys {
		logins[k.Login] = true
	}
	return len(t.a) + len(logins)
}

func state(info fs.FileInfo) fingerprint {
	return fingerprint{modified: info.ModTime(), size: info.Size()}
}

func hash(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }

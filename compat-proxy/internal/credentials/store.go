package credentials

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// checkEvery is the least time between two looks at the files for a change.
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

	mu      sync.Mutex // held while the files are looked at
	checked time.Time  // guarded by mu
	seen    string     // guarded by mu: the fingerprint of the files last read, good or bad
}

// Open reads the credentials file at path and the login files beside it. An empty path means no logins.
// The error names the file and the key at fault. loaded is called after every later attempt to read
// them, with nil if it succeeded; loaded may be nil.
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

// Reload reads the files now, changed or not: secrets that they name may have changed. An error leaves
// the logins as they were.
func (s *Store) Reload() error {
	if s.path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	paths, state, err := files(s.path)
	if err != nil {
		s.loaded(err)
		return err
	}
	s.checked = s.clock.Now()
	return s.load(paths, state)
}

// refresh reads the files if they changed, looking at most once a second. While one request looks,
// others use the logins in force.
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
	paths, state, err := files(s.path)
	if err != nil {
		s.loaded(err)
		s.complain(ctx, err, "")
		return
	}
	if state == s.seen {
		return
	}
	if err := s.load(paths, state); err != nil {
		s.complain(ctx, err, s.seen)
		return
	}
	s.log.InfoContext(ctx, "credentials: reloaded", slog.Int("logins", s.table.Load().count()))
}

// complain logs err once for each state of the files. The caller holds mu.
func (s *Store) complain(ctx context.Context, err error, seen string) {
	if seen != s.seen || seen != "" {
		s.log.ErrorContext(ctx, "credentials: kept the last good logins", slog.Any("error", err))
	}
	s.seen = seen
}

// load puts the logins of the files into force if all files are good. The caller holds mu.
func (s *Store) load(paths []string, state string) error {
	s.seen = state
	t, err := read(paths)
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

func hash(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }

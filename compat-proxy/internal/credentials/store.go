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

// checkEvery is the least time between two checks of the files for a change.
const checkEvery = time.Second

// Grant holds the rights and settings of a login.
type Grant struct {
	// APIKey is the v1 key for its calls.
	APIKey secret.String
	// Currency is the lower-case default for amounts without one; empty means the proxy's default.
	Currency string
	// LenientOrder accepts the elements of its requests in any order.
	LenientOrder bool
	// UnlinkedRefunds allows refunds without a payment.
	UnlinkedRefunds bool
	// Sandbox gives the login the rules of package parity in test mode.
	Sandbox bool
	// NoReview captures payments with any result of the checks of address and security code.
	NoReview bool
	// SignatureKey is the decoded key of provider-a's transHashSha2; zero for none.
	SignatureKey secret.String
	// Zone is the time zone of the merchant; nil means UTC.
	Zone *time.Location
}

// login is one entry, prepared for comparison: it has a hash of the legacy secret, not the secret.
type login struct {
	path    string // the file of the entry
	keyHash [sha256.Size]byte
	granted Grant
}

// Store maps legacy logins to grants. It is safe for concurrent use.
type Store struct {
	path   string
	clock  clock.Clock
	log    *slog.Logger
	loaded func(error)
	table  atomic.Pointer[table]
	broken atomic.Bool // the files in their present state cannot be used

	mu      sync.Mutex // held while the files are checked
	checked time.Time  // guarded by mu
	seen    string     // guarded by mu: the fingerprint of the files last read, valid or not
	named   []string   // guarded by mu: the files that those files name
}

// Open reads the credentials file at path and the login files. An empty path means no logins. The
// error names the file and the YAML key. loaded is called after every later attempt to read them,
// with nil if it succeeded; loaded may be nil.
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

// ProviderA returns the grant of the login. It returns false for an unknown name or a wrong key;
// both take the same time.
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

// LenientOrder reports whether a login may send elements in any order. It authenticates nothing.
func (s *Store) LenientOrder(name string) bool { return s.table.Load().a[name].granted.LenientOrder }

// Reload reads the files, changed or not, because the secrets that they name may have changed. An
// error is of the first entry that cannot be used. Its last valid version stays in force, and all
// other entries apply.
func (s *Store) Reload() error {
	if s.path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	paths, state, err := files(s.path)
	if err != nil {
		s.record(err)
		return err
	}
	s.checked = s.clock.Now()
	return s.load(paths, state)
}

// refresh reads the files if they changed. It checks at most once a second. While one request
// checks, the others use the logins in force.
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
		s.record(err)
		s.warn(ctx, err, "")
		return
	}
	if state+versions(s.named) == s.seen {
		return
	}
	if err := s.load(paths, state); err != nil {
		s.warn(ctx, err, s.seen)
		return
	}
	s.log.InfoContext(ctx, "credentials: reloaded", slog.Int("logins", s.table.Load().count()))
}

// Broken reads the files if they changed, and reports whether one cannot be used. Its last valid
// logins then stay in force, but a proxy that starts ends with an error.
func (s *Store) Broken(ctx context.Context) bool {
	s.refresh(ctx)
	return s.broken.Load()
}

// record keeps the result of an attempt to read the files.
func (s *Store) record(err error) {
	s.broken.Store(err != nil)
	s.loaded(err)
}

// warn logs err once for each state of the files. seen is the fingerprint of the present state, or
// "" if the files cannot be read. The caller holds mu.
func (s *Store) warn(ctx context.Context, err error, seen string) {
	if seen != s.seen || seen != "" {
		s.log.ErrorContext(ctx, "credentials: cannot use a file; its last valid logins stay in force",
			slog.Any("error", err))
	}
	s.seen = seen
}

// load puts the valid logins of the files into force. The last valid version of others stays in
// force. The caller holds mu.
func (s *Store) load(paths []string, state string) error {
	logins, err := load(paths)
	s.named = logins.named()
	s.seen = state + versions(s.named) // before they are read: a change meanwhile is then seen later
	t, faults := logins.build(s.table.Load())
	if err == nil {
		err = firstOf(faults)
	}
	s.table.Store(t)
	s.record(err)
	return err
}

// count returns the number of logins.
func (t *table) count() int {
	return len(t.a) + len(t.b.logins)
}

func hash(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }

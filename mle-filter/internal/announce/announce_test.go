package announce_test

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/announce"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var birth = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// core accepts announcements, or fails.
type core struct {
	*httptest.Server

	mu   sync.Mutex
	got  []string // guarded by mu; key and body of each request
	fail int      // guarded by mu; the status of all responses, 0 for 201
}

func newCore(t *testing.T) *core {
	t.Helper()
	c := &core{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.URL.Path != "/admin/v1/merchants/mer_01jd8m3k2q4r5/events" ||
			r.Header.Get("Authorization") != "Bearer token" {
			t.Errorf("got %s %s %v", r.Method, r.URL, r.Header)
		}
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got = append(c.got, r.Header.Get("Idempotency-Key")+" "+string(body))
		w.WriteHeader(cmp.Or(c.fail, 201))
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *core) set(fail int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = fail
}

func (c *core) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.got...)
}

func open(t *testing.T, source string, c *clock.Fake) *keystore.DB {
	t.Helper()
	db, err := keystore.Open(t.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func announced(t *testing.T, db *keystore.DB, names ...string) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *keystore.Tx) error {
		for _, name := range names {
			a := keystore.Announcement{
				ID: "mle.key.rotated:" + name, Tenant: "mer_01jd8m3k2q4r5/live", Type: "mle.key.rotated",
				Body: []byte(`{"kid":"` + name + `"}`),
			}
			if err := tx.Announce(a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func announcer(db *keystore.DB, c *core, now clock.Clock) *announce.Announcer {
	return announce.New(announce.Config{
		Store: db, Core: c.URL + "/", Token: secret.New("token"), Client: c.Client(),
		Clock: now,
	})
}

// TestDeliver checks that an announcement that core did not accept is sent again, unchanged, at
// growing intervals. An accepted one is not.
func TestDeliver(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			now := clock.NewFake(birth)
			db := open(t, e.Source(t), now)
			c := newCore(t)
			a := announcer(db, c, now)
			deliver := func(wantRequests int, wantError bool) {
				t.Helper()
				if err := a.Deliver(t.Context()); (err != nil) != wantError {
					t.Errorf("got %v", err)
				}
				if got := c.requests(); len(got) != wantRequests {
					t.Fatalf("requests: got %d, want %d", len(got), wantRequests)
				}
			}
			deliver(0, false)
			announced(t, db, "one")
			c.set(503)
			deliver(1, true)
			deliver(1, false) // not due
			now.Advance(5*time.Second - time.Millisecond)
			deliver(1, false)
			now.Advance(time.Millisecond)
			c.set(404)
			deliver(2, true)
			now.Advance(10*time.Second - time.Millisecond)
			deliver(2, false)
			now.Advance(time.Millisecond)
			c.set(200)
			deliver(3, false)
			now.Advance(time.Hour)
			deliver(3, false)
			want := `mle.key.rotated:one {"mode":"live","type":"mle.key.rotated","name":"one","object":{"kid":"one"}}`
			for _, got := range c.requests() {
				if got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			if n, err := db.Undelivered(t.Context()); err != nil || n != 0 {
				t.Errorf("undelivered: %d, %v", n, err)
			}
		})
	}
}

// TestDeliverTogether checks that filters that share a store share the work.
func TestDeliverTogether(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			now := clock.NewFake(birth)
			source := e.Source(t)
			c := newCore(t)
			db := open(t, source, now)
			names := strings.Split("abcdefghijklmnopqrst", "")
			announced(t, db, names...)
			var wg sync.WaitGroup
			for range 4 {
				a := announcer(open(t, source, now), c, now)
				wg.Go(func() {
					if err := a.Deliver(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got := c.requests(); len(got) != len(names) {
				t.Errorf("requests: got %d, want %d", len(got), len(names))
			}
		})
	}
}

// TestLease checks that if a filter dies with claimed announcements, another one sends them.
func TestLease(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(birth)
	db := open(t, storetest.SQLite(t), now)
	c := newCore(t)
	announced(t, db, "one")
	if _, err := db.ClaimAnnouncement(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	a := announcer(db, c, now)
	for _, after := range []time.Duration{time.Minute - time.Millisecond, time.Millisecond} {
		if n := len(c.requests()); n != 0 {
			t.Errorf("requests: got %d, want none yet", n)
		}
		now.Advance(after)
		if err := a.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.requests()); n != 1 {
		t.Errorf("requests: got %d, want 1", n)
	}
}

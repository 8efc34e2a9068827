package rollout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/rollout"
	"github.com/causeway-pay/causeway/shared/certfile"
)

func found(p *certfile.Pair) certfile.Update { return certfile.Update{Pairs: []*certfile.Pair{p}} }

// TestRollout checks that the first certificate is served immediately. The next one is first
// published, served when it is due, and then published as live.
func TestRollout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	due := w.clock.Now().Add(ahead)
	w.wait("the next is published", func(s *publisher) bool {
		return len(s.next) == 1 && s.next[0].Equal(two) && s.at.Equal(due)
	})
	w.clock.Set(due.Add(-time.Second))
	for range 2 {
		// without effect; after the second is taken, the clock was checked
		w.finds(certfile.Update{Refusal: errors.New("no chain")})
	}
	w.wait("the first stays until then", live(one))
	w.clock.Set(due)
	w.wait("the next is live", live(one, two))
	w.wait("nothing is announced", func(s *publisher) bool { return len(s.next) == 0 })
}

// TestNoEnvoy checks that without an Envoy no certificate is published as live.
func TestNoEnvoy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(false)
	one := w.pair()
	w.finds(found(one))
	w.finds(found(one)) // the first has been handled
	w.wait("nothing is live", live())
	stop()
	w.start(true) // without the source: the certificate is on the disk
	w.wait("it is live once an Envoy has it", live(one))
}

// TestRestartAhead checks that a restart changes no planned time. It serves the previous
// certificate although its files are gone.
func TestRestartAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	due := w.clock.Now().Add(ahead)
	w.wait("the next is published", func(s *publisher) bool { return len(s.next) == 1 })
	stop()
	w.clock.Advance(ahead / 2)
	w.publisher.mu.Lock()
	w.publisher.next = nil // as if the process had died before the publication
	w.publisher.mu.Unlock()
	w.start(true)
	w.finds(found(two))
	w.wait("it is published again, for the same time", func(s *publisher) bool {
		return len(s.next) == 1 && s.at.Equal(due)
	})
	w.wait("the first is live", live(one))
	w.clock.Set(due)
	w.wait("the next is live", live(one, two))
}

// TestPublishesAgain checks that a failed publication is repeated.
func TestPublishesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publisher.fail = true
	stop := w.start(true)
	one := w.pair()
	w.finds(found(one))
	w.wait("the word fails", func(s *publisher) bool { return s.asked > 0 })
	w.wait("nothing is published", live())
	stop() // it died between the push and the publication
	w.publisher.fail = false
	w.start(true)
	w.wait("it is published", live(one))
}

// TestAnnouncesAgain checks that a failed announcement, and a failed withdrawal, are repeated with
// growing pauses, without an update of the source. The published date stays the first one.
func TestAnnouncesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	due := w.clock.Now().Add(ahead)
	w.publisher.breaks(true)
	w.finds(found(two))
	w.wait("the announcement fails", func(s *publisher) bool { return s.asked == 1 })
	w.clock.Advance(5 * time.Second)
	w.wait("and fails again", func(s *publisher) bool { return s.asked == 2 })
	w.publisher.breaks(false)
	w.clock.Advance(10 * time.Second)
	w.wait("it is published for the same time", func(s *publisher) bool {
		return len(s.next) == 1 && s.next[0].Equal(two) && s.at.Equal(due)
	})
	w.publisher.breaks(true)
	w.finds(found(one))
	w.wait("the withdrawal fails", func(s *publisher) bool { return s.asked > 0 })
	w.publisher.breaks(false)
	w.clock.Advance(5 * time.Second)
	w.wait("it is withdrawn", func(s *publisher) bool { return len(s.next) == 0 })
}

// TestNotAnnouncedInTime checks that a certificate is served at its time although its announcement
// failed, and that the announcement is not repeated after that.
func TestNotAnnouncedInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.publisher.breaks(true)
	w.finds(found(two))
	w.wait("the announcement fails", func(s *publisher) bool { return s.asked > 0 })
	w.clock.Advance(ahead)
	w.wait("an Envoy has it", func(*publisher) bool { return w.takes() == 2 })
	before := strings.Count(w.logged(), "was not published")
	w.clock.Advance(time.Hour)
	w.finds(found(two))
	w.finds(found(two)) // the clock was checked
	w.publisher.breaks(false)
	w.wait("the next is live", live(one, two))
	if got := strings.Count(w.logged(), "was not published"); got != before {
		t.Errorf("announced again after it was served: got %d failures, want %d", got, before)
	}
}

// TestNewerBehindARefused checks that the refusal of a certificate does not drop the newer one that
// is announced behind it.
func TestNewerBehindARefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(false)
	one, two, three := w.pair(), w.pair(), w.pair()
	w.finds(found(one))
	w.finds(found(two))
	w.wait("the second is announced", func(s *publisher) bool { return len(s.next) == 1 })
	w.clock.Advance(ahead)
	w.finds(found(two))
	w.finds(found(two)) // the second has been pushed
	w.finds(found(three))
	w.wait("the third is announced", func(s *publisher) bool { return len(s.next) == 1 && s.next[0].Equal(three) })
	w.refuses("edge-cert")
	w.connect()
	w.wait("the second is refused", func(*publisher) bool {
		return strings.Contains(w.logged(), "the certificate was rejected")
	})
	w.refuses("")
	w.comesAgain()
	w.wait("the first is live", live(one))
	w.clock.Advance(ahead)
	w.wait("the third is live", live(one, three))
}

// TestFullDiskKeepsTheDate checks that a certificate that cannot be written keeps its published
// date.
func TestFullDiskKeepsTheDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(false)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.finds(found(two))
	due := w.clock.Now().Add(ahead)
	w.wait("the second is announced", func(s *publisher) bool { return len(s.next) == 1 && s.at.Equal(due) })
	file := filepath.Join(w.folder, "certificates.json")
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	w.clock.Set(due)
	w.wait("the write fails", func(*publisher) bool { return strings.Contains(w.logged(), "certificates.json") })
	w.connect()
	w.wait("the first is live", live(one))
	w.wait("the date stays", func(s *publisher) bool { return len(s.next) == 1 && s.at.Equal(due) })
}

// TestEndsSooner checks that a certificate close to its end is replaced before the end, even if the
// next one was published only shortly.
func TestEndsSooner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	end := w.clock.Now().Add(3 * time.Hour)
	one, two := w.pair(func(lives *[2]time.Time) { lives[1] = end }), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	w.wait("the next comes an hour before", func(s *publisher) bool {
		return len(s.next) == 1 && s.at.Equal(one.Leaf().NotAfter.Add(-time.Hour))
	})
	w.clock.Set(end)
	w.wait("the next is live", live(one, two))
	w.finds(found(one)) // the old files return: the source must refuse the expired certificate, not this package
	w.wait("it is only published", func(s *publisher) bool { return len(s.next) == 1 && s.next[0].Equal(one) })
	w.finds(found(two))
	w.wait("and rolled back", func(s *publisher) bool { return len(s.next) == 0 })
}

// TestRefusedByEnvoy checks that a certificate refused by an Envoy is rolled back, and never
// published as live.
func TestRefusedByEnvoy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.refuses("edge-cert")
	w.finds(found(two))
	w.wait("the next is published", func(s *publisher) bool { return len(s.next) == 1 })
	w.clock.Advance(ahead)
	w.wait("the announcement is withdrawn", func(s *publisher) bool { return len(s.next) == 0 })
	if !w.alarm.on.Load() {
		t.Error("no alarm")
	}
	w.refuses("")
	w.finds(certfile.Update{Refusal: errors.New("no chain")})
	w.wait("the first stays", live(one))
	three := w.pair()
	w.finds(found(three))
	w.wait("a better one is published", func(s *publisher) bool { return len(s.next) == 1 && s.next[0].Equal(three) })
	w.clock.Advance(ahead)
	w.wait("a better one is taken", live(one, three))
}

// TestForeignRefusal checks that an Envoy's refusal of another resource delays no certificate,
// neither the first nor the next.
func TestForeignRefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refuses("edge_http")
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	w.wait("the next is published", func(s *publisher) bool { return len(s.next) == 1 })
	w.clock.Advance(ahead)
	w.wait("the next is live", live(one, two))
	if w.alarm.on.Load() {
		t.Error("an alarm")
	}
}

// TestTriesAgain checks that a refused certificate is retried when the Envoy reconnects, but not as
// often as it does.
func TestTriesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.refuses("edge-cert")
	w.finds(found(two))
	w.wait("the next is published", func(s *publisher) bool { return len(s.next) == 1 })
	w.clock.Advance(ahead)
	w.wait("the announcement is withdrawn", func(s *publisher) bool { return len(s.next) == 0 })
	w.refuses("")
	w.wait("nothing changes by itself", live(one))
	w.comesAgain()
	w.wait("it is served to one who takes it", live(one, two))
	w.wait("the alarm ends", func(*publisher) bool { return !w.alarm.on.Load() })
}

// TestFullDisk checks that a certificate that cannot be written is not served. The failure is
// logged once, and the certificate is served after the disk has room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := filepath.Join(w.folder, "certificates.json")
	w.start(true)
	if err := os.Mkdir(file, 0o700); err != nil { // a directory makes writes fail like a full disk
		t.Fatal(err)
	}
	one := w.pair()
	w.finds(found(one))
	for range 5 { // checks, each of which retries
		w.finds(found(one))
	}
	w.wait("nothing is live", live())
	if got := strings.Count(w.logged(), "certificates.json"); got != 1 {
		t.Errorf("was logged %d times: %s", got, w.logged())
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.wait("it is live once it can be written", live(one))
}

// TestBrokenState checks that the error for an unreadable state names the remedy.
func TestBrokenState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"", "{", `{"live":[{"chain":"x","key":"y"}]}`} {
		if err := os.WriteFile(filepath.Join(w.folder, "certificates.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := rollout.New(t.Context(), rollout.Config{Folder: w.folder})
		if err == nil || !strings.Contains(err.Error(), "certificates.json") ||
			!strings.Contains(err.Error(), "move the file away") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestRefusedFirst checks that the log does not mention a present certificate if none exists.
func TestRefusedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(false)
	w.finds(certfile.Update{Refusal: errors.New("no response")})
	w.wait("the refusal is logged", func(*publisher) bool {
		return strings.Contains(w.logged(), "there is none to serve")
	})
	if got := w.logged(); strings.Contains(got, "present one stays") {
		t.Errorf("got %s", got)
	}
}

// TestStopsMeanwhile checks that a push during the stop is completed. Otherwise the failed push
// would count as a refusal of the certificate.
func TestStopsMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	pairs := []*certfile.Pair{w.pair(), w.pair()}
	w.finds(found(pairs[0]))
	w.wait("the first is live", live(pairs[0]))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 20 {
		before := w.takes()
		if _, err := w.plane.Certify(over, pairs[(i+1)%2:][:1]); err != nil {
			t.Fatal(err)
		}
		w.wait("an Envoy has it", func(*publisher) bool { return w.takes() > before })
	}
}

// TestMoreHosts checks that a certificate that lacks a host added by a restart is replaced
// immediately.
func TestMoreHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(true)
	one := w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	stop()
	w.hosts = append(w.hosts, "b.example")
	w.start(true)
	two := w.pair()
	w.finds(found(two))
	w.wait("the next is live immediately", live(one, two))
}

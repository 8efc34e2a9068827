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

// TestRollout: the first certificate is served at once; the next one is published first, served when its time has come, and then told.
func TestRollout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	due := w.clock.Now().Add(ahead)
	w.wait("the next is published", func(s *story) bool { return len(s.next) == 1 && s.next[0].Equal(two) && s.at.Equal(due) })
	w.clock.Set(due.Add(-time.Second))
	for range 2 {
		w.finds(certfile.Update{Refusal: errors.New("no chain")}) // changes nothing; and when the second is taken the clock was looked at
	}
	w.wait("the first stays until then", live(one))
	w.clock.Set(due)
	w.wait("the next is live", live(one, two))
	w.wait("nothing is announced", func(s *story) bool { return len(s.next) == 0 })
}

// TestNobody: without an Envoy nothing is told to be live.
func TestNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(false)
	one := w.pair()
	w.finds(found(one))
	w.finds(found(one)) // the first was looked after
	w.wait("nothing is live", live())
	stop()
	w.start(true) // without the source: it is on the disk
	w.wait("it is live once an Envoy has it", live(one))
}

// TestRestartAhead: a restart before the time neither puts it off nor brings it forward, and serves what was served although its files are gone.
func TestRestartAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	due := w.clock.Now().Add(ahead)
	w.wait("the next is published", func(s *story) bool { return len(s.next) == 1 })
	stop()
	w.clock.Advance(ahead / 2)
	w.story.mu.Lock()
	w.story.next = nil // as if the process had died before it was told
	w.story.mu.Unlock()
	w.start(true)
	w.finds(found(two))
	w.wait("it is published again, for the same time", func(s *story) bool { return len(s.next) == 1 && s.at.Equal(due) })
	w.wait("the first is live", live(one))
	w.clock.Set(due)
	w.wait("the next is live", live(one, two))
}

// TestTellsAgain: what could not be told is told later.
func TestTellsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.story.fail = true
	stop := w.start(true)
	one := w.pair()
	w.finds(found(one))
	w.wait("the word fails", func(s *story) bool { return s.asked > 0 })
	w.wait("nothing is told", live())
	stop() // it died between the push and the word
	w.story.fail = false
	w.start(true)
	w.wait("it is told", live(one))
}

// TestEndsSooner: what ends before the next one has been published for long enough is replaced before its end.
func TestEndsSooner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	end := w.clock.Now().Add(3 * time.Hour)
	one, two := w.pair(func(lives *[2]time.Time) { lives[1] = end }), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	w.wait("the next comes an hour before", func(s *story) bool { return len(s.next) == 1 && s.at.Equal(one.Leaf().NotAfter.Add(-time.Hour)) })
	w.clock.Set(end)
	w.wait("the next is live", live(one, two))
	w.finds(found(one)) // somebody puts the old one back: it has ended, but that is the source's to refuse
	w.wait("it is only published", func(s *story) bool { return len(s.next) == 1 && s.next[0].Equal(one) })
	w.finds(found(two))
	w.wait("and taken back", func(s *story) bool { return len(s.next) == 0 })
}

// TestRefusedByEnvoy: what an Envoy does not take is taken back, and is never told to be live.
func TestRefusedByEnvoy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.refuses("edge-cert")
	w.finds(found(two))
	w.wait("the next is published", func(s *story) bool { return len(s.next) == 1 })
	w.clock.Advance(ahead)
	w.wait("what was announced is taken back", func(s *story) bool { return len(s.next) == 0 })
	if !w.alarm.on.Load() {
		t.Error("no alarm")
	}
	w.refuses("")
	w.finds(certfile.Update{Refusal: errors.New("no chain")})
	w.wait("the first stays", live(one))
	three := w.pair()
	w.finds(found(three))
	w.wait("a better one is published", func(s *story) bool { return len(s.next) == 1 && s.next[0].Equal(three) })
	w.clock.Advance(ahead)
	w.wait("a better one is taken", live(one, three))
}

// TestForeignRefusal: what an Envoy refuses besides keeps no certificate from being live, neither the first nor the next.
func TestForeignRefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refuses("edge_http")
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.finds(found(two))
	w.wait("the next is published", func(s *story) bool { return len(s.next) == 1 })
	w.clock.Advance(ahead)
	w.wait("the next is live", live(one, two))
	if w.alarm.on.Load() {
		t.Error("an alarm")
	}
}

// TestTriesAgain: what an Envoy refused is tried again when it comes anew, though not as often as it does.
func TestTriesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(true)
	one, two := w.pair(), w.pair()
	w.finds(found(one))
	w.wait("the first is live", live(one))
	w.refuses("edge-cert")
	w.finds(found(two))
	w.wait("the next is published", func(s *story) bool { return len(s.next) == 1 })
	w.clock.Advance(ahead)
	w.wait("what was announced is taken back", func(s *story) bool { return len(s.next) == 0 })
	w.refuses("")
	w.wait("nothing changes by itself", live(one))
	w.comesAgain()
	w.wait("it is served to one who takes it", live(one, two))
	w.wait("the alarm ends", func(*story) bool { return !w.alarm.on.Load() })
}

// TestFullDisk: what cannot be written is not served, is said once, and is served when it can be.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := filepath.Join(w.folder, "certificates.json")
	w.start(true)
	if err := os.Mkdir(file, 0o700); err != nil { // as good as a full disk, for whoever writes
		t.Fatal(err)
	}
	one := w.pair()
	w.finds(found(one))
	for range 5 { // looks, each of which tries again
		w.finds(found(one))
	}
	w.wait("nothing is live", live())
	if got := strings.Count(w.logged(), "certificates.json"); got != 1 {
		t.Errorf("was said %d times: %s", got, w.logged())
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.wait("it is live once it can be written", live(one))
}

// TestBrokenState: what cannot be read is said with what to do.
func TestBrokenState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"", "{", `{"live":[{"chain":"x","key":"y"}]}`} {
		if err := os.WriteFile(filepath.Join(w.folder, "certificates.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := rollout.New(t.Context(), rollout.Config{Folder: w.folder})
		if err == nil || !strings.Contains(err.Error(), "certificates.json") || !strings.Contains(err.Error(), "move the file away") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestRefusedFirst: it is not said that a present one stays where there is none.
func TestRefusedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(false)
	w.finds(certfile.Update{Refusal: errors.New("nobody answers")})
	w.wait("the refusal is told", func(*story) bool { return strings.Contains(w.logged(), "there is none to serve") })
	if got := w.logged(); strings.Contains(got, "present one stays") {
		t.Errorf("got %s", got)
	}
}

// TestStopsMeanwhile: what is pushed while the program stops is pushed whole. A push that fails has its certificate taken for one that cannot be served.
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
		w.wait("an Envoy has it", func(*story) bool { return w.takes() > before })
	}
}

// TestMoreHosts: what is not good for a host that came with a restart is not served for a day more.
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
	w.wait("the next is live at once", live(one, two))
}

package certfile_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func soon(w *certfile.Watcher) { w.Settle = 10 * time.Millisecond }

// watched is a watcher that runs.
type watched struct {
	updates chan certfile.Update
	root    *certtest.Authority
	below   *certtest.Authority
	folder  string
}

// watch runs a watcher of a folder. It checks the files every hour unless change sets another
// interval, so that a change is seen by the system's events. The time for a change to settle is an
// hour too, so nothing is refused.
func watch(t *testing.T, folder string, prepare func(w *watched), change func(w *certfile.Watcher)) *watched {
	t.Helper()
	root := certtest.Root(t)
	run := &watched{updates: make(chan certfile.Update, 100), root: root, below: root.Intermediate(t), folder: folder}
	if prepare != nil {
		prepare(run)
	}
	w := &certfile.Watcher{
		Path: folder, Rules: certfile.Rules{Hosts: []string{"localhost"}, Roots: root.Pool()},
		Look: time.Hour, Quiet: time.Millisecond, Settle: time.Hour, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(w)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx, func(_ context.Context, u certfile.Update) { run.updates <- u }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return run
}

func (w *watched) next(t *testing.T) certfile.Update {
	t.Helper()
	select {
	case u := <-w.updates:
		return u
	case <-time.After(programtest.Patience):
		t.Fatal("no update")
		return certfile.Update{}
	}
}

// pairs wants the next update that is not a refusal to be these.
func (w *watched) pairs(t *testing.T, want ...*certtest.Issued) {
	t.Helper()
	u := w.next(t)
	for u.Refusal != nil { // of half a change, where these settle soon
		u = w.next(t)
	}
	if len(u.Pairs) != len(want) {
		t.Fatalf("got %+v, want %d pairs", u, len(want))
	}
	for i := range want {
		if !u.Pairs[i].Leaf().Equal(want[i].Leaf) || !u.Pairs[i].Equal(want[i].Pair(t)) {
			t.Errorf("pair %d: got serial %v, want %v", i, u.Pairs[i].Leaf().SerialNumber, want[i].Leaf.SerialNumber)
		}
	}
}

// refusal wants a refusal for this cause, perhaps after others of half a change.
func (w *watched) refusal(t *testing.T, code certfile.Code) {
	t.Helper()
	for {
		u := w.next(t)
		refusal := (*certfile.RefusalError)(nil)
		if u.Pairs != nil || !errors.As(u.Refusal, &refusal) {
			t.Fatalf("got %+v, want a refusal for %s", u, code)
		}
		if refusal.Has(code) {
			return
		}
	}
}

// none demands that no further update came.
func (w *watched) none(t *testing.T) {
	t.Helper()
	select {
	case u := <-w.updates:
		t.Errorf("got %+v, want no more updates", u)
	default:
	}
}

func TestWatcherReportsRotations(t *testing.T) {
	t.Parallel()
	var first *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		first = w.below.Issue(t)
		first.Write(t, w.folder, "edge")
	}, nil)
	w.pairs(t, first)

	second := w.below.Issue(t)
	second.Write(t, w.folder, "edge") // by renaming, the certificate before its key
	w.pairs(t, second)

	third := w.below.Issue(t)
	mustWrite(t, filepath.Join(w.folder, "edge.key"), third.KeyPEM(t)) // in place, the key first
	mustWrite(t, filepath.Join(w.folder, "edge.crt"), third.ChainPEM())
	w.pairs(t, third)

	renewed := w.below.IssueFor(t, third.Key) // under the same key
	certtest.Replace(t, filepath.Join(w.folder, "edge.crt"), renewed.ChainPEM())
	w.pairs(t, renewed)
	w.none(t)
}

func TestWatcherKeepsThePresentPairWhenItRefuses(t *testing.T) {
	t.Parallel()
	var good *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		good = w.below.Issue(t)
		good.Write(t, w.folder, "edge")
	}, soon)
	w.pairs(t, good)

	other := w.below.Issue(t)
	certtest.Replace(t, filepath.Join(w.folder, "edge.crt"), other.ChainPEM()) // the key is never replaced
	w.refusal(t, certfile.KeyMismatch)
	expired := w.below.Issue(t, certtest.Lives(time.Unix(0, 0), time.Unix(1000, 0)))
	expired.Write(t, w.folder, "edge")
	w.refusal(t, certfile.Expired)
	w.below.Issue(t, certtest.Hosts("other.test")).Write(t, w.folder, "edge")
	w.refusal(t, certfile.HostMissing)
	if err := os.Remove(filepath.Join(w.folder, "edge.key")); err != nil {
		t.Fatal(err)
	}
	w.refusal(t, certfile.Unreadable)
	if err := os.Remove(filepath.Join(w.folder, "edge.crt")); err != nil {
		t.Fatal(err)
	}
	w.refusal(t, certfile.PairsUnfit)
	good.Write(t, w.folder, "edge") // the refused state is reverted, and that is reported
	w.pairs(t, good)
	w.none(t)
}

// TestWatcherWaitsForTheOtherHalf replaces the certificate long before the key, as it happens
// when two files are copied over a slow line.
func TestWatcherWaitsForTheOtherHalf(t *testing.T) {
	t.Parallel()
	var log waitingLog
	log.lines = make(chan string, 100)
	var first *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		first = w.below.Issue(t)
		first.Write(t, w.folder, "edge")
	}, func(w *certfile.Watcher) { w.Log = log.logger() })
	w.pairs(t, first)
	second := w.below.Issue(t)
	certtest.Replace(t, filepath.Join(w.folder, "edge.crt"), second.ChainPEM())
	if line := log.next(t); !strings.Contains(line, "Waiting for the rest of the change") ||
		!strings.Contains(line, "is not the key of") {
		t.Errorf("got %q", line)
	}
	w.none(t)
	certtest.Replace(t, filepath.Join(w.folder, "edge.key"), second.KeyPEM(t))
	w.pairs(t, second)
	w.none(t)
}

// TestWatcherRefusesTheFirstFilesImmediately: at the start no change is in progress, so the log
// must not report one.
func TestWatcherRefusesTheFirstFilesImmediately(t *testing.T) {
	t.Parallel()
	var log waitingLog
	log.lines = make(chan string, 100)
	var good *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		good = w.below.Issue(t)
		good.Write(t, w.folder, "edge")
		certtest.Replace(t, filepath.Join(w.folder, "edge.key"), w.below.Issue(t).KeyPEM(t))
	}, func(w *certfile.Watcher) { w.Log = log.logger() })
	w.refusal(t, certfile.KeyMismatch)
	certtest.Replace(t, filepath.Join(w.folder, "edge.key"), good.KeyPEM(t))
	w.pairs(t, good)
	w.none(t)
	select {
	case line := <-log.lines:
		t.Errorf("got the line %q, want none", line)
	default:
	}
}

// TestWatcherFollowsKubernetes turns the link ..data as a kubelet does when a secret changes.
func TestWatcherFollowsKubernetes(t *testing.T) {
	t.Parallel()
	var first *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		first = w.below.Issue(t)
		project(t, w.folder, "..2026_01", first)
		for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
			if err := os.Symlink(filepath.Join("..data", name), filepath.Join(w.folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}, nil)
	w.pairs(t, first)
	second := w.below.Issue(t)
	project(t, w.folder, "..2026_02", second)
	if err := os.RemoveAll(filepath.Join(w.folder, "..2026_01")); err != nil {
		t.Fatal(err)
	}
	w.pairs(t, second)
	w.none(t)
}

func project(t *testing.T, folder, version string, issued *certtest.Issued) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(folder, version), 0o700); err != nil {
		t.Fatal(err)
	}
	issued.Write(t, filepath.Join(folder, version), "tls")
	mustWrite(t, filepath.Join(folder, version, "ca.crt"), certtest.PEM(issued.Chain[1:]...))
	if err := os.Symlink(version, filepath.Join(folder, "..data_tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
}

func TestWatcherTakesTwoAlgorithms(t *testing.T) {
	t.Parallel()
	var withEC, withRSA *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		withEC, withRSA = w.below.Issue(t), w.below.IssueFor(t, certtest.RSA(t, 2048))
		withRSA.Write(t, w.folder, "a")
		withEC.Write(t, w.folder, "b")
	}, soon)
	w.pairs(t, withEC, withRSA)

	w.below.Issue(t).Write(t, w.folder, "a")
	w.refusal(t, certfile.PairsUnfit)
	w.below.Issue(t).Write(t, w.folder, "c")
	w.refusal(t, certfile.PairsUnfit)
	for _, name := range []string{"a.crt", "a.key", "c.crt", "c.key"} {
		if err := os.Remove(filepath.Join(w.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.pairs(t, withEC)
	w.none(t)
}

// TestWatcherChecksByTime: a watcher also notices changes without events of the system, in a folder
// that does not exist yet and in a replaced folder.
func TestWatcherChecksByTime(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "certificates")
	w := watch(t, at, nil, func(w *certfile.Watcher) { w.Look, w.Settle = 5*time.Millisecond, time.Millisecond })
	w.refusal(t, certfile.Unreadable)
	first, second := w.below.Issue(t), w.below.Issue(t)
	for i, issued := range []*certtest.Issued{first, second} {
		fresh := filepath.Join(t.TempDir(), "fresh")
		if err := os.Mkdir(fresh, 0o700); err != nil {
			t.Fatal(err)
		}
		issued.Write(t, fresh, "edge")
		if i > 0 {
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(fresh, at); err != nil {
			t.Fatal(err)
		}
		for u := w.next(t); ; u = w.next(t) { // between the two there was no folder, which it may have noticed
			if u.Refusal == nil && u.Pairs[0].Equal(issued.Pair(t)) {
				break
			}
		}
	}
}

// TestWatcherChecksAgainWhatItRefused: a watcher refuses a pair that is valid from tomorrow,
// reports it once, and accepts it tomorrow.
func TestWatcherChecksAgainWhatItRefused(t *testing.T) {
	t.Parallel()
	now := readClock{Fake: clock.NewFake(clock.System().Now()), read: make(chan struct{})}
	var issued *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		issued = w.below.Issue(t, certtest.Lives(now.Fake.Now().Add(time.Hour), now.Fake.Now().AddDate(0, 0, 90)))
		issued.Write(t, w.folder, "edge")
	}, func(w *certfile.Watcher) { w.Look, w.Settle, w.Clock = 5*time.Millisecond, time.Millisecond, now })
	w.refusal(t, certfile.NotYetValid)
	for range 3 {
		<-now.read // so it looked again
	}
	w.none(t)
	now.Advance(2 * time.Hour)
	w.pairs(t, issued)
}

// readClock reports each reading, if a test waits for it.
type readClock struct {
	*clock.Fake
	read chan struct{}
}

func (c readClock) Now() time.Time {
	select {
	case c.read <- struct{}{}:
	default:
	}
	return c.Fake.Now()
}

func TestWatcherOfFiles(t *testing.T) {
	t.Parallel()
	var first *certtest.Issued
	w := watch(t, t.TempDir(), func(w *watched) {
		first = w.below.Issue(t)
		first.Write(t, w.folder, "edge")
	}, func(c *certfile.Watcher) {
		c.Files, c.Path = []certfile.Files{
			{Chain: filepath.Join(c.Path, "edge.crt"), Key: filepath.Join(c.Path, "edge.key")},
		}, ""
		if pairs, _, err := c.Load(); err != nil || len(pairs) != 1 || !pairs[0].Equal(first.Pair(t)) {
			t.Errorf("load: got %v, %v", pairs, err)
		}
	})
	w.pairs(t, first)
	second := w.below.Issue(t)
	second.Write(t, w.folder, "edge")
	w.pairs(t, second)
}

func TestWatcherOfNothing(t *testing.T) {
	t.Parallel()
	if err := (&certfile.Watcher{}).Run(t.Context(), nil); err == nil {
		t.Error("it runs, and watches nothing")
	}
}

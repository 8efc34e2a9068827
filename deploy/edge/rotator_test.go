package edge_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/edge"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// source is a source whose updates the test sends.
type source chan certfile.Update

func (s source) Run(ctx context.Context, publish func(context.Context, certfile.Update)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-s:
			publish(ctx, u)
		}
	}
}

// stage is a running rotator with a manual clock.
type stage struct {
	*edge.Publisher
	source source
	clock  *clock.Fake

	mu     sync.Mutex
	served *certfile.Pair // guarded by mu
	fail   bool           // Serve fails; guarded by mu
	failed chan struct{}  // gets a value when it does
}

func (s *stage) Serve(_ context.Context, pairs []*certfile.Pair) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail {
		select {
		case s.failed <- struct{}{}:
		default:
		}
		return errors.New("not yet")
	}
	s.served = pairs[0]
	return nil
}

// fails makes Serve fail from now on, or succeed.
func (s *stage) fails(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = is
}

func start(t *testing.T, first *certfile.Pair, ahead time.Duration) *stage {
	t.Helper()
	c := clock.NewFake(clock.System().Now())
	publisher, err := edge.OpenPublisher(
		edge.Trust{Folder: t.TempDir(), Hosts: []string{"localhost"}, URL: "https://localhost", Ahead: ahead, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Publisher: publisher, source: make(source), clock: c, failed: make(chan struct{}, 1)}
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	k := &edge.Rotator{Source: s.source, Publisher: publisher, Serve: s.Serve, Ahead: ahead, Clock: c}
	ended.Go(func() {
		if err := k.Run(ctx, []*certfile.Pair{first}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); ended.Wait() })
	return s
}

func (s *stage) fingerprints(t *testing.T) (out v1.TrustFingerprints) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/trust/fingerprints", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// until waits until the published serial numbers are these, present and next. Then it checks that
// the listener serves the present one.
func (s *stage) until(t *testing.T, current, next *certfile.Pair) {
	t.Helper()
	serials := func(list []v1.TrustCertificate) (out string) {
		for _, c := range list {
			out += strings.TrimLeft(strings.ToLower(c.SerialNumber), "0")
		}
		return out
	}
	want := current.Leaf().SerialNumber.Text(16) + "/"
	if next != nil {
		want += next.Leaf().SerialNumber.Text(16)
	}
	programtest.WaitFor(t, want+" is published", func() bool {
		got := s.fingerprints(t)
		return serials(got.Current)+"/"+serials(got.Next) == want
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.served.Equal(current) {
		t.Errorf("served: got %s, want %s", s.served.Leaf().SerialNumber.Text(16), current.Leaf().SerialNumber.Text(16))
	}
}

func TestRotator(t *testing.T) {
	t.Parallel()
	ca := certtest.Root(t)
	pair := func() *certfile.Pair { return ca.Issue(t).Pair(t) }
	send := func(s *stage, u certfile.Update) { s.source <- u }

	t.Run("published ahead, then served", func(t *testing.T) {
		t.Parallel()
		a, b := pair(), pair()
		s := start(t, a, time.Hour)
		s.until(t, a, nil)
		send(s, certfile.Update{Pairs: []*certfile.Pair{b}})
		s.until(t, a, b)
		send(s, certfile.Update{Pairs: []*certfile.Pair{b}})
		send(s, certfile.Update{Refusal: errors.New("a key of another certificate")})
		s.until(t, a, b)
		s.clock.Advance(time.Hour)
		s.until(t, b, nil)
	})
	t.Run("withdrawn", func(t *testing.T) {
		t.Parallel()
		a, b := pair(), pair()
		s := start(t, a, time.Hour)
		send(s, certfile.Update{Pairs: []*certfile.Pair{b}})
		s.until(t, a, b)
		send(s, certfile.Update{Pairs: []*certfile.Pair{a}})
		s.until(t, a, nil)
		s.clock.Advance(2 * time.Hour)
		send(s, certfile.Update{Pairs: []*certfile.Pair{a}})
		s.until(t, a, nil)
	})
	t.Run("before the end of the present one", func(t *testing.T) {
		t.Parallel()
		a, b, c := pair(), pair(), pair()
		s := start(t, a, 365*24*time.Hour)
		s.until(t, a, nil)
		latest := a.Leaf().NotAfter.Add(-time.Hour)
		if got := s.fingerprints(t).Rotation.EffectiveAt; !got.Equal(latest) {
			t.Errorf("planned for %s, want %s", got, latest)
		}
		send(s, certfile.Update{Pairs: []*certfile.Pair{b}})
		s.until(t, a, b)
		if got := s.fingerprints(t).Rotation.EffectiveAt; !got.Equal(latest) {
			t.Errorf("announced for %s, want %s", got, latest)
		}
		s.clock.Set(latest)
		s.until(t, b, nil)
		s.clock.Set(b.Leaf().NotAfter.Add(-time.Hour))
		send(s, certfile.Update{Pairs: []*certfile.Pair{c}})
		s.until(t, c, nil)
	})
	t.Run("again when it could not be served", func(t *testing.T) {
		t.Parallel()
		a, b := pair(), pair()
		s := start(t, a, 0)
		s.until(t, a, nil)
		s.fails(true)
		send(s, certfile.Update{Pairs: []*certfile.Pair{b}})
		<-s.failed
		s.until(t, a, b)
		s.fails(false)
		s.until(t, b, nil)
	})
}

func TestPolicyOf(t *testing.T) {
	t.Parallel()
	if got := edge.PolicyOf(tlspolicy.Policy{}); len(got.Versions) != 2 || len(got.CipherSuites) != 9 ||
		len(got.SignatureAlgorithms) == 0 {
		t.Errorf("got %+v", got)
	}
}

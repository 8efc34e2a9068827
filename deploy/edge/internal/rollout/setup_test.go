package rollout_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/deploy/edge/internal/rollout"
	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const ahead = 24 * time.Hour

// world is a rollout with stand-ins. It can be stopped and restarted on the same folder.
type world struct {
	t         *testing.T
	folder    string
	clock     *clock.Fake
	publisher *publisher
	source    *source
	ca        *certtest.Authority
	alarm     alarm
	hosts     []string // of the configuration, and of pairs
	plane     *rollout.Plane
	connect   func() // starts the node

	mu     sync.Mutex
	refuse string   // the name of the resource that the node refuses
	hang   func()   // ends the node's stream, and the node reconnects
	served []string // the chains that the node accepted, in order
	log    strings.Builder
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, folder: t.TempDir(), clock: clock.NewFake(clock.System().Now()), publisher: &publisher{},
		source: &source{updates: make(chan certfile.Update), taken: make(chan struct{})},
		ca:     certtest.Root(t).Intermediate(t), hosts: []string{"a.example"},
	}
}

func (w *world) pair(changes ...func(lives *[2]time.Time)) *certfile.Pair {
	w.t.Helper()
	lives := [2]time.Time{w.clock.Now().Add(-time.Hour), w.clock.Now().AddDate(0, 0, 90)}
	for _, c := range changes {
		c(&lives)
	}
	return w.ca.Issue(w.t, certtest.Hosts(w.hosts...), certtest.Lives(lives[0], lives[1])).Pair(w.t)
}

// start runs a rollout, with a node if wanted, until the returned function is called.
func (w *world) start(node bool) (stop func()) {
	w.t.Helper()
	c, err := config.Decode("c",
		[]byte("hosts: ["+strings.Join(w.hosts, ", ")+"]\ncertificates: {folder: c}\nextproc: {address: 'unix:m'}\n"))
	if err != nil {
		w.t.Fatal(err)
	}
	server, err := serve.New(w.t.Context(), serve.Config{Cluster: c.XDS.Cluster})
	if err != nil {
		w.t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	server.Start(l, nil)
	w.plane = rollout.NewPlane(server, c, nil)
	r, err := rollout.New(w.t.Context(), rollout.Config{
		Plane: w.plane, Server: server, Publisher: w.publisher, Alarm: &w.alarm, Folder: w.folder, Ahead: ahead,
		Clock: w.clock,
		Look:  5 * time.Millisecond, Log: slog.New(slog.NewTextHandler(w, nil)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	var all sync.WaitGroup
	all.Go(func() {
		if err := r.Run(ctx, w.source); err != nil {
			w.t.Error(err)
		}
	})
	w.connect = func() { all.Go(func() { w.node(ctx, l.Addr().String(), c.XDS.Cluster) }) }
	if node {
		w.connect()
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			all.Wait()
			if err := server.Stop(context.WithoutCancel(ctx)); err != nil {
				w.t.Error(err)
			}
		})
	}
	w.t.Cleanup(stop)
	return stop
}

// node is an Envoy that accepts its resources, and reconnects when its stream ends.
func (w *world) node(ctx context.Context, at, cluster string) {
	conn, err := grpc.NewClient(at, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		w.t.Error(err)
		return
	}
	defer conn.Close() //nolint:errcheck // the test is over
	for ctx.Err() == nil {
		ctx, cancel := context.WithCancel(ctx)
		client := discoveryv3.NewAggregatedDiscoveryServiceClient(conn)
		stream, err := client.DeltaAggregatedResources(ctx, grpc.WaitForReady(true)) // a failed one begins again at once
		if err != nil {
			cancel()
			continue
		}
		w.mu.Lock()
		w.hang = cancel
		w.mu.Unlock()
		for _, url := range snapshot.Types {
			_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{ // a closed stream is detected below
				Node: &corev3.Node{Id: "n1", Cluster: cluster}, TypeUrl: url, ResourceNamesSubscribe: []string{"*"},
			})
		}
		for {
			r, err := stream.Recv()
			if err != nil {
				break
			}
			_ = stream.Send(w.respond(r))
		}
		cancel()
	}
}

func (w *world) respond(r *discoveryv3.DeltaDiscoveryResponse) *discoveryv3.DeltaDiscoveryRequest {
	out := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, resource := range r.GetResources() {
		if resource.GetName() == w.refuse {
			out.ErrorDetail = &statusv3.Status{Message: "no"}
			continue
		}
		if resource.GetName() != "edge-cert" {
			continue
		}
		w.served = append(w.served, string(resource.GetResource().GetValue()))
	}
	return out
}

// source is a source whose updates the test sends.
type source struct {
	updates chan certfile.Update
	taken   chan struct{} // one value for each update
}

func (s *source) Run(ctx context.Context, publish func(context.Context, certfile.Update)) error {
	for {
		select {
		case u := <-s.updates:
			publish(ctx, u)
			select {
			case s.taken <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// finds sends an update, and returns after the rollout has taken it. It has handled it after it has
// taken one more.
func (w *world) finds(u certfile.Update) {
	w.t.Helper()
	late := time.After(programtest.Patience)
	select {
	case w.source.updates <- u:
	case <-late:
		w.t.Fatal("no rollout takes the update")
	}
	select {
	case <-w.source.taken:
	case <-late:
		w.t.Fatal("no rollout takes the update")
	}
}

// publisher records the calls.
type publisher struct {
	mu    sync.Mutex
	lives []*certfile.Pair
	next  []*certfile.Pair
	at    time.Time
	fail  bool
	asked int // number of failed calls
}

// breaks makes all calls fail from now on, or succeed.
func (s *publisher) breaks(fail bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.asked = fail, 0
}

func (s *publisher) Next(_ context.Context, at time.Time, pairs ...*certfile.Pair) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail {
		s.asked++
		return errors.New("the disk is full")
	}
	s.next, s.at = pairs, at
	return nil
}

func (s *publisher) Live(_ context.Context, pairs ...*certfile.Pair) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail {
		s.asked++
		return errors.New("the disk is full")
	}
	if len(s.lives) == 0 || !s.lives[len(s.lives)-1].Equal(pairs[0]) {
		s.lives = append(s.lives, pairs[0])
	}
	return nil
}

// wait waits until the publisher's state is as wanted.
func (w *world) wait(what string, done func(*publisher) bool) {
	w.t.Helper()
	programtest.WaitFor(w.t, what, func() bool {
		w.publisher.mu.Lock()
		defer w.publisher.mu.Unlock()
		return done(w.publisher)
	})
}

func live(pairs ...*certfile.Pair) func(*publisher) bool {
	return func(s *publisher) bool { return slices.EqualFunc(s.lives, pairs, (*certfile.Pair).Equal) }
}

// alarm records whether it is on.
type alarm struct{ on atomic.Bool }

func (*alarm) Serve(context.Context, ...*certfile.Pair) {}
func (a *alarm) Refused(is bool)                        { a.on.Store(is) }

// refuses makes the node refuse a resource from now on; "" for none.
func (w *world) refuses(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = name
}

// Write receives the log.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// comesAgain makes the node reconnect.
func (w *world) comesAgain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hang()
}

// takes returns the number of certificates that the node accepted.
func (w *world) takes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.served)
}

//go:build unix

package fleet

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Group is all instances of one program, with a balancer in front.
type Group struct {
	all      []*Instance
	balancer *Balancer
}

// group starts n instances of a program; args are those of one that listens at two addresses.
func (f *Fleet) group(tb testing.TB, name, at string, port, n int, args func(listen, admin string) []string) *Group {
	tb.Helper()
	g := &Group{}
	for i := range n {
		listen, admin := fmt.Sprintf("%s:%d", at, port+i), fmt.Sprintf("%s:%d", at, port+1000+i)
		g.all = append(g.all, &Instance{
			Name: fmt.Sprintf("%s %d", name, i), path: filepath.Join(f.config.Binaries, name), args: args(listen, admin), env: f.env,
			listen: listen, admin: admin, log: &programtest.Log{Most: 256 << 10},
		})
	}
	g.balancer = Balance(tb, g.all...)
	for _, i := range g.all {
		tb.Cleanup(func() {
			i.Kill()
			if tb.Failed() {
				tb.Logf("%s:\n%s", i.Name, i.log)
			}
		})
		i.Launch(tb)
	}
	for _, i := range g.all {
		i.settle(tb)
	}
	return g
}

// All are the instances.
func (g *Group) All() []*Instance { return g.all }

// URLs are those of all instances, for clients that choose by themselves.
func (g *Group) URLs() []string {
	out := make([]string, len(g.all))
	for n, i := range g.all {
		out[n] = i.URL()
	}
	return out
}

// URL is the balancer's: each connection goes to an instance that lives.
func (g *Group) URL() string { return g.balancer.URL() }

// Instance is one of several processes of a program, at an address that stays its own when it is started again.
type Instance struct {
	Name          string // such as "core 0"
	args, env     []string
	listen, admin string
	log           *programtest.Log

	mu      sync.Mutex
	path    string               // guarded by mu
	program *programtest.Program // the newest; guarded by mu
	paused  bool                 // guarded by mu
}

// URL is where it serves.
func (i *Instance) URL() string { return "http://" + i.listen }

// Admin is its operators' port: /metrics and more.
func (i *Instance) Admin() string { return "http://" + i.admin }

// Log is the end of what it has printed, in all of its lives.
func (i *Instance) Log() string { return i.log.String() }

// Launch starts it, when it has ended, and does not wait until it takes requests.
func (i *Instance) Launch(tb testing.TB) {
	tb.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	p, err := programtest.Launch(programtest.Command{Path: i.path, Args: i.args, Env: i.env, Stderr: i.log})
	if err != nil {
		tb.Fatalf("%s: %v", i.Name, err)
	}
	i.program, i.paused = p, false
}

// Await waits until it takes requests.
func (i *Instance) Await(tb testing.TB) {
	tb.Helper()
	for _, address := range []string{i.listen, i.admin} {
		if err := i.current().Listens(tb.Context(), address); err != nil {
			tb.Fatalf("%s: %v\n%s", i.Name, err, i.log)
		}
	}
}

// settle is Await, for one that may end meanwhile: a core does when its store does not answer in time, as on a machine that starves. It is launched again
// then, as a supervisor does it.
func (i *Instance) settle(tb testing.TB) {
	tb.Helper()
	for range 4 {
		if i.current().Listens(tb.Context(), i.listen) == nil {
			break
		}
		select {
		case <-i.Ended():
			i.Launch(tb)
		default: // it takes long
		}
	}
	i.Await(tb)
}

// Serves reports whether it takes requests at the moment.
func (i *Instance) Serves(ctx context.Context) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", i.listen)
	return err == nil && conn.Close() == nil
}

// Start is Launch and Await.
func (i *Instance) Start(tb testing.TB) {
	tb.Helper()
	i.Launch(tb)
	i.Await(tb)
}

// Ended is closed when the process that runs now has ended.
func (i *Instance) Ended() <-chan struct{} { return i.current().Ended() }

func (i *Instance) current() *programtest.Program {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.program
}

// Kill is kill -9: it returns when the process is gone. One that never started, or has ended, is gone.
func (i *Instance) Kill() {
	if p := i.current(); p != nil {
		p.Kill()
	}
}

// Pause has it stand still, by SIGSTOP; the balancer then leaves it out, as one that fails its checks. Resume has it go on.
func (i *Instance) Pause() { i.stand(syscall.SIGSTOP, true) }

// Resume ends Pause.
func (i *Instance) Resume() { i.stand(syscall.SIGCONT, false) }

func (i *Instance) stand(s syscall.Signal, still bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.program.Signal(s)
	i.paused = still
}

func (i *Instance) standsStill() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.paused
}

// Stop asks it to end, by SIGTERM, waits until it has finished its requests, and wants it to end well.
func (i *Instance) Stop(tb testing.TB) {
	tb.Helper()
	p := i.current()
	p.Signal(syscall.SIGTERM)
	if err := p.Err(); err != nil {
		tb.Errorf("%s: stop: %v\n%s", i.Name, err, i.log)
	}
}

// Use has it be another binary from its next start on: that of its program in a folder.
func (i *Instance) Use(folder string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.path = filepath.Join(folder, filepath.Base(i.path))
}

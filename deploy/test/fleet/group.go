//go:build unix

package fleet

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Group has all instances of one program, with a balancer in front.
type Group struct {
	all      []*Instance
	balancer *Balancer
}

// group starts n instances of a program. args returns the arguments of an instance, by its number
// and its two addresses.
func (f *Fleet) group(
	tb testing.TB, name, at string, port, n int, args func(n int, listen, admin string) []string,
) *Group {
	tb.Helper()
	g := &Group{}
	for i := range n {
		listen, admin := fmt.Sprintf("%s:%d", at, port+i), fmt.Sprintf("%s:%d", at, port+1000+i)
		g.all = append(g.all, &Instance{
			Name: fmt.Sprintf("%s %d", name, i), path: filepath.Join(f.config.Binaries, name),
			args: args(i, listen, admin), env: f.env,
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
		i.mustLaunch(tb)
	}
	for _, i := range g.all {
		i.settle(tb)
	}
	return g
}

// All returns the instances.
func (g *Group) All() []*Instance { return g.all }

// URLs returns the address of each instance, for clients that select one themselves.
func (g *Group) URLs() []string {
	out := make([]string, len(g.all))
	for n, i := range g.all {
		out[n] = i.URL()
	}
	return out
}

// URL returns the address of the balancer, which forwards each connection to a live instance.
func (g *Group) URL() string { return g.balancer.URL() }

// Instance is one of several processes of a program. It keeps its addresses when it is restarted.
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

// URL returns the address at which it serves.
func (i *Instance) URL() string { return "http://" + i.listen }

// Admin returns the address of its administration, with /metrics and more.
func (i *Instance) Admin() string { return "http://" + i.admin }

// Log returns the end of its output, of all of its processes.
func (i *Instance) Log() string { return i.log.String() }

// Launch starts the instance after it has ended, without waiting until it accepts connections. It
// is for goroutines; a test calls Start.
func (i *Instance) Launch() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	p, err := programtest.Launch(programtest.Command{Path: i.path, Args: i.args, Env: i.env, Stderr: i.log})
	if err != nil {
		return fmt.Errorf("launch %s: %w", i.Name, err)
	}
	i.program, i.paused = p, false
	return nil
}

// mustLaunch is Launch for the goroutine of a test.
func (i *Instance) mustLaunch(tb testing.TB) {
	tb.Helper()
	if err := i.Launch(); err != nil {
		tb.Fatal(err)
	}
}

// Await waits until it accepts connections.
func (i *Instance) Await(tb testing.TB) {
	tb.Helper()
	for _, address := range []string{i.listen, i.admin} {
		if err := i.current().Listens(tb.Context(), address); err != nil {
			tb.Fatalf("%s: %v\n%s", i.Name, err, i.log)
		}
	}
}

// settle waits like Await and restarts a core that exits because the store is slow.
func (i *Instance) settle(tb testing.TB) {
	tb.Helper()
	for range 4 {
		if i.current().Listens(tb.Context(), i.listen) == nil {
			break
		}
		select {
		case <-i.Ended():
			i.mustLaunch(tb)
		default: // it takes long
		}
	}
	i.Await(tb)
}

// Serves reports whether it accepts connections now.
func (i *Instance) Serves(ctx context.Context) bool {
	return programtest.Listening(ctx, i.listen)
}

// Start is Launch and Await.
func (i *Instance) Start(tb testing.TB) {
	tb.Helper()
	i.mustLaunch(tb)
	i.Await(tb)
}

// Ended is closed when the present process has ended.
func (i *Instance) Ended() <-chan struct{} { return i.current().Ended() }

func (i *Instance) current() *programtest.Program {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.program
}

// Kill ends the instance by SIGKILL, and returns when the process is gone. It does nothing if the
// instance never started or has ended.
func (i *Instance) Kill() {
	if p := i.current(); p != nil {
		p.Kill()
	}
}

// Pause stops the instance by SIGSTOP, until Resume. Meanwhile the balancer skips it, as a load
// balancer skips an instance that fails its checks.
func (i *Instance) Pause() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.program.Pause()
	i.paused = true
}

// Resume ends Pause.
func (i *Instance) Resume() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.program.Resume()
	i.paused = false
}

func (i *Instance) standsStill() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.paused
}

// Stop ends the instance by SIGTERM, and waits until it has ended. The test fails unless its exit
// code is 0.
func (i *Instance) Stop(tb testing.TB) {
	tb.Helper()
	p := i.current()
	p.Signal(syscall.SIGTERM)
	if err := p.Err(); err != nil {
		tb.Errorf("%s: stop: %v\n%s", i.Name, err, i.log)
	}
}

// Use sets the folder of the binary that the instance runs from its next start.
func (i *Instance) Use(folder string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.path = filepath.Join(folder, filepath.Base(i.path))
}

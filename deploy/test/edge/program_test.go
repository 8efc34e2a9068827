package edge_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what takes milliseconds, on a machine that is busy with all the other tests.
const patience = 60 * time.Second

// program is one of ours, running.
type program struct {
	name string
	cmd  *exec.Cmd
	log  *buffer
	wait func() error // safe to repeat
}

// run starts a program with settings beside the test's own environment, and kills it when the test ends.
func run(t *testing.T, env []string, name string, args ...string) *program {
	t.Helper()
	p := &program{name: name, log: &buffer{}}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(bin, name), args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.wait = sync.OnceValue(p.cmd.Wait)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s:\n%s", name, p.log)
		}
	})
	return p
}

// kill ends it as a power cut would, and returns when it is gone.
func (p *program) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.wait()             // what it says is that it was killed
}

// listens waits until somebody does.
func (p *program) listens(t *testing.T, address string) {
	t.Helper()
	waitFor(t, p.name+" listens at "+address, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// logs waits until the program has logged something.
func (p *program) logs(t *testing.T, what string) {
	t.Helper()
	waitFor(t, p.name+" logs "+what, func() bool { return strings.Contains(p.log.String(), what) })
}

// output is what a program of ours prints that ends by itself, and how it ended.
func output(t *testing.T, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return strings.TrimSpace(out.String()), errOut.String(), err
}

// mustOutput wants it to end well.
func mustOutput(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, errOut, err := output(t, name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, errOut)
	}
	return out
}

// waitFor waits for a condition.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// buffer collects what a process prints while a test looks at it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

//go:build unix

package programtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a test waits for what takes milliseconds, on a machine that is busy with all the other tests.
const Patience = 60 * time.Second

// Build builds programs, named by their packages, into a folder.
func Build(ctx context.Context, folder string, packages ...string) error {
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-o", folder + string(os.PathSeparator)}, packages...)...) //nolint:gosec // of a test
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs under test: %w\n%s", err, out)
	}
	return nil
}

// Program is one that was started.
type Program struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // once it has ended
}

// Launch starts a program with settings beside the test's own environment. What it prints goes to log.
func Launch(log io.Writer, env []string, path string, args ...string) (*Program, error) {
	cmd := exec.CommandContext(context.Background(), path, args...) //nolint:gosec // a program of a test
	p := &Program{cmd: cmd, ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = log, log, withTest()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Signal sends it a signal. It may have ended.
func (p *Program) Signal(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s) // one that has ended needs none
}

// Kill ends it as a power cut would, and returns when it is gone.
func (p *Program) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Ended is closed when it has ended; Err then says how.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// Err is how it ended, nil for well. It waits for that.
func (p *Program) Err() error {
	<-p.ended
	return p.err
}

// errNot is that a program does not do what it should in time.
var errNot = errors.New("in vain")

// Listens waits until somebody takes connections at an address, for as long as the program runs.
func (p *Program) Listens(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address); err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("waited %w for it to listen at %s: it has ended: %w", errNot, address, p.err)
		case <-ctx.Done():
			return fmt.Errorf("waited %w for it to listen at %s", errNot, address)
		}
	}
}

// WaitFor waits for a condition.
func WaitFor(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("waited in vain until %s", what)
		}
	}
}

// tailSize is how much of what a program prints is kept.
const tailSize = 256 << 10

// Tail keeps the end of what programs print. Its zero value is empty.
type Tail struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

// String is what is kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

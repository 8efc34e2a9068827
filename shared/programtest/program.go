//go:build unix

package programtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// Command is a program to be started. Path is required.
type Command struct {
	Path   string
	Args   []string
	Env    []string  // NAME=value, added to the test's own environment
	Bare   bool      // Env is all of the environment
	Dir    string    // "" for the test's own
	Stdin  io.Reader // nil for none
	Stdout io.Writer // nil for Stderr
	Stderr io.Writer // nil for a Log

	// Change sets attributes of the process, such as its user, before the start. SysProcAttr is not
	// nil: change its fields, since it also ends the program with the test. Nil changes nothing.
	Change func(*exec.Cmd)
}

// exec returns the command for os/exec.
func (c Command) exec(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...) //nolint:gosec // a program of a test
	cmd.Dir, cmd.Stdin, cmd.SysProcAttr = c.Dir, c.Stdin, withTest()
	if cmd.Env = c.Env; !c.Bare {
		cmd.Env = append(os.Environ(), c.Env...)
	}
	if c.Change != nil {
		c.Change(cmd)
	}
	return cmd
}

// Program is a running program, or one that has ended. It is safe for concurrent use.
type Program struct {
	Log *Log // nil if the command has a Stderr of another type

	stdout *Log // nil if the command has a Stdout of another type
	cmd    *exec.Cmd
	ended  chan struct{}
	err    error // once it has ended
}

// Launch starts a program, which ends with the process of the test at the latest.
func Launch(c Command) (*Program, error) {
	if c.Stderr == nil {
		c.Stderr = &Log{}
	}
	if c.Stdout == nil {
		c.Stdout = c.Stderr
	}
	p := &Program{cmd: c.exec(context.Background()), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = c.Stdout, c.Stderr
	p.Log, _ = c.Stderr.(*Log)
	p.stdout, _ = c.Stdout.(*Log)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Start is Launch for a test. The end of the test kills the program, and shows its log if the test
// failed.
func Start(tb testing.TB, c Command) *Program {
	tb.Helper()
	p, err := Launch(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		p.Kill()
		if tb.Failed() && p.Log != nil {
			tb.Logf("%s:\n%s", p.Name(), p.Log)
		}
	})
	return p
}

// Name returns the file name of the program.
func (p *Program) Name() string { return filepath.Base(p.cmd.Path) }

// PID returns the number of the process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Signal sends it a signal. It may have ended.
func (p *Program) Signal(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s) // a program that has ended needs no signal
}

// Pause stops the program by SIGSTOP, until Resume. It returns once the program is stopped or has
// ended.
func (p *Program) Pause() {
	if p.cmd.Process.Signal(syscall.SIGSTOP) == nil { // it fails for a program that has ended
		awaitStop(p.PID())
	}
}

// Resume ends Pause.
func (p *Program) Resume() { p.Signal(syscall.SIGCONT) }

// Kill ends the program like a power cut, and returns after its end.
func (p *Program) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Terminate ends it by SIGTERM, and returns how it ended: nil for exit code 0.
func (p *Program) Terminate() error {
	p.Signal(syscall.SIGTERM)
	return p.Err()
}

// Stop is Terminate for a test, which fails unless the program ends with exit code 0.
func (p *Program) Stop(tb testing.TB) {
	tb.Helper()
	if err := p.Terminate(); err != nil {
		tb.Fatalf("stop %s: %v\n%s", p.Name(), err, p.Log)
	}
}

// Ended is closed when the program has ended. Then Err returns its result.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// Err waits until it has ended, and returns how: nil for exit code 0.
func (p *Program) Err() error {
	<-p.ended
	return p.err
}

// errNotInTime reports that a condition of a program does not hold in time.
var errNotInTime = errors.New("not in time")

// Until waits for a condition, as long as the program runs. what names the condition in errors,
// after the name of the program: "is ready".
func (p *Program) Until(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-p.ended:
			if holds() {
				return nil
			}
			return fmt.Errorf("%w: %s %s: the program has ended: %w", errNotInTime, p.Name(), what, p.err)
		case <-ctx.Done():
			return fmt.Errorf("%w: %s %s", errNotInTime, p.Name(), what)
		}
	}
	return nil
}

// Line waits for the first line of its standard output, which must be a Log, and returns the line.
func (p *Program) Line(ctx context.Context) (string, error) {
	err := p.Until(ctx, "is ready", func() bool { return strings.Contains(p.stdout.String(), "\n") })
	line, _, _ := strings.Cut(p.stdout.String(), "\n")
	return line, err
}

// Listens waits until it accepts connections at an address, host:port.
func (p *Program) Listens(ctx context.Context, address string) error {
	return p.Until(ctx, "listens at "+address, func() bool { return Listening(ctx, address) })
}

// MustListen is Listens for a test.
func (p *Program) MustListen(tb testing.TB, address string) {
	tb.Helper()
	if err := p.Listens(tb.Context(), address); err != nil {
		tb.Fatalf("%v\n%s", err, p.Log)
	}
}

// MustLog waits until its log contains a text.
func (p *Program) MustLog(tb testing.TB, text string) {
	tb.Helper()
	err := p.Until(tb.Context(), "logs "+text, func() bool { return strings.Contains(p.Log.String(), text) })
	if err != nil {
		tb.Fatalf("%v\n%s", err, p.Log)
	}
}

// MustAddress waits until it serves at a listener, and returns the address that it logs: host:port.
// See program.Frame for the names of listeners: "listen" and "admin" are in most programs.
func (p *Program) MustAddress(tb testing.TB, listener string) string {
	tb.Helper()
	address := ""
	err := p.Until(tb.Context(), "serves at "+listener, func() bool {
		for text := range strings.Lines(p.Log.String()) {
			var line struct {
				Listener string `json:"listener"`
				Address  string `json:"address"`
			}
			if json.Unmarshal([]byte(text), &line) == nil && line.Listener == listener {
				address = line.Address
			}
		}
		return address != ""
	})
	if err != nil {
		tb.Fatalf("%v\n%s", err, p.Log)
	}
	return address
}

// Output runs a program to its end. The error is an *exec.ExitError if the exit code is not 0; a
// program that does not end in time is killed.
func Output(ctx context.Context, c Command) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*Patience)
	defer cancel()
	cmd := c.exec(ctx)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

// MustOutput is Output for a test that wants exit code 0. It returns stdout without white space
// around it.
func MustOutput(tb testing.TB, c Command) string {
	tb.Helper()
	stdout, stderr, err := Output(tb.Context(), c)
	if err != nil {
		tb.Fatalf("%s %s: %v\n%s%s", filepath.Base(c.Path), strings.Join(c.Args, " "), err, stdout, stderr)
	}
	return strings.TrimSpace(stdout)
}

// ExitCode returns the exit code of a program that ended with an error, or nil: -1 after a
// signal.
func ExitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// Listening reports whether a program accepts connections at an address, host:port.
func Listening(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	return err == nil && conn.Close() == nil
}

package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a running program.
type Process struct {
	cmd *exec.Cmd
	out *bufio.Reader // its standard output
	log *os.File
}

// Start starts the program at path. Its standard error is appended to logFile.
func Start(ctx context.Context, logFile, path string, args ...string) (*Process, error) {
	return startWith(ctx, nil, logFile, path, args...)
}

// startWith is Start with more of an environment than ours.
func startWith(ctx context.Context, env []string, logFile, path string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // the programs are ours to choose
	cmd.Stderr = log
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", filepath.Base(path), err), log.Close())
	}
	return &Process{cmd: cmd, out: bufio.NewReader(out), log: log}, nil
}

// Line returns the next line of the program's standard output.
func (p *Process) Line() (string, error) {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s ended before it was ready (see %s): %w", filepath.Base(p.cmd.Path), p.log.Name(), err)
	}
	return line, nil
}

// Discard reads and forgets what else the program prints, until Stop.
func (p *Process) Discard() { go func() { _, _ = io.Copy(io.Discard, p.out) }() }

// Stop asks the program to end and waits until it has. To die of the request is fine; to have ended before, or to say that ending
// failed, is an error.
func (p *Process) Stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	var exit *exec.ExitError
	if w := p.cmd.Wait(); !errors.As(w, &exit) || exit.ExitCode() > 0 {
		err = errors.Join(err, w)
	}
	if err != nil {
		err = fmt.Errorf("stop %s: %w", filepath.Base(p.cmd.Path), err)
	}
	return errors.Join(err, p.log.Close())
}

// Resident is the process's resident memory in bytes. Only Linux says it.
func (p *Process) Resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		value, ok := strings.CutPrefix(line, "VmRSS:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("resident memory: %w", err)
		}
		return kib << 10, nil
	}
	return 0, errors.New("resident memory: no VmRSS line")
}

// ticks is how many of its units the kernel counts a second, the same on every Linux machine.
const ticks = 100

// CPU is the processor time that the process has used. Only Linux says it.
func (p *Process) CPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("processor time: %w", err)
	}
	// The name of the program, in brackets, may hold anything; what follows is state, and utime and stime as the 12th and 13th.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var sum int64
	for _, field := range fields[min(11, len(fields)):min(13, len(fields))] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time: %w", err)
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / ticks, nil
}

// FreeAddr returns a loopback address (host:port) that nothing listened on a moment ago, for programs that cannot pick their own or
// whose address must be known before they start.
func FreeAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

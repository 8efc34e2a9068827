package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Process is a running program.
type Process struct {
	*programtest.Program
	out *programtest.Log // its standard output
	log *os.File
}

// Start starts the program at path, until ctx ends. Its standard error is appended to logFile.
func Start(ctx context.Context, logFile, path string, args ...string) (*Process, error) {
	return startWith(ctx, nil, logFile, path, args...)
}

// startWith is Start with more of an environment than ours.
func startWith(ctx context.Context, env []string, logFile, path string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	p := &Process{out: &programtest.Log{Most: 64 << 10}, log: log}
	//nolint:contextcheck // the end of ctx ends it below
	p.Program, err = programtest.Launch(programtest.Command{Path: path, Args: args, Env: env, Stdout: p.out, Stderr: log})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", filepath.Base(path), err), log.Close())
	}
	context.AfterFunc(ctx, func() { p.Signal(syscall.SIGTERM) })
	return p, nil
}

// Line returns the first line of the program's standard output.
func (p *Process) Line(ctx context.Context) (string, error) {
	err := p.Until(ctx, "is ready", func() bool { return strings.Contains(p.out.String(), "\n") })
	if err != nil {
		return "", fmt.Errorf("%w (see %s)", err, p.log.Name())
	}
	line, _, _ := strings.Cut(p.out.String(), "\n")
	return line, nil
}

// Stop asks the program to end and waits until it has. To die of the request is fine. It is an error
// if the program fails to end well, or failed before.
func (p *Process) Stop() error {
	err := p.Terminate()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 { // by a signal
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("stop %s: %w", p.Name(), err)
	}
	return errors.Join(err, p.log.Close())
}

// output returns what a program of ours prints that ends by itself, without white space around it.
func output(ctx context.Context, env []string, program string, args ...string) (string, error) {
	out, errOut, err := programtest.Output(ctx, programtest.Command{Path: program, Args: args, Env: env})
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, errOut)
	}
	return strings.TrimSpace(out), nil
}

// Resident is the process's resident memory in bytes. Only Linux says it.
func (p *Process) Resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
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
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
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

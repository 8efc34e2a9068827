package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Process is a running program.
type Process struct {
	*programtest.Program
	Addr string // host:port at which it listens, "" if it is unknown
}

// Start starts the program at path, until ctx ends. env is added to the environment, and the
// standard error of the program is appended to logFile.
func Start(ctx context.Context, env []string, logFile, path string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	defer func() { _ = log.Close() }() // the program has its own descriptor
	stdout := &programtest.Log{Most: 64 << 10}
	//nolint:contextcheck // the end of ctx ends it below
	p, err := programtest.Launch(programtest.Command{Path: path, Args: args, Env: env, Stdout: stdout, Stderr: log})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(path), err)
	}
	context.AfterFunc(ctx, func() { p.Signal(syscall.SIGTERM) })
	return &Process{Program: p}, nil
}

// Stop ends the program by SIGTERM and waits until it has ended. It returns an error if the program
// failed before, or exits with a code other than 0. To die of the signal is no error.
func (p *Process) Stop() error {
	err := p.Terminate()
	if err == nil || programtest.ExitCode(err) < 0 { // by a signal
		return nil
	}
	return fmt.Errorf("stop %s: %w", p.Name(), err)
}

// output runs a program to its end, and returns its output without white space around it.
func output(ctx context.Context, env []string, program string, args ...string) (string, error) {
	out, errOut, err := programtest.Output(ctx, programtest.Command{Path: program, Args: args, Env: env})
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, errOut)
	}
	return strings.TrimSpace(out), nil
}

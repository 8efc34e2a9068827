//go:build unix

package server_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// runVariable makes the test program start a server, and wait until a test kills it.
const runVariable = "PGTEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// serve prints the id of the server's first process, and its folder. It returns on an error, or
// when its standard input ends.
func serve() error {
	s, err := server.Start(context.Background())
	if err != nil {
		return err
	}
	processes, err := s.Processes()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, processes[0].PID, s.Folder()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestKilledTestPostgreSQL checks that the server of a killed test program ends too.
func TestKilledTestPostgreSQL(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	input, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = input.Close(), hold.Close() })
	p := programtest.Start(t, programtest.Command{
		Path: self, Env: []string{runVariable + "=1"}, Stdin: input, Stdout: &programtest.Log{},
	})
	line, err := p.Line(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Log)
	}
	var pid int
	var folder string
	if _, err := fmt.Sscan(line, &pid, &folder); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p.Kill()
	programtest.WaitFor(t, "the server has ended", func() bool { return syscall.Kill(pid, 0) != nil })
}

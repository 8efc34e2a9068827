//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// Server is one test's own, which may be stopped and go on.
type Server struct{ *server.Server }

// Own starts a server that is gone when the test ends.
func Own(tb testing.TB) *Server {
	tb.Helper()
	started, err := server.Start(context.Background(), settings...)
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{started}
	tb.Cleanup(func() {
		s.signal(syscall.SIGCONT)
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// URL is its empty database's; more is added to it.
func (s *Server) URL(more url.Values) string { return s.Server.URL("postgres", more) }

// Socket is where it listens.
func (s *Server) Socket() string { return filepath.Join(s.Folder(), ".s.PGSQL.5432") }

// Pause has all of its processes stand still; Resume goes on.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// Kill kills all of its processes at once, as a machine that fails does; Again starts it once more.
func (s *Server) Kill() {
	pids := s.signal(syscall.SIGSTOP) // a stopped process starts no more of them
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range pids {
		for syscall.Kill(pid, 0) == nil { // one that is not forgotten yet is there still, for the next server
			runtime.Gosched()
		}
	}
}

// Halt stops it and cuts its connections; Again starts it once more on the same data.
func (s *Server) Halt(tb testing.TB) {
	tb.Helper()
	if err := s.Server.Halt(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// Again ends Halt.
func (s *Server) Again(tb testing.TB) {
	tb.Helper()
	if err := s.Serve(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// signal sends a signal to the server and to each of its processes, which are not of one group, and
// returns these.
func (s *Server) signal(sig syscall.Signal) (pids []int) {
	text, err := os.ReadFile(filepath.Join(s.Folder(), "data", "postmaster.pid"))
	if err != nil {
		return nil // it does not run
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	parent, err := strconv.Atoi(string(first))
	if err != nil {
		return nil
	}
	for more := []int{parent}; len(more) > 0; { // until none has come that was started meanwhile
		for _, pid := range more {
			_ = syscall.Kill(pid, sig) // a process that has ended needs none
		}
		pids = append(pids, more...)
		more = slices.DeleteFunc(children(parent), func(pid int) bool { return slices.Contains(pids, pid) })
	}
	return pids
}

// children are the processes that a process has started.
func children(parent int) (pids []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range processes {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && len(fields) > 1 &&
			fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}
